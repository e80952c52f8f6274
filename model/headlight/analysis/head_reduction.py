"""Several heads as one map: the mean over heads, or the number that is largest in magnitude."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headlight.array_types import Bool, Float
from headlight.registry import Registry


def _mean(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    total = np.where(counted, values, 0).sum(0, dtype=np.float64)
    mean: np.ndarray = np.divide(total, counted.sum(0), out=np.full(total.shape, np.nan), where=counted.any(0))
    return mean


def _largest(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    head = np.where(counted, np.abs(values), -1).argmax(0)
    return np.where(counted.any(0), np.take_along_axis(values, head[None], 0)[0], np.nan)


HEAD_REDUCTIONS: Registry[Callable[[np.ndarray, np.ndarray], np.ndarray]] = Registry(
    "head reduction", {"mean": _mean, "max": _largest}
)


def combine_heads(
    values: Float[np.ndarray, "head row column"], counted: Bool[np.ndarray, "head row column"], reduction: str
) -> Float[np.ndarray, "row column"]:
    """One map of several heads; a cell takes part only for the heads that it is counted in, NaN where in none.

    In cells that the mask forbids, weights and values computed from them count as 0; scores do not count.
    """
    return HEAD_REDUCTIONS[reduction](values, counted).astype(np.float32)
