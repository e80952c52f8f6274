"""The weights of a plan: a table of tensors, and one binary file with each of them once."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from headlight.errors import ConfigError

Precision = Literal["float32", "float16", "int8"]
ALIGNMENT = 4  # bytes
LARGEST_BYTE = 127


class WeightTable:
    """The parameters and constants of several programs; one that several use has one number."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self._names: list[str] = []
        self._numbers: dict[object, int] = {}

    def number(self, name: str, tensor: Tensor) -> int:
        """The number of a tensor, which is added unless the same is there."""
        # Constants are made again by each export; a parameter is the same memory in every variant.
        small = tensor.numel() <= 1 << 12
        same: object = tensor.numpy(force=True).tobytes() if small else (tensor.data_ptr(), tensor.stride())
        key = (tuple(tensor.shape), tensor.dtype, same)
        if key not in self._numbers:
            self._numbers[key] = len(self.tensors)
            self.tensors.append(tensor.detach())  # kept, so that no other tensor gets its memory
            self._names.append(name)
        return self._numbers[key]

    def file(self, precision: Precision) -> tuple[list[dict[str, Any]], bytes]:
        """For each tensor its name, shape, type and first byte; and all bytes.

        Matrices have the given precision, if their numbers fit it; everything else has float32. The rows of int8 follow
        one float32 for each, its scale. Raises ConfigError for an unknown precision.
        """
        if precision not in get_args(Precision):
            known = ", ".join(get_args(Precision))
            raise ConfigError(f"There are no weights in {str(precision)[:40]!r}; there are {known}.")
        told, parts, start = [], list[bytes](), 0
        for name, tensor in zip(self._names, self.tensors, strict=True):
            kind, written = _written(tensor, precision)
            told.append({"name": name, "shape": list(tensor.shape), "type": kind, "start": start})
            parts.append(written + bytes(-len(written) % ALIGNMENT))
            start += len(parts[-1])
        return told, b"".join(parts)


def as_written(tensor: Tensor, precision: Precision) -> Tensor:
    """The numbers that a page reads if a tensor is written in this precision."""
    kind, written = _written(tensor, precision)
    if kind == "int8":
        rows = len(tensor)
        scale, codes = np.frombuffer(written, "<f4", rows), np.frombuffer(written, np.int8, offset=4 * rows)
        numbers = scale[:, None] * codes.reshape(rows, -1)
    else:
        numbers = np.frombuffer(written, {"float16": "<f2", "float32": "<f4"}[kind])
    return torch.from_numpy(numbers.astype(np.float32)).reshape(tensor.shape)


def _written(tensor: Tensor, precision: Precision) -> tuple[Precision, bytes]:
    """The type and the bytes of a tensor."""
    numbers = tensor.cpu().float().contiguous()
    is_matrix = numbers.dim() > 1 and tensor.is_floating_point()
    if is_matrix and precision == "int8" and numbers.dim() == 2:
        scale = (numbers.abs().amax(1) / LARGEST_BYTE).clamp(min=torch.finfo(torch.float32).tiny)
        rows = (numbers / scale[:, None]).round().to(torch.int8)
        return "int8", scale.numpy().astype("<f4").tobytes() + rows.numpy().tobytes()
    half = numbers.half()
    if is_matrix and precision != "float32" and bool(half.isfinite().all()):
        return "float16", half.numpy().astype("<f2").tobytes()
    return "float32", numbers.numpy().astype("<f4").tobytes()
