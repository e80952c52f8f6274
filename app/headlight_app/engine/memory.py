"""Memory that a process no longer uses, for the server and its workers."""

from __future__ import annotations

import ctypes
import sys


def give_back_memory() -> None:
    """Return free heap memory to the system: full caches fragment the heap more and more."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # absent in musl
    if trim:
        trim(0)
