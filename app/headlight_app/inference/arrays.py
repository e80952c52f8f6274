"""Packs named arrays into the binary part of a reply."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, tuple[int, ...]], bytes]:
    """The shapes of arrays by name, and their concatenated float32 numbers."""
    shapes = {name: array.shape for name, array in arrays.items()}
    return shapes, b"".join(np.ascontiguousarray(array, "<f4").tobytes() for array in arrays.values())
