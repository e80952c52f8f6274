"""GGUF files: their fields and their tensors, dequantised when they are read.

The header is read here, with each count checked against the available bytes: the reader of the `gguf` package trusts
any count. That package dequantises blocks.
Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from headlight.checkpoints.tensor_files import LazyTensors
from headlight.errors import CheckpointError, reason
from headlight.paths import open_regular

GgufValue = int | float | bool | str | list[int] | list[float] | list[bool] | list[str]
GgufFields = Mapping[str, GgufValue]
Entry = TypeVar("Entry")

_MAX_HEADER_BYTES = 64 << 20  # ten times the largest vocabularies
_MAX_VALUES = 8 << 20  # in all arrays of the fields; five times those of the largest vocabularies
_VERSIONS = (2, 3)
_MAX_DIMENSIONS = 4
_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8",
}  # fmt: skip
_PLAIN = {0: ("F32", "<f4"), 1: ("F16", "<f2"), 30: ("BF16", "<u2")}  # NumPy has no bfloat16


@dataclass(frozen=True)
class StoredTensor:
    """A tensor in a file: its shape (slowest axis first), the number and name of its type, the range of its bytes."""

    shape: tuple[int, ...]
    kind: int
    kind_name: str
    start: int
    size: int


@dataclass(frozen=True)
class GgufFile:
    """A file's fields, and its tensors by name, not yet read."""

    path: Path
    name: str
    fields: GgufFields
    stored: Mapping[str, StoredTensor]

    def tensors(self) -> LazyTensors:
        """Each tensor as numbers, dequantised to float32 when it is accessed."""
        return LazyTensors({key: partial(self._read, key, tensor) for key, tensor in self.stored.items()})

    def describe(self) -> str:
        """A sentence on the types that the tensors have in the file."""
        counts = Counter(tensor.kind_name for tensor in self.stored.values())
        told = ", ".join(f"{count} of {kind}" for kind, count in counts.most_common())
        megabytes = sum(tensor.size for tensor in self.stored.values()) / 1e6
        return f"Its tensors ({told}) take {megabytes:,.1f} MB in the GGUF file"

    def _read(self, key: str, tensor: StoredTensor) -> Tensor:
        raw = np.memmap(self.path, np.uint8, mode="c", offset=tensor.start, shape=(tensor.size,))
        if tensor.kind in _PLAIN:
            numbers = torch.from_numpy(raw.view(_PLAIN[tensor.kind][1])).view(tensor.shape)
            return numbers.view(torch.bfloat16) if tensor.kind_name == "BF16" else numbers
        import gguf  # slow to import, and not needed for plain numbers

        try:
            rows = raw.reshape(-1, tensor.size // max(prod(tensor.shape[:-1]), 1))
            dequantised = gguf.quants.dequantize(rows, gguf.GGMLQuantizationType(tensor.kind))
            return torch.from_numpy(np.ascontiguousarray(dequantised)).view(tensor.shape)
        except (NotImplementedError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"{self.name}: {key} is quantised as {tensor.kind_name}, which cannot be read{reason(error)}."
            ) from error


MAGIC = b"GGUF"


def begins_like_gguf(path: Path) -> bool:
    """Whether a file's first bytes are those of a GGUF file."""
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, CheckpointError):
        return False


def read_gguf(path: Path, name: str) -> GgufFile:
    """The header of a file. Raises CheckpointError if it is not GGUF, is cut off, or claims more than it has."""
    with open_regular(path) as file:
        size = path.stat().st_size
        header = _Header(file.read(min(size, _MAX_HEADER_BYTES)), size, name)
    return header.read(path)


