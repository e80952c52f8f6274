"""Arrays by name as the numbers of a reply; the browser reads them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, tuple[int, ...]], bytes]:
    """The shapes of arrays by name, and their numbers as float32, one array after the other."""
    shapes = {name: array.shape for name, array in arrays.items()}
    return shapes, b"".join(np.ascontiguousarray(array, "<f4").tobytes() for array in arrays.values())
