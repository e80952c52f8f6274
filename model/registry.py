"""A table of named parts whose KeyError lists what it knows."""

from typing import TypeVar

from model.errors import UnknownNameError

Entry = TypeVar("Entry")


class Registry(dict[str, Entry]):
    """Names and the parts they stand for; `kind` is how a sentence calls such a part."""

    def __init__(self, kind: str, entries: dict[str, Entry]) -> None:
        super().__init__(entries)
        self.kind = kind

    def __missing__(self, name: object) -> Entry:
        raise UnknownNameError(f"There is no {self.kind} {str(name)!r}. Known: {', '.join(sorted(self))}.")
