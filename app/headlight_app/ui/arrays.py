"""The numbers of a reply as arrays by name."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np


def read_arrays(shapes: Mapping[str, tuple[int, ...]], numbers: bytes) -> dict[str, np.ndarray]:
    """What `pack_arrays` was given, from the shapes and numbers of a reply."""
    values, arrays, start = np.frombuffer(numbers, "<f4"), {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        arrays[name] = values[start : start + size].reshape(shape)
        start += size
    return arrays
