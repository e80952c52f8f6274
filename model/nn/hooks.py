"""Hooks: functions that see each intermediate value of a forward pass by its name, and may replace it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from torch import Tensor

Hook = Callable[[str, Tensor], Tensor]


def no_hook(name: str, value: Tensor) -> Tensor:
    """The tap that neither looks nor touches."""
    return value


class HookScope(IntEnum):
    """What a tap wants of a value: nothing, a few rows (queries) of it at a time, or all of it at once."""

    NONE, ROWS, ALL = range(3)


@dataclass(frozen=True)
class PrefixedHook:
    """A tap for the values of a part: `weights` reaches `tap` as `prefix.weights`."""

    hook: Hook
    prefix: str

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return self.hook(f"{self.prefix}.{name}", value)

    def scope(self, name: str) -> HookScope:
        """What the tap wants of a value."""
        return hook_scope(self.hook, f"{self.prefix}.{name}")

    def for_rows(self, start: int, total: int) -> Hook:
        """The tap for values of which it sees the rows from `start` on, of `total`."""
        return with_prefix(hook_for_rows(self.hook, start, total), self.prefix)


def with_prefix(hook: Hook, prefix: str) -> Hook:
    """The same tap, for the values of a part."""
    return hook if hook is no_hook else PrefixedHook(hook, prefix)


def hook_scope(hook: Hook, name: str) -> HookScope:
    """What a tap wants of a value: everything, unless it says otherwise."""
    if hook is no_hook:
        return HookScope.NONE
    method: Callable[[str], HookScope] | None = getattr(hook, "scope", None)
    return method(name) if method else HookScope.ALL


def hook_for_rows(hook: Hook, start: int, total: int) -> Hook:
    """The tap for values of which it sees the rows from `start` on, of `total`; it must want no more than rows."""
    method: Callable[[int, int], Hook] | None = getattr(hook, "for_rows", None)
    return method(start, total) if method else hook
