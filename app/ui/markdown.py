"""A stranger's model card as something that can be read here: its words, and nothing that acts or is fetched."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_CODE = re.compile(r"(^(?:`{3,}|~{3,}).*?(?:^(?:`{3,}|~{3,})[ \t]*$|\Z)|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DROPPED = re.compile(r"<(script|style|svg)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_IMAGE = re.compile(r"!\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_ELSEWHERE = re.compile(r"\[([^\[\]]*)\]\((?!https?://)[^()]*(?:\([^()]*\)[^()]*)*\)")


def prose(card: str) -> str:
    """The card as Markdown without head, HTML, images, formulas, and links to anything but the web."""
    pieces = _CODE.split(_HEAD.sub("", card.replace("\r\n", "\n")))
    plain = "".join(piece if number % 2 else _plain(piece) for number, piece in enumerate(pieces))
    # Whatever the patterns missed, no exclamation mark stands before a bracket: what could be an image is a link.
    return plain.replace("![", "!\u200b[").strip()


def _plain(text: str) -> str:
    text = _DROPPED.sub("", _COMMENT.sub("", text))
    text = _IMAGE.sub(r"\1", _TAG.sub("", text))
    return _ELSEWHERE.sub(r"\1", text).replace("$", r"\$")


def literal(text: str) -> str:
    """A text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$:])", r"\\\1", text)


def lines(told: Sequence[str]) -> str:
    """Sentences as Markdown, each on a line of its own."""
    return "  \n".join(map(literal, told))
