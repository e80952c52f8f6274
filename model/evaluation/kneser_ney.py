"""Interpolated Kneser-Ney: the best that counting short runs of tokens can do, and so the least a model must do.

Chen and Goodman 1999, section 4.1 (modified, interpolated). The longest runs are counted as they are; a shorter run by
how many different tokens stand before it, since it is asked only where the longer one was not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.array_types import Float, Int
from model.evaluation.tables import DiscountTable, Indices, discount_table


@dataclass(frozen=True)
class KneserNey:
    """One table per length of run: a context of `tables[k]` is a run of k tokens, by its place in the table before.

    Tokens are numbered below `size`; `size` itself stands for whatever is before a text.
    """

    size: int
    tables: tuple[DiscountTable, ...]

    def probabilities(self, ids: Int[np.ndarray, " token"]) -> Float[np.ndarray, " token"]:
        """How likely each token was after the ones before it."""
        tokens = pad_front(ids, self.size, len(self.tables))
        context = np.zeros(len(tokens), dtype=np.int64)
        likely = np.full(len(tokens), 1.0 / self.size)
        for level in self.tables:
            entry = level.entry(context, tokens)
            likely = level.probability(entry) + level.backoff_weight(context) * likely
            context = drop_last_token(entry)
        return likely[len(self.tables) - 1 :]

    def distribution(self, before: Int[np.ndarray, " before"]) -> Float[np.ndarray, " token"]:
        """The probability of every token after some tokens."""
        tokens = pad_front(before, self.size, len(self.tables))[len(before) :]
        likely = np.full(self.size, 1.0 / self.size)
        every = np.arange(self.size)
        for length, level in enumerate(self.tables):
            context = np.full(self.size, self._find_run(tokens[len(tokens) - length :]))
            likely = level.probability(level.entry(context, every)) + level.backoff_weight(context) * likely
        return likely

    def _find_run(self, tokens: Indices) -> int:
        """The place of a run; -1 where it was not seen."""
        place = np.zeros(1, dtype=np.int64)
        for level, token in zip(self.tables, tokens, strict=False):
            place = level.entry(place, np.array([token]))
        return int(place[0])

    def save(self, folder: Path) -> None:
        """Writes the tables into a folder."""
        for length, level in enumerate(self.tables, 1):
            level.save(folder / str(length))

    @classmethod
    def load(cls, folder: Path, size: int, order: int) -> KneserNey:
        """Reads what `save` wrote."""
        return cls(size, tuple(DiscountTable.load(folder / str(length), size + 1) for length in range(1, order + 1)))


def pad_front(ids: Int[np.ndarray, " token"], size: int, order: int) -> Int[np.ndarray, " more"]:
    """The tokens, with the mark for what is before a text in front, so that each has a whole run."""
    return np.concatenate([np.full(order - 1, size), ids]).astype(np.int64)


def drop_last_token(runs: Indices) -> Indices:
    """The run that ends one token earlier; in front of the text there is nothing but the mark, over and over."""
    return np.concatenate([runs[:1], runs[:-1]])


def count_kneser_ney(
    ids: Int[np.ndarray, " token"], weights: Float[np.ndarray, " token"], size: int, order: int = 5
) -> KneserNey:
    """The model of a text; `masses` says how often each of its tokens counts.

    20 million tokens take about a minute and 2 GB.
    """
    tokens, weights = pad_front(ids, size, order), np.append(np.zeros(order - 1), weights)
    radix = size + 1
    levels: list[tuple[np.ndarray, np.ndarray]] = []  # of each length: the keys, and which run each one's later part is
    runs, suffix_runs = np.zeros(len(tokens), dtype=np.int64), np.zeros(len(tokens), dtype=np.int64)
    for _ in range(order):
        keys, first, runs = np.unique(drop_last_token(runs) * radix + tokens, return_index=True, return_inverse=True)
        levels.append((keys, suffix_runs[first]))
        suffix_runs = runs
    seen = np.bincount(runs[order - 1 :], minlength=len(keys))
    mass = np.bincount(runs, weights, minlength=len(keys))
    return KneserNey(size, _discounted_tables(levels, seen, mass, radix))


def _discounted_tables(
    levels: Sequence[tuple[np.ndarray, np.ndarray]], seen: np.ndarray, mass: np.ndarray, radix: int
) -> tuple[DiscountTable, ...]:
    """From the longest runs to the shortest; the shorter ones counted by what stands before them."""
    made: list[DiscountTable] = []
    for length in range(len(levels), 0, -1):
        keys, shorter = levels[length - 1]
        contexts = len(levels[length - 2][0]) if length > 1 else 1
        made.append(discount_table(radix, contexts, keys, seen, mass))
        if length > 1:
            each = np.divide(mass, seen, out=np.zeros(len(seen)), where=seen > 0)
            mass = np.bincount(shorter, each, minlength=contexts)
            seen = np.bincount(shorter[seen > 0], minlength=contexts)
    return tuple(reversed(made))
