"""Reads .npz files; the size of each array is known before memory is taken for it."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from io import BytesIO
from math import prod
from pathlib import Path

import numpy as np

from headlight.checkpoints.upload_archive import ALLOWED_COMPRESSIONS, BoundedZipReader
from headlight.errors import DataError, HeadlightError, counted
from headlight.paths import open_regular

MAX_BYTES = 1 << 30  # of all arrays; the attention of GPT-2 (1,024 tokens, 144 heads) takes 604 MB
MAX_NUMBERS = 1 << 28  # of all arrays: those of one byte become four when they are shown
MAX_MATRIX = 1 << 24  # numbers in a matrix: those of one head are computed with at a time, at 60 bytes each
MAX_ARRAYS = 1_000
KINDS = "biufUS"  # NumPy's letters for truth values, numbers and texts
_ENCRYPTED = 1  # bit of a zip entry's flags


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name.

    Raises DataError for other files, pickled arrays, and more than MAX_BYTES or MAX_NUMBERS in all, as the zip's
    directory and the headers of the arrays state them.
    """
    name = path.name
    try:
        with open_regular(path) as file, zipfile.ZipFile(BoundedZipReader(file)) as archive:
            entries = archive.infolist()
            _check_sizes(entries, name)
            arrays: dict[str, np.ndarray] = {}
            room = MAX_NUMBERS
            for entry in entries:
                array = _read_array(archive.read(entry), room, f"{name}: its array {entry.filename[:60]}")
                arrays[entry.filename.removesuffix(".npy")] = array
                room -= array.size
            return arrays
    except HeadlightError as error:
        raise error if isinstance(error, DataError) else DataError(f"{name} cannot be read: {error}") from error
    except Exception as error:  # zipfile and numpy raise errors of many types for a damaged or hostile file
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not an .npz file"
        raise DataError(f"{name} cannot be read: {reason}.") from error


def _check_sizes(entries: Sequence[zipfile.ZipInfo], name: str) -> None:
    """Raise DataError for too many bytes, and for entries that cannot be unpacked within the size that they state."""
    size = sum(entry.file_size for entry in entries)
    if len(entries) > MAX_ARRAYS or size > MAX_BYTES:
        raise DataError(
            f"{name} holds {counted(len(entries), 'array')} of {size:,} bytes; at most {MAX_ARRAYS:,} of {MAX_BYTES:,} "
            "can be opened. Save fewer layers or heads."
        )
    if any(entry.compress_type not in ALLOWED_COMPRESSIONS or entry.flag_bits & _ENCRYPTED for entry in entries):
        raise DataError(f"{name} is encrypted or packed in a way that NumPy does not write; save it with np.savez.")


def _read_array(raw: bytes, room: int, what: str) -> np.ndarray:
    """The array in an .npy file. Raises DataError if its header claims other bytes than there are, or over `room`."""
    file = BytesIO(raw)
    version = np.lib.format.read_magic(file)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, by_column, dtype = read_header(file)
    numbers = prod(max(length, 1) for length in shape)  # also of empty arrays, which become nested lists
    if dtype.kind not in KINDS or not dtype.itemsize:
        raise DataError(f"{what} contains {str(dtype)[:60]}; give numbers or texts.")
    if (
        min(shape, default=0) < 0
        or prod(shape) * dtype.itemsize != len(raw) - file.tell()
        or numbers > room
        or prod(shape[-2:]) > MAX_MATRIX
    ):
        raise DataError(
            f"{what} claims the shape {str(shape)[:60]} in {len(raw) - file.tell():,} bytes; {MAX_NUMBERS:,} numbers "
            f"in all and {MAX_MATRIX:,} in each head can be opened, in as many bytes as they need."
        )
    array = np.frombuffer(raw, dtype, offset=file.tell())
    return array.reshape(shape[::-1]).T if by_column else array.reshape(shape)
