"""Errors, each a sentence for the person who caused it.

HeadlightError
├── UnknownNameError a name that is not in a registry; lists the known names
├── ConfigError      sizes or names that do not fit together
├── TextError        a text that cannot be run: empty, too long, no [MASK] ...
├── ImageError       an image that cannot be read, or a model that reads none
├── SoundError       a recording that cannot be read, or a model that reads none
├── EditError        an edit that cannot be read, or that names a value that does not exist
├── InputError       a number, matrix or choice that a screen of the course cannot compute with
├── CheckpointError  a folder that cannot be opened
├── DataError        a training text or recipe that cannot be used
└── OutputError      a file that cannot be written

`str(error)` is the sentence: what was given, what is possible, what to do. The input may have any length, so sentences
are cut to MAX_SENTENCE_LENGTH.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

MAX_SENTENCE_LENGTH = 1_000


class HeadlightError(Exception):
    """The base class of all errors that Headlight raises on purpose."""

    def __init__(self, sentence: str) -> None:
        super().__init__(shortened(sentence, MAX_SENTENCE_LENGTH))


class UnknownNameError(HeadlightError, KeyError):
    """A name that is not in a registry."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError itself would show the repr


class ConfigError(HeadlightError):
    """Sizes or names that do not fit together."""


class TextError(HeadlightError):
    """A text that cannot be run."""


class ImageError(HeadlightError):
    """An image that cannot be read, or a model that reads none."""


class SoundError(HeadlightError):
    """A recording that cannot be read, or a model that reads none."""


class EditError(HeadlightError):
    """An edit that cannot be read, or that names a value that does not exist."""


class InputError(HeadlightError):
    """A number, matrix or choice that a screen of the course cannot compute with."""


class CheckpointError(HeadlightError):
    """A checkpoint that cannot be opened."""


class DataError(HeadlightError):
    """A training text or recipe that cannot be used."""


class OutputError(HeadlightError):
    """A file or folder that cannot be written."""


def shortened(text: str, limit: int = 80) -> str:
    """A text for display: long texts keep only start and end; lone surrogates, invalid in UTF-8, are escaped."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else f"{text[: limit - limit // 3]} ... {text[-(limit // 3) :]}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """ " Did you mean ...?" if a known name resembles the given one, else ""."""
    near = get_close_matches(shortened(name), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def counted(number: int, name: str) -> str:
    """A number with its noun: "1 layer", "2 layers"."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def numbered(name: str, count: int, first: int = 0) -> str:
    """The range of existing numbers: "layers 0 to 5", or "layer 0 alone"."""
    return f"{name}s {first} to {first + count - 1}" if count > 1 else f"{name} {first} alone"


def unforeseen(error: BaseException, advice: str) -> str:
    """A sentence for an unexpected exception; `advice` tells the person what to do."""
    return f"Something went wrong inside Headlight ({type(error).__name__}). {advice}"


@contextmanager
def wrap_errors(kind: type[HeadlightError], sentence: str) -> Iterator[None]:
    """Turn any exception of a library, including panics of Rust code, into `kind` with a sentence without paths."""
    try:
        yield
    except (HeadlightError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise kind(f"{sentence}{reason(error)}.") from error


def reason(error: BaseException) -> str:
    """A library's own message after a colon, on one line; empty if it may contain a path."""
    message = (error.strerror or "") if isinstance(error, OSError) else str(error)
    line = message.partition("\n")[0].strip().rstrip(".")[:200]
    return f": {line}" if line and not {"/", "\\"} & set(line) else ""
