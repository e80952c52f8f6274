"""Max pooling of arrays: the largest value of each block of cells, so that a large array fits a small image."""

from __future__ import annotations

import numpy as np


def max_pool(values: np.ndarray, side: int) -> np.ndarray:
    """The largest value of each block, so that neither of the last two axes has more than `side` cells."""
    for axis in (-2, -1):
        values = max_pool_axis(values, side, axis)
    return values


def max_pool_axis(values: np.ndarray, side: int, axis: int) -> np.ndarray:
    """Max pooling along one axis; np.maximum.reduceat would be four times slower."""
    if values.shape[axis] <= side:
        return values
    starts = np.array(block_starts(values.shape[axis], side))
    largest: np.ndarray = np.take(values, starts[:-1], axis)
    for offset in range(1, int(np.diff(starts).max())):
        np.maximum(largest, np.take(values, np.minimum(starts[:-1] + offset, starts[1:] - 1), axis), out=largest)
    return largest


def block_starts(length: int, side: int) -> list[int]:
    """Where each of at most `side` blocks of almost equal size begins, and last where the last one ends."""
    count = min(length, side)
    return [block * length // count for block in range(count + 1)] if count else [0]
