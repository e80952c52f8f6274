"""SentencePiece's unigram model as the library itself computes it, for tokenizers that use the library.

What the `tokenizers` library makes of the same file differs where two ways to cut a word are equally likely (the sums
here are float32), and where more than one mark stands above a letter. Kudo 2018, https://arxiv.org/abs/1804.10959.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from model.checkpoints.tokenizers.sentencepiece import CONTROL, SPACE, UNKNOWN, UNUSED, USER_DEFINED, SentencePieceModel

MAX_REPLACEMENT_BYTES = 1_000  # bytes that a character may become
UNKNOWN_PENALTY = 10.0  # of a character that no piece holds, below the least likely piece
Span = tuple[int, int]


class PrecompiledCharsmap:
    """The table that replaces characters before a text is cut: a trie over bytes (a double array), and strings."""

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        self.units: list[int] = np.frombuffer(blob[4 : 4 + size], "<u4").tolist()
        self.strings = blob[4 + size :]
        if max(map(len, self.strings.split(b"\0"))) > MAX_REPLACEMENT_BYTES:
            raise ValueError("its table of characters puts whole books in their place")

    def longest_match(self, text: bytes, at: int) -> tuple[int, str] | None:
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


class BestPath(NamedTuple):
    """The likeliest way to a place in a text: its score, where its last piece begins, and whether that is known."""

    score: float
    start: int
    is_known: bool


class UnigramSegmenter:
    """Cuts a text into the likeliest pieces."""

    def __init__(self, pieces: SentencePieceModel) -> None:
        ordinary_scores = {
            text: score
            for text, score, kind in zip(pieces.texts, pieces.scores, pieces.types, strict=True)
            if kind not in (CONTROL, UNKNOWN, UNUSED, USER_DEFINED)
        }
        least, most = min(ordinary_scores.values(), default=0.0), max(ordinary_scores.values(), default=0.0)
        self.user_defined = {
            text for text, kind in zip(pieces.texts, pieces.types, strict=True) if kind == USER_DEFINED
        }
        self.user_defined_lengths = sorted({len(text) for text in self.user_defined} - {0}, reverse=True)
        self.scores = ordinary_scores | {text: _float32(len(text.encode()) * most - 0.1) for text in self.user_defined}
        self.piece_lengths = sorted({len(text) for text in self.scores} - {0})
        self.unknown_score = _float32(least - UNKNOWN_PENALTY)
        self.precompiled_charsmap = (
            PrecompiledCharsmap(pieces.precompiled_charsmap) if pieces.precompiled_charsmap else None
        )
        self.add_dummy_prefix, self.remove_extra_whitespaces = pieces.add_dummy_prefix, pieces.remove_extra_whitespaces

    def __call__(self, text: str) -> Iterator[tuple[str, Span]]:
        """Pieces and the characters of `text` that they come from; neighbours that no piece holds are one."""
        letters, spans = self._normalize(text)
        ends, at = list[tuple[int, int, bool]](), len(letters)
        best = self._viterbi(letters)
        while at > 0:
            path = best[at]
            if not path.is_known and ends and not ends[-1][2]:
                ends[-1] = (path.start, ends[-1][1], False)
            else:
                ends.append((path.start, at, path.is_known))
            at = path.start
        for start, end, _ in reversed(ends):
            yield letters[start:end], (spans[start][0], spans[end - 1][1])

    def _viterbi(self, letters: str) -> list[BestPath]:
        """The likeliest way to every place."""
        best: list[BestPath | None] = [BestPath(0.0, 0, True), *[None] * len(letters)]
        for start in range(len(letters)):
            here = best[start]
            assert here is not None
            has_single_character = False
            for end in (start + length for length in self.piece_lengths):
                if end > len(letters):
                    break
                score = self.scores.get(letters[start:end])
                if score is None:
                    continue
                has_single_character |= end == start + 1
                self._update_best(best, end, BestPath(_float32(score + here.score), start, True))
            if not has_single_character:
                self._update_best(best, start + 1, BestPath(_float32(self.unknown_score + here.score), start, False))
        return [way for way in best if way]

    def _update_best(self, best: list[BestPath | None], end: int, path: BestPath) -> None:
        known = best[end]
        if known is None or path.score > known.score:  # of two as likely, the one whose last piece is longer
            best[end] = path

    def _normalize(self, text: str) -> tuple[str, list[Span]]:
        """The text with its characters replaced and its spaces marked; each letter's place in the text before."""
        letters, spans = list[str](), list[Span]()
        if self.add_dummy_prefix and text:
            letters, spans = [SPACE], [(0, 0)]
        after_space = self.remove_extra_whitespaces
        for replacement, span in self._replace_characters(text):
            shown = replacement.lstrip(" ") if after_space else replacement
            letters += shown.replace(" ", SPACE)
            spans += [span] * len(shown)
            if shown or not replacement:
                after_space = self.remove_extra_whitespaces and shown.endswith(" ") if shown else after_space
        while self.remove_extra_whitespaces and letters and letters[-1] == SPACE:
            letters.pop()
            spans.pop()
        return "".join(letters), spans

    def _replace_characters(self, text: str) -> Iterator[tuple[str, Span]]:
        """The text piece by piece, as the table replaces it; people's own pieces stay."""
        at = 0
        while at < len(text):
            own = next((size for size in self.user_defined_lengths if text[at : at + size] in self.user_defined), 0)
            size, replacement = (own, text[at : at + own]) if own else self._replacement(text, at)
            yield replacement, (at, at + size)
            at += size

    def _replacement(self, text: str, at: int) -> tuple[int, str]:
        if self.precompiled_charsmap is None:
            return 1, text[at]
        near = text[at : at + 32]  # the longest row of the usual tables has 18 characters
        found = self.precompiled_charsmap.longest_match(near.encode(), 0)
        if found is None:
            return 1, text[at]
        size = len(near.encode()[: found[0]].decode("utf-8", errors="ignore"))
        return (size, found[1]) if size else (1, text[at])


@lru_cache(maxsize=1 << 16)
def _float32(number: float) -> float:
    return float(np.float32(number))
