"""The path of the shipped models, sample texts and images; safe reading of untrusted files."""

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from headlight.errors import CheckpointError

MAX_POINTER_BYTES = 1024  # of the text that Git LFS leaves in place of a file
MAX_JSON_BYTES = 128 << 20  # the largest vocabularies have about 20 million bytes


def assets_dir() -> Path:
    """The folder `assets`: inside an installed package, or beside `model` in the source tree."""
    package = Path(__file__).resolve().parent
    return installed if (installed := package / "assets").is_dir() else package.parents[1] / "assets"


def open_regular(path: Path) -> BinaryIO:
    """A file, open for reading. Raises OSError unless it is a regular file: opening a FIFO would block forever.

    Raises CheckpointError for a Git LFS pointer.
    """
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "no regular file")
        if status.st_size <= MAX_POINTER_BYTES:
            _reject_pointer_text(path.name, file.read(MAX_POINTER_BYTES))
            file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _reject_pointer_text(name: str, content: bytes) -> None:
    """Raise CheckpointError if a file's content is that of a pointer."""
    if not content.startswith(b"version https://git-lfs"):
        return
    size = re.search(rb"^size (\d{1,18})$", content, re.MULTILINE)
    count = int(size[1]) if size else 0
    missing = f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"
    told = f", and {missing} of it were not downloaded" if size else ""
    raise CheckpointError(f"{name} is a Git LFS pointer in place of the file{told}. Run `git lfs pull` in its folder.")


def reject_pointer(path: Path) -> None:
    """Raise CheckpointError for a Git LFS pointer. Raises OSError if the file cannot be opened."""
    open_regular(path).close()


def read_regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file. Raises OSError for other files, and for more than `limit` bytes."""
    with open_regular(path) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise OSError(errno.EFBIG, "far larger than any of its kind")
    return raw
