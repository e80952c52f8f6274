"""Hooks: functions that see each intermediate value of a forward pass by its name, and may replace it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from torch import Tensor

Hook = Callable[[str, Tensor], Tensor]


def no_hook(name: str, value: Tensor) -> Tensor:
    """The hook that does nothing."""
    return value


class HookScope(IntEnum):
    """How much of a value a hook needs at a time: nothing, some rows (queries), or all of it."""

    NONE, ROWS, ALL = range(3)


@dataclass(frozen=True)
class PrefixedHook:
    """A hook for the values of one module: `weights` reaches `hook` as `prefix.weights`."""

    hook: Hook
    prefix: str

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return self.hook(f"{self.prefix}.{name}", value)

    def scope(self, name: str) -> HookScope:
        """How much of a value the hook needs."""
        return hook_scope(self.hook, f"{self.prefix}.{name}")

    def for_rows(self, start: int, total: int) -> Hook:
        """The hook for values that hold the rows from `start` on, of `total`."""
        return with_prefix(hook_for_rows(self.hook, start, total), self.prefix)


def with_prefix(hook: Hook, prefix: str) -> Hook:
    """The same hook for the values of one module."""
    return hook if hook is no_hook else PrefixedHook(hook, prefix)


def hook_scope(hook: Hook, name: str) -> HookScope:
    """How much of a value a hook needs: all of it, unless it has a method `scope` that says otherwise."""
    if hook is no_hook:
        return HookScope.NONE
    method: Callable[[str], HookScope] | None = getattr(hook, "scope", None)
    return method(name) if method else HookScope.ALL


def hook_for_rows(hook: Hook, start: int, total: int) -> Hook:
    """The hook for values that hold the rows from `start` on, of `total`; its scope must be at most ROWS."""
    method: Callable[[int, int], Hook] | None = getattr(hook, "for_rows", None)
    return method(start, total) if method else hook
