"""A table of named parts whose KeyError lists what it knows."""

from typing import TypeVar

from model.errors import UnknownName

Part = TypeVar("Part")


class Registry(dict[str, Part]):
    """Names and the parts they stand for; `kind` is how a sentence calls such a part."""

    def __init__(self, kind: str, parts: dict[str, Part]) -> None:
        super().__init__(parts)
        self.kind = kind

    def __missing__(self, name: object) -> Part:
        raise UnknownName(f"There is no {self.kind} {str(name)!r}. Known: {', '.join(sorted(self))}.")
