"""Arrays as bytes for the browser: small enough to follow every keystroke."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def pack(meta: Mapping[str, Any], payload: bytes = b"") -> bytes:
    """Four bytes of length, that much JSON, filling to a multiple of four, and the raw numbers."""
    text = json.dumps(meta, ensure_ascii=True, allow_nan=False).encode("ascii")
    header = len(text).to_bytes(4, "little") + text
    return header + bytes(math.ceil(len(header) / 4) * 4 - len(header)) + payload


def unpack(packed: bytes) -> tuple[dict[str, Any], bytes]:
    """What `pack` was given: the reader in the browser, for Python."""
    length = int.from_bytes(packed[:4], "little")
    return json.loads(packed[4 : 4 + length]), packed[math.ceil((4 + length) / 4) * 4 :]
