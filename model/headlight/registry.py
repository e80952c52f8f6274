"""Registries: named parts to choose from, each a row that contains everything about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from headlight.errors import UnknownNameError, suggestion

Entry = TypeVar("Entry")


@runtime_checkable
class Choice(Protocol):
    """The description of a row: its title, one or two sentences, and its formula in LaTeX (or "")."""

    @property
    def title(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def formula(self) -> str: ...


class Registry(dict[str, Entry]):
    """A dict whose error for a missing key lists the known names; `kind` is the word for such a part in sentences."""

    def __init__(self, kind: str, entries: dict[str, Entry]) -> None:
        super().__init__(entries)
        self.kind = kind

    def require(self, name: str) -> None:
        """Raise UnknownNameError unless the registry has a part of this name."""
        self[name]

    def __missing__(self, name: object) -> Entry:
        near = suggestion(str(name), self)
        raise UnknownNameError(f"There is no {self.kind} {str(name)!r}.{near} Known: {', '.join(sorted(self))}.")


def titles(choices: Mapping[str, Choice]) -> dict[str, str]:
    """The title of each name."""
    return {name: choice.title for name, choice in choices.items()}


@dataclass(frozen=True)
class Exercise:
    """A question for a class, and the answer for its teacher."""

    question: str
    answer: str
