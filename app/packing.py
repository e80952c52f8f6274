"""Arrays as bytes for the browser: small enough to follow every keystroke."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

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


def pack(meta: Mapping[str, Any], numbers: bytes = b"") -> bytes:
    """Four bytes of length, that much JSON, filling to a multiple of four, and the raw numbers."""
    text = json.dumps(meta, ensure_ascii=True, allow_nan=False).encode("ascii")
    head = len(text).to_bytes(4, "little") + text
    return head + bytes(math.ceil(len(head) / 4) * 4 - len(head)) + numbers


def unpack(packed: bytes) -> tuple[dict[str, Any], bytes]:
    """What `pack` was given: the reader in the browser, for Python."""
    length = int.from_bytes(packed[:4], "little")
    return json.loads(packed[4 : 4 + length]), packed[math.ceil((4 + length) / 4) * 4 :]
