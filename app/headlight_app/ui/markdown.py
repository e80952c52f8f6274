"""Untrusted model cards as safe Markdown: text only, without active content or anything fetched from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_CODE = re.compile(r"(^(?:`{3,}|~{3,}).*?(?:^(?:`{3,}|~{3,})[ \t]*$|\Z)|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DROPPED_ELEMENT = re.compile(r"<(script|style|svg)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_IMAGE = re.compile(r"!\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_LOCAL_LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?://)[^()]*(?:\([^()]*\)[^()]*)*\)")


def safe_markdown(card: str) -> str:
    """The card as Markdown without front matter, HTML, images, formulas, and links other than http and https."""
    pieces = _CODE.split(_FRONT_MATTER.sub("", card.replace("\r\n", "\n")))
    cleaned = "".join(piece if number % 2 else _strip_active_content(piece) for number, piece in enumerate(pieces))
    # This separates "!" from "[", so that images that the patterns missed become links.
    return cleaned.replace("![", "!\u200b[").strip()


def _strip_active_content(text: str) -> str:
    text = _DROPPED_ELEMENT.sub("", _COMMENT.sub("", text))
    text = _IMAGE.sub(r"\1", _TAG.sub("", text))
    return _LOCAL_LINK.sub(r"\1", text).replace("$", r"\$")


def escape_markdown(text: str) -> str:
    """A text escaped so that Markdown shows it literally."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$:])", r"\\\1", text)


def escaped_lines(sentences: Sequence[str]) -> str:
    """Sentences as Markdown, one on each line."""
    return "  \n".join(map(escape_markdown, sentences))
