"""Words of a text that is split into words and punctuation, and how they are joined to what people type."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"\w+|[^\w\s]")  # a word or a punctuation mark, each of which has a label
_CLOSING = re.compile(r"[.,!?;:%)\]}…]+|'(s|re|ve|ll|d|m|t)|n't", re.IGNORECASE)  # takes no space before it
_OPENING = ("(", "[", "{", "$", "#")  # takes none after it


def word_spans(text: str) -> list[tuple[int, int]]:
    """The characters of each word or punctuation mark."""
    return [match.span() for match in WORD.finditer(text)]


def join_words(words: Sequence[str]) -> tuple[str, list[int]]:
    """The words as one text with spaces where people type them, and where each word begins."""
    text, starts, opens = "", [], True
    for word in words:
        text += "" if opens or _CLOSING.fullmatch(word) else " "
        starts.append(len(text))
        text, opens = text + word, word in _OPENING
    return text, starts
