"""Precision and memory allocation on the machine that trains."""

from __future__ import annotations

import contextlib
import ctypes
import time

import torch

from headlight.registry import Registry

PRECISIONS: Registry[torch.dtype] = Registry("precision", {"float32": torch.float32, "bfloat16": torch.bfloat16})


def retain_freed_memory() -> None:
    """Make glibc keep freed memory instead of returning it to the system after each step.

    Returning it costs a quarter of the time, and at times ten times as much, in page faults. Does nothing
    without glibc.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(-4, 0)  # M_MMAP_MAX: large blocks come from the heap, too
        library.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: never shrink the heap
        library.mallopt(-2, 256 << 20)  # M_TOP_PAD: bytes by which the heap grows


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    """The dtype of matrix products; `auto` is bfloat16 if that is faster than float32."""
    if name != "auto":
        return PRECISIONS[name]
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if device.type != "cpu":
        return torch.float32
    return torch.bfloat16 if _matmul_seconds(torch.bfloat16) < 0.8 * _matmul_seconds(torch.float32) else torch.float32


def _matmul_seconds(dtype: torch.dtype) -> float:
    """The shortest time of a few products of matrices of a small model's size."""
    left, right = torch.ones(1024, 256, dtype=dtype), torch.ones(256, 1024, dtype=dtype)
    times = []
    for _ in range(8):
        start = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - start)
    return min(times)
