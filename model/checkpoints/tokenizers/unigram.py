"""SentencePiece's unigram model as the library itself computes it, for tokenizers that use the library.

What the `tokenizers` library makes of the same file differs where two ways to cut a word are equally likely (the sums
here are float32), and where more than one mark stands above a letter. Kudo 2018, https://arxiv.org/abs/1804.10959.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from model.checkpoints.tokenizers.sentencepiece import CONTROL, SPACE, UNKNOWN, UNUSED, USER, Pieces

LONGEST = 1_000  # bytes that a character may become
PENALTY = 10.0  # of a character that no piece holds, below the least likely piece
Span = tuple[int, int]


class Charsmap:
    """The table that replaces characters before a text is cut: a trie over bytes (a double array), and strings."""

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        self.units: list[int] = np.frombuffer(blob[4 : 4 + size], "<u4").tolist()
        self.strings = blob[4 + size :]
        if max(map(len, self.strings.split(b"\0"))) > LONGEST:
            raise ValueError("its table of characters puts whole books in their place")

    def longest(self, text: bytes, at: int) -> tuple[int, str] | None:
        """How many bytes from `at` are replaced, the most there are, and by what."""
        found, place = None, _offset(self.units[0]) if self.units else 0
        for number in range(at, len(text)):
            place ^= text[number]
            if place >= len(self.units) or self.units[place] & 0x800000FF != text[number]:
                break
            unit = self.units[place]
            place ^= _offset(unit)
            if unit >> 8 & 1 and place < len(self.units):
                found = number + 1 - at, self.units[place] & 0x7FFFFFFF
        if found is None:
            return None
        end = self.strings.find(b"\0", found[1])
        return found[0], self.strings[found[1] : end].decode("utf-8", errors="replace")


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 512) >> 6)


class Best(NamedTuple):
    """The likeliest way to a place in a text: its score, where its last piece begins, and whether that is known."""

    score: float
    start: int
    known: bool


class Unigram:
    """Cuts a text into the likeliest pieces."""

    def __init__(self, pieces: Pieces) -> None:
        plain = {
            text: score
            for text, score, kind in zip(pieces.texts, pieces.scores, pieces.kinds, strict=True)
            if kind not in (CONTROL, UNKNOWN, UNUSED, USER)
        }
        least, most = min(plain.values(), default=0.0), max(plain.values(), default=0.0)
        self.own = {text for text, kind in zip(pieces.texts, pieces.kinds, strict=True) if kind == USER}
        self.own_lengths = sorted({len(text) for text in self.own} - {0}, reverse=True)
        self.scores = plain | {text: _float32(len(text.encode()) * most - 0.1) for text in self.own}
        self.lengths = sorted({len(text) for text in self.scores} - {0})
        self.unknown = _float32(least - PENALTY)
        self.charsmap = Charsmap(pieces.charsmap) if pieces.charsmap else None
        self.prefix, self.squeezed = pieces.prefix, pieces.squeezed

    def __call__(self, text: str) -> Iterator[tuple[str, Span]]:
        """Pieces and the characters of `text` that they come from; neighbours that no piece holds are one."""
        letters, spans = self._prepared(text)
        ends, at = list[tuple[int, int, bool]](), len(letters)
        ways = self._ways(letters)
        while at > 0:
            way = ways[at]
            if not way.known and ends and not ends[-1][2]:
                ends[-1] = (way.start, ends[-1][1], False)
            else:
                ends.append((way.start, at, way.known))
            at = way.start
        for start, end, _ in reversed(ends):
            yield letters[start:end], (spans[start][0], spans[end - 1][1])

    def _ways(self, letters: str) -> list[Best]:
        """The likeliest way to every place."""
        ways: list[Best | None] = [Best(0.0, 0, True), *[None] * len(letters)]
        for start in range(len(letters)):
            here = ways[start]
            assert here is not None
            alone = False
            for end in (start + length for length in self.lengths):
                if end > len(letters):
                    break
                score = self.scores.get(letters[start:end])
                if score is None:
                    continue
                alone |= end == start + 1
                self._offer(ways, end, Best(_float32(score + here.score), start, True))
            if not alone:
                self._offer(ways, start + 1, Best(_float32(self.unknown + here.score), start, False))
        return [way for way in ways if way]

    def _offer(self, ways: list[Best | None], place: int, way: Best) -> None:
        known = ways[place]
        if known is None or way.score > known.score:  # of two as likely, the one whose last piece is longer
            ways[place] = way

    def _prepared(self, text: str) -> tuple[str, list[Span]]:
        """The text with its characters replaced and its spaces marked; each letter's place in the text before."""
        letters, spans = list[str](), list[Span]()
        if self.prefix and text:
            letters, spans = [SPACE], [(0, 0)]
        spaced = self.squeezed
        for replacement, span in self._replaced(text):
            shown = replacement.lstrip(" ") if spaced else replacement
            letters += shown.replace(" ", SPACE)
            spans += [span] * len(shown)
            if shown or not replacement:
                spaced = self.squeezed and shown.endswith(" ") if shown else spaced
        while self.squeezed and letters and letters[-1] == SPACE:
            letters.pop()
            spans.pop()
        return "".join(letters), spans

    def _replaced(self, text: str) -> Iterator[tuple[str, Span]]:
        """The text piece by piece, as the table replaces it; people's own pieces stay."""
        at = 0
        while at < len(text):
            own = next((size for size in self.own_lengths if text[at : at + size] in self.own), 0)
            size, replacement = (own, text[at : at + own]) if own else self._replacement(text, at)
            yield replacement, (at, at + size)
            at += size

    def _replacement(self, text: str, at: int) -> tuple[int, str]:
        if self.charsmap is None:
            return 1, text[at]
        near = text[at : at + 32]  # the longest row of the usual tables has 18 characters
        found = self.charsmap.longest(near.encode(), 0)
        if found is None:
            return 1, text[at]
        size = len(near.encode()[: found[0]].decode("utf-8", errors="ignore"))
        return (size, found[1]) if size else (1, text[at])


@lru_cache(maxsize=1 << 16)
def _float32(number: float) -> float:
    return float(np.float32(number))
