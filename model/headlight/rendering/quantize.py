"""Quantize attention weights to one byte a cell, as the browser paints them."""

from __future__ import annotations

import numpy as np

MAX_THUMBNAIL_SIDE = 80  # cells; more than a thumbnail has pixels to show


def quantize_weights(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Weights as one byte each: 0 where attending is forbidden, else 1 to 255 for the square root of 0 to 1."""
    roots = np.sqrt(np.clip(np.nan_to_num(weights), 0.0, 1.0))
    return np.where(allowed, 1 + np.rint(254 * roots), 0).astype(np.uint8)
