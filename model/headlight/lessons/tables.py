"""Tables: the arrays in expressions of a lesson, with a name for each axis and each place on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.array_types import Float
from headlight.errors import InputError, numbered, shortened


@dataclass(frozen=True, eq=False)
class Table:
    """An array with its axes: their names ("layer", "head") and the labels of their places."""

    values: Float[np.ndarray, ...]
    axes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def numbered(cls, values: Float[np.ndarray, ...], axes: Sequence[str]) -> Table:
        """A table whose places are named by axis and number: "layer 0"."""
        sizes = zip(axes, np.shape(values), strict=True)
        return cls(np.asarray(values, float), tuple(axes), tuple(_numbers(name, size) for name, size in sizes))

    def at(self, places: Sequence[int | str]) -> Table | float:
        """The values at these places of the first axes; a place is a number, from the end if negative, or a label."""
        if len(places) > len(self.axes):
            raise InputError(f"A table of {', '.join(self.axes)} takes at most {len(self.axes)} places in [ ].")
        index = tuple(self._index(axis, place) for axis, place in enumerate(places))
        found = self.values[index]
        kept = len(index)
        return Table(found, self.axes[kept:], self.labels[kept:]) if np.ndim(found) else float(found)

    def _index(self, axis: int, place: int | str) -> int:
        name, labels = self.axes[axis], self.labels[axis]
        if isinstance(place, str):
            if place not in labels:
                raise InputError(f"There is no {name} {shortened(place, 30)!r} here, but {_listed(labels)}.")
            return labels.index(place)
        if not -len(labels) <= place < len(labels):
            raise InputError(f"There is no {name} {place} here: there are {numbered(name, len(labels))}.")
        return place

    def place(self, least: bool = False) -> tuple[int, ...]:
        """The place of the largest or smallest number; infinite numbers and NaN are ignored."""
        if not np.isfinite(self.values).any():
            raise InputError("There is no number in this table for this text.")
        ordered = -self.values if least else self.values
        flat = int(np.argmax(np.where(np.isfinite(ordered), ordered, -np.inf)))
        return tuple(int(each) for each in np.unravel_index(flat, self.values.shape))

    def name(self, place: Sequence[int]) -> str:
        """The name of a place: "layer 1, head 3"."""
        return ", ".join(labels[at] for labels, at in zip(self.labels, place, strict=True))

    def options(self, axis: int) -> tuple[str, ...]:
        """The labels of an axis, with their numbers added to repeated ones."""
        labels = self.labels[axis]
        seen = Counter(labels)
        name = "token" if self.axes[axis] in ("token", "query", "key") else self.axes[axis]
        return tuple(f"{each} ({name} {at})" if seen[each] > 1 else each for at, each in enumerate(labels))


def _numbers(name: str, size: int) -> tuple[str, ...]:
    return tuple(f"{name} {at}" for at in range(size))


def _listed(labels: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(labels[:most])
    return f"{shown} ..." if len(labels) > most else shown
