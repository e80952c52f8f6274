"""The origin of a model's weights: its name and files; and the version of the program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from headlight.paths import open_regular

_BLOCK_BYTES = 1 << 22
_File = tuple[Path, int, int]  # path, size, time of the last change in nanoseconds


@dataclass(frozen=True)
class Origin:
    """The name of a checkpoint, and the state of its weight files when it was opened."""

    name: str
    files: tuple[_File, ...] = field(default=(), repr=False)

    @classmethod
    def of_files(cls, name: str, paths: Iterable[Path]) -> Origin:
        """The origin of weights that are read from these files now."""
        return cls(name, tuple(_stamped(path) for path in paths))

    @property
    def sha256(self) -> str:
        """The SHA-256 of the files, as from `cat FILES | sha256sum`; empty if they have changed since."""
        try:
            unchanged = self.files == tuple(_stamped(path) for path, *_ in self.files)
            return _sha256(self.files) if self.files and unchanged else ""
        except OSError:
            return ""


def _stamped(path: Path) -> _File:
    status = path.stat()
    return path, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=256)
def _sha256(files: tuple[_File, ...]) -> str:
    digest = sha256()
    for path, *_ in files:
        with open_regular(path) as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()


def headlight_version() -> str:
    """The installed version of Headlight."""
    try:
        return version("attention-headlight")
    except PackageNotFoundError:
        return "(not installed)"
