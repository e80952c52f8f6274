"""Slow reimplementations of attention and positions in NumPy, from the papers alone."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def linear(q: Array, k: Array, allowed: NDArray[np.bool_], bias: Array) -> Array:
    """Katharopoulos et al. 2020, equation 4 with phi = elu + 1; one head, cell by cell."""

    def phi(x: float) -> float:
        return x + 1 if x > 0 else math.exp(x)

    weights = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            if allowed[i, j]:
                likeness = sum(phi(a) * phi(b) for a, b in zip(q[i], k[j], strict=True))
                weights[i, j] = likeness * math.exp(bias[i, j])
        total = weights[i].sum()
        if total > 0:
            weights[i] /= total
    return weights


def hard(scores: Array, allowed: NDArray[np.bool_]) -> Array:
    """Equal weights on the best allowed keys; one head, row by row."""
    weights = np.zeros(scores.shape)
    for i, row in enumerate(scores):
        there = [j for j in range(len(row)) if allowed[i, j]]
        best = [j for j in there if math.isclose(row[j], max(row[there]), rel_tol=1e-5, abs_tol=1e-6)]
        for j in best:
            weights[i, j] = 1 / len(best)
    return weights


def sinusoid(position: int, width: int) -> list[float]:
    """Vaswani et al. 2017, section 3.5."""
    waves = []
    for channel in range(width):
        angle = position / 10_000 ** (2 * (channel // 2) / width)
        waves.append(math.cos(angle) if channel % 2 else math.sin(angle))
    return waves


def slopes(heads: int) -> list[float]:
    """Press et al. 2022, section 3 and their published code."""
    if heads & (heads - 1) == 0:
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**head for head in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return slopes(below) + slopes(2 * below)[0::2][: heads - below]


def rotated(x: Array, position: int, base: float) -> Array:
    """Su et al. 2021, equation 34 as complex multiplication; channel j is paired with channel j + d/2."""
    half = len(x) // 2
    turned = [
        complex(x[j], x[j + half]) * complex(math.cos(angle), math.sin(angle))
        for j in range(half)
        for angle in [position * base ** (-2 * j / len(x))]
    ]
    return np.array([z.real for z in turned] + [z.imag for z in turned])


def bucket(ahead: int, both_ways: bool, buckets: int = 32, furthest: int = 128) -> int:
    """Raffel et al. 2020, section 2.1, in exact arithmetic: integers compared with powers, no logarithm rounded."""
    half = buckets // 2 if both_ways else buckets
    past = 0 if not both_ways or ahead <= 0 else half
    distance = abs(ahead) if both_ways else max(0, -ahead)
    exact = half // 2
    if distance < exact:
        return past + distance
    steps = half - exact
    # The largest s with exact (furthest/exact)^(s/steps) <= distance, both sides raised to the power `steps`.
    step = max(s for s in range(steps) if exact**steps * furthest**s <= distance**steps * exact**s)
    return past + exact + step
