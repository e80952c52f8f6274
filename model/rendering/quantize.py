"""Weights as bytes that a browser paints: one for each cell, and no more cells than a picture has room for."""

from __future__ import annotations

import numpy as np

MAX_THUMBNAIL_SIDE = 80  # cells; more than a thumbnail has pixels to show


def max_pool(values: np.ndarray, side: int = MAX_THUMBNAIL_SIDE) -> np.ndarray:
    """The largest value of each block, so that no side of the last two axes has more than `side` cells."""
    for axis in (-2, -1):
        if values.shape[axis] > side:
            values = _max_pool_axis(values, side, axis)
    return values


def _max_pool_axis(values: np.ndarray, side: int, axis: int) -> np.ndarray:
    """The same for one axis: the first of each block against its second, third ...: four times as fast as reduceat."""
    starts = np.arange(side + 1) * values.shape[axis] // side
    largest: np.ndarray = np.take(values, starts[:-1], axis)
    for offset in range(1, int(np.diff(starts).max())):
        np.maximum(largest, np.take(values, np.minimum(starts[:-1] + offset, starts[1:] - 1), axis), out=largest)
    return largest


def quantize_weights(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Weights as one byte each: 0 where attending is forbidden, else 1 to 255 for the square root of 0 to 1."""
    roots = np.sqrt(np.clip(np.nan_to_num(weights), 0.0, 1.0))
    return np.where(allowed, 1 + np.rint(254 * roots), 0).astype(np.uint8)
