"""What can go wrong, told as a sentence to the person who caused it.

HeadlightError
├── UnknownName      a name that no table holds; lists what is known
├── ConfigError      sizes or names that do not go together
├── TextError        a text that cannot be run: empty, too long, no [MASK] ...
├── PictureError     a picture that cannot be read, or that a model has no use for
├── EditError        an edit that cannot be read, or names a value that does not exist
├── CheckpointError  a folder that cannot be opened
└── DataError        a training text or recipe that cannot be used

`str(error)` is that sentence: what was given, what was possible, what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class HeadlightError(Exception):
    """The root: whoever calls Headlight catches this one and shows its sentence."""


class UnknownNameError(HeadlightError, KeyError):
    """A name that a table does not hold."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show its repr


class ConfigError(HeadlightError):
    """Sizes or names that do not go together."""


class TextError(HeadlightError):
    """A text that cannot be run."""


class ImageError(HeadlightError):
    """A picture that cannot be read, or that a model has no use for."""


class EditError(HeadlightError):
    """An edit that cannot be read, or that names a value which does not exist."""


class CheckpointError(HeadlightError):
    """A checkpoint that cannot be opened."""


class DataError(HeadlightError):
    """A training text or recipe that cannot be used."""


@contextmanager
def wrap_errors(kind: type[HeadlightError], sentence: str) -> Iterator[None]:
    """What a library raises (bare Exception, and panics that are not even that) as a sentence, without any path."""
    try:
        yield
    except (HeadlightError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise kind(f"{sentence}{reason(error)}.") from error


def reason(error: BaseException) -> str:
    """What a library says of a failure, in one line behind a colon; nothing where that may hold a path."""
    message = (error.strerror or "") if isinstance(error, OSError) else str(error)
    line = message.partition("\n")[0].strip().rstrip(".")[:200]
    return f": {line}" if line and not {"/", "\\"} & set(line) else ""
