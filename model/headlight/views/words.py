"""Tokens in the words of a view."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LOOSE_SPACE = re.compile(r"(?<!\S) | (?!\S)")
_SIGNS = {"\n": "¶", "\t": "→"}
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def visible(text: str) -> str:
    """A text with visible white space; single spaces between two words stay as they are. The page does the same."""
    signs = _LOOSE_SPACE.sub("·", text)
    return "".join(_SIGNS.get(sign, chr(0x2400 + ord(sign)) if sign < " " else sign) for sign in signs) or "∅"


def quoted_in_line(token: str) -> str:
    """A token in quotation marks, without its leading space."""
    return f"“{visible(token[1:] if re.match(r' .', token) else token)}”"


def quoted(token: str) -> str:
    """The same in a sentence, isolated from the direction of the text around it."""
    return f"{_FIRST_STRONG_ISOLATE}{quoted_in_line(token)}{_POP_ISOLATE}"


def numbered(tokens: Sequence[str]) -> tuple[str, ...]:
    """Names of tokens in a file: numbers distinguish equal ones, and keep a spreadsheet from reading a formula."""
    return tuple(f"{position} {token}" for position, token in enumerate(tokens))
