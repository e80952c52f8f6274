"""Counts of tokens after contexts, discounted, as sorted arrays: what counting models are made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.array_types import Float, Int

Indices = Int[np.ndarray, " n"]
TABLE_ARRAYS = ("keys", "probabilities", "backoff_weights")


@dataclass(frozen=True)
class DiscountTable:
    """For each context, the tokens seen with it and the share that each keeps after discounting.

    `keys` are context * radix + token, sorted; `shares` go with them. `rest` is what each context leaves over for the
    tokens not seen with it: the shares of a context and its rest sum to one.
    """

    radix: int
    keys: Int[np.ndarray, " entry"]
    probabilities: Float[np.ndarray, " entry"]
    backoff_weights: Float[np.ndarray, " context"]

    def entry(self, contexts: Indices, tokens: Indices) -> Indices:
        """The place of each pair among the entries; -1 where it was not seen, or the context is -1."""
        wanted = contexts * self.radix + tokens
        at = np.searchsorted(self.keys, wanted)
        found = (contexts >= 0) & (self.keys[np.minimum(at, len(self.keys) - 1)] == wanted)
        return np.where(found, at, -1)

    def probability(self, entries: Indices) -> Float[np.ndarray, " n"]:
        """The share of each entry; 0 for -1."""
        return np.where(entries >= 0, self.probabilities[entries], 0.0)

    def backoff_weight(self, contexts: Indices) -> Float[np.ndarray, " n"]:
        """What each context leaves over; 1 for -1."""
        return np.where(contexts >= 0, self.backoff_weights[contexts], 1.0)

    def row(self, context: int) -> tuple[Indices, Float[np.ndarray, " n"]]:
        """All tokens seen with a context, and their shares."""
        begin, end = np.searchsorted(self.keys, [context * self.radix, (context + 1) * self.radix])
        return self.keys[begin:end] - context * self.radix, self.probabilities[begin:end]

    def save(self, stem: Path) -> None:
        """Writes three arrays whose names begin with `stem`."""
        for part in TABLE_ARRAYS:
            np.save(f"{stem}.{part}.npy", getattr(self, part))

    @classmethod
    def load(cls, stem: Path, radix: int) -> DiscountTable:
        """Reads what `save` wrote."""
        return cls(radix, *(np.load(f"{stem}.{part}.npy", mmap_mode="r") for part in TABLE_ARRAYS))


def discount_table(
    radix: int,
    contexts: int,
    keys: Int[np.ndarray, " entry"],
    counts: Int[np.ndarray, " entry"],
    weights: Float[np.ndarray, " entry"],
) -> DiscountTable:
    """A table of entries seen `counts` times with a mass of `masses` in all (the sum of their texts' passes).

    An entry seen c times gives up the part D(c) / c of its mass, as if it had been seen D(c) times less. Where every
    text has one pass, mass is count, and this is absolute discounting.
    """
    contexts_of_keys = keys // radix
    discount_mass = np.append(0.0, discounts(counts))[np.minimum(counts, 3)]
    discounted_weights = weights * (1.0 - np.divide(discount_mass, counts, out=np.ones(len(keys)), where=counts > 0))
    total = np.bincount(contexts_of_keys, weights, minlength=contexts)
    shares = np.divide(
        discounted_weights, total[contexts_of_keys], out=np.zeros(len(keys)), where=total[contexts_of_keys] > 0
    )
    rest = 1.0 - np.bincount(contexts_of_keys, shares, minlength=contexts)
    return DiscountTable(radix, keys, shares.astype(np.float32), rest.astype(np.float32))


def discounts(counts: Int[np.ndarray, " entry"]) -> Float[np.ndarray, " three"]:
    """How much to take from what was seen once, twice, and three times or more.

    Chen and Goodman 1999, equation 26, from how many entries were seen once to four times; where one of these
    is missing (toy texts), the single discount of Ney et al. 1994 for all.
    """
    once, twice, thrice, four = (float(np.count_nonzero(counts == number)) for number in (1, 2, 3, 4))
    if not once or not twice:
        return np.full(3, 0.5)
    one = once / (once + 2 * twice)
    if not thrice or not four:
        return np.full(3, one)
    several = [1 - 2 * one * twice / once, 2 - 3 * one * thrice / twice, 3 - 4 * one * four / thrice]
    bounded: np.ndarray = np.clip(several, 0.0, [1.0, 2.0, 3.0])
    return bounded
