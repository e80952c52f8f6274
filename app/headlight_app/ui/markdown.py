"""A stranger's model card as something that can be read here: its words, and nothing that acts or is fetched."""

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
    """The card as Markdown without head, HTML, images, formulas, and links to anything but the web."""
    pieces = _CODE.split(_FRONT_MATTER.sub("", card.replace("\r\n", "\n")))
    cleaned = "".join(piece if number % 2 else _strip_active_content(piece) for number, piece in enumerate(pieces))
    # No exclamation mark stands before a bracket after this, so an image that the patterns missed is a link.
    return cleaned.replace("![", "!\u200b[").strip()


def _strip_active_content(text: str) -> str:
    text = _DROPPED_ELEMENT.sub("", _COMMENT.sub("", text))
    text = _IMAGE.sub(r"\1", _TAG.sub("", text))
    return _LOCAL_LINK.sub(r"\1", text).replace("$", r"\$")


def escape_markdown(text: str) -> str:
    """A text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$:])", r"\\\1", text)


def escaped_lines(sentences: Sequence[str]) -> str:
    """Sentences as Markdown, each on a line of its own."""
    return "  \n".join(map(escape_markdown, sentences))
