"""What the machine can do, and how to keep it from getting in the way."""

from __future__ import annotations

import contextlib
import ctypes
import time

import torch

from model.registry import Registry

PRECISIONS: Registry[torch.dtype] = Registry("precision", {"float32": torch.float32, "bfloat16": torch.bfloat16})


def retain_freed_memory() -> None:
    """Tells glibc to keep what a step frees: else each step hands its memory back and takes it anew, page by page.

    That costs a quarter of the time, and at times ten times as much. Elsewhere than on glibc nothing happens.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(-4, 0)  # M_MMAP_MAX: no mappings of their own for large blocks
        library.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: never hand back the heap's end
        library.mallopt(-2, 256 << 20)  # M_TOP_PAD: bytes by which the heap grows


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    """What matrices are multiplied in; `auto` takes bfloat16 where that is quicker than float32."""
    if name != "auto":
        return PRECISIONS[name]
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if device.type != "cpu":
        return torch.float32
    return torch.bfloat16 if _matmul_seconds(torch.bfloat16) < 0.8 * _matmul_seconds(torch.float32) else torch.float32


def _matmul_seconds(dtype: torch.dtype) -> float:
    """The quickest of a few products of matrices of a small model's size."""
    left, right = torch.ones(1024, 256, dtype=dtype), torch.ones(256, 1024, dtype=dtype)
    times = []
    for _ in range(8):
        began = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - began)
    return min(times)
