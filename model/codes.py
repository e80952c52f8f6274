"""Weights as bytes that a browser paints: one for each cell, and no more cells than a picture has room for."""

from __future__ import annotations

import numpy as np

LARGEST_SIDE = 80  # cells; more than a thumbnail has pixels to show


def pool(values: np.ndarray, side: int = LARGEST_SIDE) -> np.ndarray:
    """The largest value of each block, so that no side of the last two axes has more than `side` cells."""
    for axis in (-2, -1):
        length = values.shape[axis]
        if length > side:
            starts = np.arange(side) * length // side
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def codes(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Weights as one byte each: 0 where attending is forbidden, else 1 to 255 for the square root of 0 to 1."""
    roots = np.sqrt(np.clip(np.nan_to_num(weights), 0.0, 1.0))
    return np.where(allowed, 1 + np.rint(254 * roots), 0).astype(np.uint8)
