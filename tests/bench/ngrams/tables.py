"""Discounted counts of tokens after contexts, as sorted arrays: the tables of the n-gram models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headlight.array_types import Float, Int

Indices = Int[np.ndarray, " n"]
TABLE_ARRAYS = ("keys", "probabilities", "backoff_weights")


@dataclass(frozen=True)
class DiscountTable:
    """For each context, the tokens seen after it, with their probabilities after discounting.

    `keys` are context * radix + token, sorted; `probabilities` go with them. `backoff_weights` is the probability that
    each context leaves to tokens not seen after it: a context's probabilities and its backoff weight sum to one.
    """

    radix: int
    keys: Int[np.ndarray, " entry"]
    probabilities: Float[np.ndarray, " entry"]
    backoff_weights: Float[np.ndarray, " context"]

    def entry(self, contexts: Indices, tokens: Indices) -> Indices:
        """The index of each (context, token) pair among the entries; -1 if it was not seen or the context is -1."""
        wanted = contexts * self.radix + tokens
        at = np.searchsorted(self.keys, wanted)
        found = (contexts >= 0) & (self.keys[np.minimum(at, len(self.keys) - 1)] == wanted)
        return np.where(found, at, -1)

    def probability(self, entries: Indices) -> Float[np.ndarray, " n"]:
        """The discounted probability of each entry; 0 for -1."""
        return np.where(entries >= 0, self.probabilities[entries], 0.0)

    def backoff_weight(self, contexts: Indices) -> Float[np.ndarray, " n"]:
        """The backoff weight of each context; 1 for -1."""
        return np.where(contexts >= 0, self.backoff_weights[contexts], 1.0)

    def row(self, context: int) -> tuple[Indices, Float[np.ndarray, " n"]]:
        """All tokens seen after a context, and their probabilities."""
        begin, end = np.searchsorted(self.keys, [context * self.radix, (context + 1) * self.radix])
        return self.keys[begin:end] - context * self.radix, self.probabilities[begin:end]

    def save(self, stem: Path) -> None:
        """Write one file per array, named `stem`.ARRAY.npy."""
        for name in TABLE_ARRAYS:
            np.save(f"{stem}.{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, stem: Path, radix: int) -> DiscountTable:
        """Read the files written by `save`."""
        return cls(radix, *(np.load(f"{stem}.{name}.npy", mmap_mode="r") for name in TABLE_ARRAYS))


def discount_table(
    radix: int,
    contexts: int,
    keys: Int[np.ndarray, " entry"],
    counts: Int[np.ndarray, " entry"],
    weights: Float[np.ndarray, " entry"],
) -> DiscountTable:
    """The table of entries seen `counts` times, with the sum of their texts' epochs as `weights`.

    An entry seen c times loses the fraction D(c) / c of its weight. If every text has one epoch, weights are counts,
    and this is absolute discounting.
    """
    contexts_of_keys = keys // radix
    discount = np.append(0.0, discounts(counts))[np.minimum(counts, 3)]
    discounted_weights = weights * (1.0 - np.divide(discount, counts, out=np.ones(len(keys)), where=counts > 0))
    total = np.bincount(contexts_of_keys, weights, minlength=contexts)[contexts_of_keys]
    probabilities = np.divide(discounted_weights, total, out=np.zeros(len(keys)), where=total > 0)
    backoff_weights = 1.0 - np.bincount(contexts_of_keys, probabilities, minlength=contexts)
    return DiscountTable(radix, keys, probabilities.astype(np.float32), backoff_weights.astype(np.float32))


def discounts(counts: Int[np.ndarray, " entry"]) -> Float[np.ndarray, " three"]:
    """The discounts D1, D2 and D3+ for entries seen once, twice, and three times or more.

    Chen and Goodman 1999, equation 26, from the numbers of entries seen one to four times. In toy texts one of these
    numbers is zero, or a discount is not positive, which would leave nothing to unseen tokens: then all three are the
    single discount of Ney et al. 1994.
    """
    once, twice, thrice, four = (float(np.count_nonzero(counts == number)) for number in (1, 2, 3, 4))
    if not once or not twice:
        return np.full(3, 0.5)
    one = once / (once + 2 * twice)
    if not thrice or not four:
        return np.full(3, one)
    several = np.array([1 - 2 * one * twice / once, 2 - 3 * one * thrice / twice, 3 - 4 * one * four / thrice])
    return several if several.min() > 0 else np.full(3, one)
