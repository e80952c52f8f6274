"""Errors, each a sentence for the person who caused it.

HeadlightError
├── UnknownNameError a name that no registry has; lists the known ones
├── ConfigError      sizes or names that do not go together
├── TextError        a text that cannot be run: empty, too long, no [MASK] ...
├── ImageError       an image that cannot be read, or a model that reads none
├── EditError        an edit that cannot be read, or names a value that does not exist
├── CheckpointError  a folder that cannot be opened
└── DataError        a training text or recipe that cannot be used

`str(error)` is the sentence: what was given, what is possible, what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class HeadlightError(Exception):
    """The base class of all errors that Headlight raises on purpose."""


class UnknownNameError(HeadlightError, KeyError):
    """A name that a registry does not have."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show its repr


class ConfigError(HeadlightError):
    """Sizes or names that do not go together."""


class TextError(HeadlightError):
    """A text that cannot be run."""


class ImageError(HeadlightError):
    """An image that cannot be read, or a model that reads none."""


class EditError(HeadlightError):
    """An edit that cannot be read, or that names a value which does not exist."""


class CheckpointError(HeadlightError):
    """A checkpoint that cannot be opened."""


class DataError(HeadlightError):
    """A training text or recipe that cannot be used."""


@contextmanager
def wrap_errors(kind: type[HeadlightError], sentence: str) -> Iterator[None]:
    """Turn any exception of a library, panics of Rust code included, into `kind` with a sentence, without paths."""
    try:
        yield
    except (HeadlightError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise kind(f"{sentence}{reason(error)}.") from error


def reason(error: BaseException) -> str:
    """A library's own message behind a colon, in one line; empty where it may hold a path."""
    message = (error.strerror or "") if isinstance(error, OSError) else str(error)
    line = message.partition("\n")[0].strip().rstrip(".")[:200]
    return f": {line}" if line and not {"/", "\\"} & set(line) else ""
