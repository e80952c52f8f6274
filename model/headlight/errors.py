"""Errors, each a sentence for the person who caused it.

HeadlightError
├── UnknownNameError a name that no registry has; lists the known ones
├── ConfigError      sizes or names that do not go together
├── TextError        a text that cannot be run: empty, too long, no [MASK] ...
├── ImageError       an image that cannot be read, or a model that reads none
├── SoundError       a recording that cannot be read, or a model that hears none
├── EditError        an edit that cannot be read, or names a value that does not exist
├── InputError       a number, matrix or choice that a screen of the course cannot compute with
├── CheckpointError  a folder that cannot be opened
├── DataError        a training text or recipe that cannot be used
└── OutputError      a file that cannot be written

`str(error)` is the sentence: what was given, what is possible, what to do. What was given may be of any length, so
that a sentence is cut to MAX_SENTENCE_LENGTH.
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
    """A name that a registry does not have."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show its repr


class ConfigError(HeadlightError):
    """Sizes or names that do not go together."""


class TextError(HeadlightError):
    """A text that cannot be run."""


class ImageError(HeadlightError):
    """An image that cannot be read, or a model that reads none."""


class SoundError(HeadlightError):
    """A recording that cannot be read, or a model that hears none."""


class EditError(HeadlightError):
    """An edit that cannot be read, or that names a value which does not exist."""


class InputError(HeadlightError):
    """A number, matrix or choice that a screen of the course cannot compute with."""


class CheckpointError(HeadlightError):
    """A checkpoint that cannot be opened."""


class DataError(HeadlightError):
    """A training text or recipe that cannot be used."""


class OutputError(HeadlightError):
    """A file or folder that cannot be written."""


def shortened(text: str, limit: int = 80) -> str:
    """A text to be shown: of a long one the beginning and the end; lone surrogates, which UTF-8 lacks, escaped."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else f"{text[: limit - limit // 3]} ... {text[-(limit // 3) :]}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """ " Did you mean ...?", where a known name is much like the one that was given; else ""."""
    near = get_close_matches(shortened(name), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def counted(number: int, name: str) -> str:
    """How many there are: "1 layer", "2 layers"."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def numbered(name: str, count: int, first: int = 0) -> str:
    """Which of several things there are, by number: "layers 0 to 5", or "layer 0 alone"."""
    return f"{name}s {first} to {first + count - 1}" if count > 1 else f"{name} {first} alone"


def unforeseen(error: BaseException, advice: str) -> str:
    """A sentence for what should not have happened; `advice` says what the person can do."""
    return f"Something went wrong inside Headlight ({type(error).__name__}). {advice}"


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
