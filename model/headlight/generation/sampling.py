"""Sampling: temperature, top-k, top-p, and a random number per step that depends on nothing but the seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headlight.array_types import Float
from headlight.errors import TextError


@dataclass(frozen=True, eq=False)
class Sample:
    """One sample: the probabilities drawn from, the tokens by falling probability, a uniform random number, the choice.

    `chosen` is the token whose interval of the cumulative distribution, in `order`, contains `random_number`.
    """

    probabilities: Float[np.ndarray, " token"]
    order: np.ndarray
    random_number: float
    chosen: int


@dataclass(frozen=True)
class SamplingConfig:
    """How a token is sampled from logits. With temperature 0 it is the most probable one (greedy decoding).

    `top_k` keeps the k most probable tokens, `top_p` the fewest whose probabilities at this temperature reach that sum
    (nucleus sampling; Holtzman et al. 2020, section 3.1). The same seed gives the same random number at the same step.
    Raises TextError for values out of range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        small_k = self.top_k is not None and self.top_k < 1
        if not self.temperature >= 0 or small_k or (self.top_p is not None and not 0 < self.top_p <= 1):
            raise TextError("temperature must be 0 or more, top_k at least 1, and top_p above 0 and at most 1.")

    def sample(self, logits: Float[np.ndarray, " token"], step: int) -> Sample:
        """Sample the token of step `step`, counted from 0, from the logits of the vocabulary."""
        ranked, order = self._ranked_probabilities(logits.astype(np.float64))
        probabilities = np.zeros_like(ranked)
        probabilities[order] = ranked
        random_number = self.random_number(step)
        cumulative = ranked.cumsum()
        rank = min(
            int(np.searchsorted(cumulative, random_number * cumulative[-1], side="right")),
            int(np.count_nonzero(ranked)) - 1,
        )
        return Sample(probabilities, order, random_number, int(order[rank]))

    def random_number(self, step: int) -> float:
        """The uniform random number of a step, from 0 to 1 without 1."""
        bit_generator = np.random.PCG64(self.seed % 2**63)
        bit_generator.advance(step)
        return float(np.random.Generator(bit_generator).random())

    def _ranked_probabilities(self, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The probabilities that remain, largest first, and the tokens in that order."""
        if self.temperature == 0:
            order = np.argsort(-logits, kind="stable")
            return np.eye(1, len(logits))[0], order
        # Relative to the largest logit, so that a tiny temperature overflows only where the probability is zero.
        with np.errstate(over="ignore"):
            exponentials = np.exp((logits - logits.max()) / self.temperature)
        order = np.argsort(-exponentials, kind="stable")
        ranked = exponentials[order] / exponentials.sum()
        keep = np.ones(len(ranked), dtype=bool)
        if self.top_k is not None:
            keep[self.top_k :] = False
        if self.top_p is not None:
            keep &= ranked.cumsum() - ranked < self.top_p
        return ranked * keep / ranked[keep].sum(), order
