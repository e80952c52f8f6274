"""Atomic file writing: into a temporary file that is then renamed. A failure leaves the previous file unchanged."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from headlight.errors import OutputError

UNFINISHED = ".part"  # suffix of the temporary file


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which replaces `path` at the end.

    Raises OutputError if it cannot be written, and leaves no partial file.
    """
    if path.is_dir():
        raise OutputError(f"{path} cannot be written: it is a folder. Give the name of a file in it.")
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with writable(path), unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # even after a power failure either the old or the new file is there
        with writable(path):
            os.replace(unfinished, path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files that belong together: they are renamed only after all are written, the first one last.

    Raises OutputError, after removing a folder that was created for them.
    """
    is_new = not folder.exists()
    try:
        make_folder(folder)
        with ExitStack() as stack:
            for name, content in contents.items():
                file = stack.enter_context(replacing(folder / name))
                file.write(content)
                file.flush()
    except OutputError:
        with suppress(OSError):
            if is_new:
                folder.rmdir()
        raise


def json_bytes(content: object, indent: int = 2) -> bytes:
    """JSON that people can read: indented, with a final line break."""
    return (json.dumps(content, indent=indent) + "\n").encode("utf-8")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents. Raises OutputError if that is impossible."""
    with writable(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into a sentence about `path`."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}. Make room, or give another place."
        ) from error
