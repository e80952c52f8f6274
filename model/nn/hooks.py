"""Hooks: functions that see each intermediate value of a forward pass by its name, and may replace it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from torch import Tensor

Tap = Callable[[str, Tensor], Tensor]


def untouched(name: str, value: Tensor) -> Tensor:
    """The tap that neither looks nor touches."""
    return value


class Interest(IntEnum):
    """What a tap wants of a value: nothing, a few rows (queries) of it at a time, or all of it at once."""

    NONE, ROWS, WHOLE = range(3)


@dataclass(frozen=True)
class Under:
    """A tap for the values of a part: `weights` reaches `tap` as `prefix.weights`."""

    tap: Tap
    prefix: str

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return self.tap(f"{self.prefix}.{name}", value)

    def interest(self, name: str) -> Interest:
        """What the tap wants of a value."""
        return interest(self.tap, f"{self.prefix}.{name}")

    def rows(self, start: int, total: int) -> Tap:
        """The tap for values of which it sees the rows from `start` on, of `total`."""
        return under(rows(self.tap, start, total), self.prefix)


def under(tap: Tap, prefix: str) -> Tap:
    """The same tap, for the values of a part."""
    return tap if tap is untouched else Under(tap, prefix)


def interest(tap: Tap, name: str) -> Interest:
    """What a tap wants of a value: everything, unless it says otherwise."""
    if tap is untouched:
        return Interest.NONE
    ask: Callable[[str], Interest] | None = getattr(tap, "interest", None)
    return ask(name) if ask else Interest.WHOLE


def rows(tap: Tap, start: int, total: int) -> Tap:
    """The tap for values of which it sees the rows from `start` on, of `total`; it must want no more than rows."""
    narrowed: Callable[[int, int], Tap] | None = getattr(tap, "rows", None)
    return narrowed(start, total) if narrowed else tap
