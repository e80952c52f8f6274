"""The fields of somebody's config.json, read one by one, each checked for its kind."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model.errors import CheckpointError, because

DEEPEST = 1_000  # layers; the deepest transformer that anybody wrote of
LARGEST = 2**31
LARGEST_FILE = 128 << 20  # bytes; the largest vocabularies have 20 million
Names = str | tuple[str, ...]


class Fields:
    """A config.json. Every question names one field (or its names in old and new files) and what it is when absent.

    `read` gathers which fields were asked for, so that what acts and was never asked for can be told. A null counts
    as absent. Raises CheckpointError for a field of the wrong kind.
    """

    def __init__(self, values: Mapping[str, Any], name: str) -> None:
        self.values, self.name = values, name
        self.read: set[str] = set()
        self.stored: frozenset[str] = frozenset()  # the names of the tensors beside the config

    def filled(self, **defaults: Any) -> Fields:
        """The same fields with defaults of a family for those that are absent."""
        given = {name: value for name, value in self.values.items() if value is not None}
        return self._with({**defaults, **given})

    def renamed(self, names: Mapping[str, str]) -> Fields:
        """The same fields, those of other names under the usual ones; both at once are the usual one."""
        there = {usual: self.values[name] for name, usual in names.items() if self.has(name) and not self.has(usual)}
        return self._with({**self.values, **there}) if there else self

    def without(self, *names: str) -> Fields:
        """The same fields without some of them."""
        return self._with({name: value for name, value in self.values.items() if name not in names})

    def _with(self, values: Mapping[str, Any]) -> Fields:
        other = Fields(values, self.name)
        other.read, other.stored = self.read, self.stored
        return other

    def size(self, names: Names, default: int | None = None) -> int:
        """A count: a whole number of at least 0."""
        value = self._get(names, default)
        if type(value) is not int or not 0 <= value < LARGEST:
            raise self._wrong(names, value, "a whole number from 0 to 2^31")
        return value

    def sizes(self, names: Names, count: int, default: int) -> list[int]:
        """Several counts, or one that stands for them all."""
        value = self._get(names, default)
        several = value if isinstance(value, list) else [value] * count
        if len(several) != count or not all(type(item) is int and 0 <= item < LARGEST for item in several):
            raise self._wrong(names, value, f"a whole number from 0 to 2^31, or {count} of them")
        return several

    def depth(self, names: Names, default: int | None = None) -> int:
        """How many layers: a count that no file can blow up."""
        layers = self.size(names, default)
        if layers > DEEPEST:
            raise self._wrong(names, layers, f"at most {DEEPEST:,} layers")
        return layers

    def number(self, names: Names, default: float | None = None) -> float:
        """A finite number."""
        value = self._get(names, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self._wrong(names, value, "a finite number")
        return float(value)

    def flag(self, names: Names, default: bool | None = None) -> bool:
        """True or false."""
        value = self._get(names, default)
        if not isinstance(value, bool):
            raise self._wrong(names, value, "true or false")
        return value

    def word(self, names: Names, default: str | None = None) -> str:
        """A name."""
        value = self._get(names, default)
        if not isinstance(value, str):
            raise self._wrong(names, value, "a word")
        return value

    def choice(self, names: Names, default: str, known: Mapping[str, str]) -> str:
        """One of a few names, as what it means here."""
        value = self.word(names, default)
        if value not in known:
            raise CheckpointError(
                f"{self.name}: its {_shown(names)} is {value!r}, which is not supported; known are {', '.join(known)}."
            )
        return known[value]

    def listing(self, names: Names, kind: type | tuple[type, ...], default: Sequence[Any] = ()) -> list[Any]:
        """A list of things of one kind."""
        value = self._get(names, list(default))
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self._wrong(names, value, "a list")
        return value

    def group(self, names: Names) -> Fields | None:
        """Fields within a field; None where it is absent."""
        value = self._get(names, None, needed=False)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(names, value, "a group of fields")
        return Fields(value, f"{self.name}, {_shown(names)}")

    def has(self, name: str) -> bool:
        """Whether a field is there and not null."""
        return self.values.get(name) is not None

    def require(self, accepted: Mapping[str, Any]) -> None:
        """Refuse, by name, fields that act and have another value than the one supported (or absence)."""
        for name, only in accepted.items():
            value = self.values.get(name)
            options = only if isinstance(only, tuple) else (only,)
            if value is not None and value not in options:
                raise CheckpointError(
                    f"{self.name}: its {name} is {json.dumps(value)[:60]}, which acts and is not supported."
                )
            self.read.add(name)

    def _get(self, names: Names, default: Any, needed: bool = True) -> Any:
        options = (names,) if isinstance(names, str) else names
        self.read.update(options)
        found = next((self.values[name] for name in options if self.values.get(name) is not None), default)
        if found is None and needed:
            raise CheckpointError(f"{self.name}: its config has no {_shown(names)}.")
        return found

    def _wrong(self, names: Names, value: Any, wanted: str) -> CheckpointError:
        return CheckpointError(f"{self.name}: its {_shown(names)} is {str(value)[:60]!r}; wanted {wanted}.")


def _shown(names: Names) -> str:
    return names if isinstance(names, str) else " or ".join(names)


def read_json(path: Path, name: str) -> dict[str, Any]:
    """A JSON object from a file. Raises CheckpointError with `name` as whose file it is."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CheckpointError(f"{name}: its {path.name} is far larger than any of its kind.")
        values: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"{name} is no checkpoint: it holds no readable {path.name}.") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{name}: its {path.name} is no JSON{because(error)}.") from error
    if not isinstance(values, dict):
        raise CheckpointError(f"{name}: its {path.name} is no JSON object.")
    return values
