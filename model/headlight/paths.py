"""The path of the shipped models, sample texts and images; how a stranger's files are read."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MAX_JSON_BYTES = 128 << 20  # the largest vocabularies take about 20 million bytes


def assets_dir() -> Path:
    """The folder `assets`: inside the package where it is installed, in the source tree beside `model`."""
    package = Path(__file__).resolve().parent
    return installed if (installed := package / "assets").is_dir() else package.parents[1] / "assets"


def open_regular(path: Path) -> BinaryIO:
    """A file, open for reading. Raises OSError for what is no regular file: a FIFO would be waited for for ever."""
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "no regular file")
    return file


def read_regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file. Raises OSError for anything else, and for one of more than `limit` bytes."""
    with open_regular(path) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise OSError(errno.EFBIG, "far larger than any of its kind")
    return raw
