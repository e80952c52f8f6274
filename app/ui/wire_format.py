"""Arrays as bytes for the browser: small enough to follow every keystroke."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


def pack(meta: Mapping[str, Any], payload: bytes = b"") -> bytes:
    """Four bytes of length, that much JSON, filling to a multiple of four, and the raw numbers."""
    text = json.dumps(meta, ensure_ascii=True, allow_nan=False).encode("ascii")
    header = len(text).to_bytes(4, "little") + text
    return header + bytes(math.ceil(len(header) / 4) * 4 - len(header)) + payload


def unpack(packed: bytes) -> tuple[dict[str, Any], bytes]:
    """What `pack` was given: the reader in the browser, for Python."""
    length = int.from_bytes(packed[:4], "little")
    return json.loads(packed[4 : 4 + length]), packed[math.ceil((4 + length) / 4) * 4 :]


@dataclass(frozen=True, eq=False)
class NamedArrays:
    """JSON values, and float32 arrays by name."""

    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]


def pack_arrays(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """JSON values and arrays by name, as float32; `read_arrays` reads them."""
    shapes = {name: array.shape for name, array in arrays.items()}
    payload = b"".join(np.ascontiguousarray(array, "<f4").tobytes() for array in arrays.values())
    return pack({**meta, "shapes": shapes}, payload)


def read_arrays(meta: dict[str, Any], payload: bytes) -> NamedArrays:
    """What `pack_arrays` was given, from an unpacked answer."""
    numbers, arrays, start = np.frombuffer(payload, "<f4"), {}, 0
    for name, shape in meta["shapes"].items():
        size = math.prod(shape)
        arrays[name] = numbers[start : start + size].reshape(shape)
        start += size
    return NamedArrays(meta, arrays)
