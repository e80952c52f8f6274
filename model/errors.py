"""What can go wrong, told as a sentence to the person who caused it.

HeadlightError
├── UnknownName      a name that no table holds; lists what is known
├── ConfigError      sizes or names that do not go together
├── TextError        a text that cannot be run: empty, too long, no [MASK] ...
├── EditError        an edit that cannot be read, or names a value that does not exist
├── CheckpointError  a folder that cannot be opened
└── DataError        a training text or recipe that cannot be used

`str(error)` is that sentence: what was given, what was possible, what to do.
"""


class HeadlightError(Exception):
    """The root: whoever calls Headlight catches this one and shows its sentence."""


class UnknownName(HeadlightError, KeyError):
    """A name that a table does not hold."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show its repr


class ConfigError(HeadlightError):
    """Sizes or names that do not go together."""


class TextError(HeadlightError):
    """A text that cannot be run."""


class EditError(HeadlightError):
    """An edit that cannot be read, or that names a value which does not exist."""


class CheckpointError(HeadlightError):
    """A checkpoint that cannot be opened."""


class DataError(HeadlightError):
    """A training text or recipe that cannot be used."""
