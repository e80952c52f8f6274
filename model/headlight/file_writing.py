"""Files are written whole: beside their place, and then renamed. A failure leaves what was there before."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from headlight.errors import OutputError

UNFINISHED = ".part"  # what a name ends in until all is written


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` at the end.

    Raises OutputError where it cannot be written; nothing half-written stays then.
    """
    if path.is_dir():
        raise OutputError(f"{path} cannot be written: it is a folder. Give the name of a file in it.")
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with writable(path), unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # a kill of the machine, too, leaves the old file or the new one
        with writable(path):
            os.replace(unfinished, path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files that belong together: none takes its place before all are written; the first one does last.

    Raises OutputError; a folder that was made for them is gone then.
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
    """What a person may read, too: indented, and with a line's end."""
    return (json.dumps(content, indent=indent) + "\n").encode("utf-8")


def make_folder(folder: Path) -> None:
    """Make a folder and those around it. Raises OutputError where that is impossible."""
    with writable(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Turn what the operating system says into a sentence about `path`."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}. Make room, or give another place."
        ) from error