class _Header:
    """Reads the parts of a header in order, never past its end."""

    def __init__(self, data: bytes, file_size: int, name: str) -> None:
        self.data, self.file_size, self.name = data, file_size, name
        self.at = self.values = 0

    def read(self, path: Path) -> GgufFile:
        if self.take(len(MAGIC)) != MAGIC:
            raise CheckpointError(f"{self.name} is not a GGUF file: it does not begin with GGUF.")
        version = self.number("I")
        if version not in _VERSIONS:
            order = " or has the other byte order (big-endian)" if not version & 0xFFFF else ""
            raise CheckpointError(f"{self.name} is version {version} of GGUF{order}; versions 2 and 3 can be read.")
        tensor_count, field_count = self.number("Q"), self.number("Q")
        fields = self.named(field_count, self.text, lambda: self.value(self.number("I")), "field")
        described = self.named(tensor_count, self.text, self.tensor, "tensor")
        alignment = fields.get("general.alignment", 32)
        if type(alignment) is not int or alignment < 1:
            raise CheckpointError(f"{self.name}: its general.alignment is {str(alignment)[:40]!r}; wanted a number.")
        start = -(-self.at // alignment) * alignment
        stored = {key: self.placed(key, tensor, start) for key, tensor in described.items()}
        self.require_apart(stored)
        return GgufFile(path, self.name, fields, stored)

    def named(self, count: int, key: Callable[[], str], value: Callable[[], Entry], kind: str) -> dict[str, Entry]:
        """The `count` entries that the file claims to have, by their names, which must differ."""
        found: dict[str, Entry] = {}
        for _ in range(count):  # ends at the end of the header, whatever the file claims
            name = key()
            if name in found:
                raise CheckpointError(f"{self.name} names its {kind} {name[:80]!r} twice.")
            found[name] = value()
        return found

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            longer = len(self.data) < self.file_size
            why = f"its header is longer than {len(self.data):,} bytes" if longer else "it is cut off in its header"
            raise CheckpointError(f"{self.name} is not a readable GGUF file: {why}.")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, kind: str) -> int:
        number: int = struct.unpack(f"<{kind}", self.take(struct.calcsize(kind)))[0]
        return number

    def text(self) -> str:
        return self.take(self.number("Q")).decode("utf-8", "replace")

    def value(self, kind: int) -> GgufValue:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            item, count = self.number("I"), self.number("Q")
            self.values += count
            if count <= len(self.data) and self.values > _MAX_VALUES:  # a longer one is said to be cut off
                raise CheckpointError(f"{self.name}: its fields hold more than {_MAX_VALUES:,} values.")
            return [self.text() for _ in range(count)] if item == _STRING else self.numbers(item, count)
        value: int | float | bool = self.numbers(kind, 1)[0]
        return value

    def numbers(self, kind: int, count: int) -> list[int] | list[float] | list[bool]:
        if kind not in _NUMBERS:
            raise CheckpointError(f"{self.name} has a field of type {kind}, which GGUF does not have.")
        dtype = np.dtype(_NUMBERS[kind])
        found: list[int] | list[float] | list[bool] = np.frombuffer(self.take(count * dtype.itemsize), dtype).tolist()
        return found

    def tensor(self) -> tuple[tuple[int, ...], int, int]:
        """Shape, type and offset."""
        dimensions = self.number("I")
        if dimensions > _MAX_DIMENSIONS:
            raise CheckpointError(f"{self.name} has a tensor of {dimensions} axes; GGUF knows {_MAX_DIMENSIONS}.")
        shape = tuple(self.number("Q") for _ in range(dimensions))
        return shape[::-1], self.number("I"), self.number("Q")

    def placed(self, key: str, described: tuple[tuple[int, ...], int, int], start: int) -> StoredTensor:
        """The tensor's place in the file, checked against the file's size."""
        shape, kind, offset = described
        kind_name, values, bytes_each = self.block(kind, key)
        if shape and shape[-1] % values:
            raise CheckpointError(
                f"{self.name}: {key} has rows of {shape[-1]:,} numbers, but {kind_name} comes in blocks of {values}."
            )
        size = prod(shape) // values * bytes_each
        if not size:
            raise CheckpointError(f"{self.name}: {key} of shape {shape} holds no numbers.")
        if start + offset + size > self.file_size:
            raise CheckpointError(
                f"{self.name}: {key} of shape {shape} should end at byte {start + offset + size:,}, but the file has "
                f"{self.file_size:,}."
            )
        return StoredTensor(shape, kind, kind_name, start + offset, size)

    def require_apart(self, stored: Mapping[str, StoredTensor]) -> None:
        """Raise CheckpointError if tensors share bytes: a small file could have any number of large ones."""
        in_order = sorted(stored.items(), key=lambda each: each[1].start)
        for (first, one), (second, other) in pairwise(in_order):
            if one.start + one.size > other.start:
                raise CheckpointError(
                    f"{self.name}: {first} and {second} overlap in the file; it is damaged or made up."
                )

    def block(self, kind: int, key: str) -> tuple[str, int, int]:
        """The name of a type, the numbers in a block, and its bytes."""
        if kind in _PLAIN:
            name, dtype = _PLAIN[kind]
            return name, 1, np.dtype(dtype).itemsize
        import gguf

        try:
            known = gguf.GGMLQuantizationType(kind)
        except ValueError as error:
            raise CheckpointError(f"{self.name}: {key} is of type {kind}, which is unknown.") from error
        values, bytes_each = gguf.GGML_QUANT_SIZES[known]
        return known.name, values, bytes_each
