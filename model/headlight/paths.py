"""The path of the shipped models, sample texts and images; safe reading of untrusted files."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MAX_JSON_BYTES = 128 << 20  # the largest vocabularies have about 20 million bytes


def assets_dir() -> Path:
    """The folder `assets`: inside an installed package, or beside `model` in the source tree."""
    package = Path(__file__).resolve().parent
    return installed if (installed := package / "assets").is_dir() else package.parents[1] / "assets"


def open_regular(path: Path) -> BinaryIO:
    """A file, open for reading. Raises OSError unless it is a regular file: opening a FIFO would block forever."""
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "no regular file")
    return file


def read_regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file. Raises OSError for other files, and for more than `limit` bytes."""
    with open_regular(path) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise OSError(errno.EFBIG, "far larger than any of its kind")
    return raw
