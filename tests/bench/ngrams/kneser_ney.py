"""Interpolated modified Kneser-Ney (Chen and Goodman 1999, section 4.1), the baseline of a next-token model.

The longest n-grams are counted as they occur; a shorter one by how many different tokens precede it, since it is
consulted only if the longer one was not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from headlight.array_types import Float, Int
from headlight.data.corpus import TokenizedText
from headlight.evaluation.language_modeling import TextLikelihood
from tests.bench.ngrams.tables import DiscountTable, Indices, discount_table


@dataclass(frozen=True)
class KneserNey:
    """One table per n-gram length: a context of `tables[k]` is an n-gram of k tokens, by its index in `tables[k - 1]`.

    Token ids are below `size`; `size` itself pads the text in front.
    """

    title: ClassVar[str] = "Kneser-Ney 5-gram"
    size: int
    tables: tuple[DiscountTable, ...]

    def probabilities(self, ids: Int[np.ndarray, " token"]) -> Float[np.ndarray, " token"]:
        """The probability of each token after the ones before it."""
        tokens = pad_front(ids, self.size, len(self.tables))
        context = np.zeros(len(tokens), dtype=np.int64)
        probability = np.full(len(tokens), 1.0 / self.size)
        for table in self.tables:
            entry = table.entry(context, tokens)
            probability = table.probability(entry) + table.backoff_weight(context) * probability
            context = drop_last_token(entry)
        return probability[len(self.tables) - 1 :]

    def text_likelihood(self, text: TokenizedText) -> TextLikelihood:
        """The likelihood of a text, measured as for a neural model: every token but the first."""
        return likelihood_from_probabilities(self.probabilities(text.ids.astype(np.int64)), text)

    def distribution(self, before: Int[np.ndarray, " before"]) -> Float[np.ndarray, " token"]:
        """The probability of every token after some tokens."""
        tokens = pad_front(before, self.size, len(self.tables))[len(before) :]
        probability = np.full(self.size, 1.0 / self.size)
        every = np.arange(self.size)
        for length, table in enumerate(self.tables):
            context = np.full(self.size, self._find_ngram(tokens[len(tokens) - length :]))
            probability = table.probability(table.entry(context, every)) + table.backoff_weight(context) * probability
        return probability

    def _find_ngram(self, tokens: Indices) -> int:
        """The index of an n-gram; -1 if it was not seen."""
        index = np.zeros(1, dtype=np.int64)
        for table, token in zip(self.tables, tokens, strict=False):
            index = table.entry(index, np.array([token]))
        return int(index[0])

    def save(self, folder: Path) -> None:
        """Write the tables into a folder."""
        for length, table in enumerate(self.tables, 1):
            table.save(folder / str(length))

    @classmethod
    def load(cls, folder: Path, size: int, order: int) -> KneserNey:
        """Read the files written by `save`."""
        return cls(size, tuple(DiscountTable.load(folder / str(length), size + 1) for length in range(1, order + 1)))


def likelihood_from_probabilities(probabilities: Float[np.ndarray, " token"], text: TokenizedText) -> TextLikelihood:
    """The likelihood of a text from each token's probability; the first token is not counted."""
    return TextLikelihood(float(-np.log(probabilities[1:]).sum()), len(text.ids) - 1, text.byte_count)


def pad_front(ids: Int[np.ndarray, " token"], size: int, order: int) -> Int[np.ndarray, " more"]:
    """The tokens with `order` - 1 padding tokens in front, so that each ends a whole n-gram."""
    return np.concatenate([np.full(order - 1, size), ids]).astype(np.int64)


def drop_last_token(ngrams: Indices) -> Indices:
    """The n-gram that ends one token earlier; before the first there is only padding."""
    return np.concatenate([ngrams[:1], ngrams[:-1]])


def count_kneser_ney(
    ids: Int[np.ndarray, " token"], weights: Float[np.ndarray, " token"], size: int, order: int = 5
) -> KneserNey:
    """The model of a text in which each token counts `weights` times.

    20 million tokens take about a minute and 2 GB.
    """
    tokens, weights = pad_front(ids, size, order), np.append(np.zeros(order - 1), weights)
    radix = size + 1
    levels: list[tuple[np.ndarray, np.ndarray]] = []  # per length: the keys, and the index of each one's suffix
    ngrams, suffixes = np.zeros(len(tokens), dtype=np.int64), np.zeros(len(tokens), dtype=np.int64)
    for _ in range(order):
        keys, first, ngrams = np.unique(
            drop_last_token(ngrams) * radix + tokens, return_index=True, return_inverse=True
        )
        levels.append((keys, suffixes[first]))
        suffixes = ngrams
    counts = np.bincount(ngrams[order - 1 :], minlength=len(keys))
    total_weights = np.bincount(ngrams, weights, minlength=len(keys))
    return KneserNey(size, _discounted_tables(levels, counts, total_weights, radix))


def _discounted_tables(
    levels: Sequence[tuple[np.ndarray, np.ndarray]], counts: np.ndarray, weights: np.ndarray, radix: int
) -> tuple[DiscountTable, ...]:
    """From the longest n-grams to the shortest; a shorter one counts by the different tokens that precede it."""
    tables: list[DiscountTable] = []
    for length in range(len(levels), 0, -1):
        keys, suffixes = levels[length - 1]
        contexts = len(levels[length - 2][0]) if length > 1 else 1
        tables.append(discount_table(radix, contexts, keys, counts, weights))
        if length > 1:
            mean_weights = np.divide(weights, counts, out=np.zeros(len(counts)), where=counts > 0)
            weights = np.bincount(suffixes, mean_weights, minlength=contexts)
            counts = np.bincount(suffixes[counts > 0], minlength=contexts)
    return tuple(reversed(tables))
