"""Records the values of a forward pass that a request asks for, and turns them into arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache

import numpy as np
from torch import Tensor

from headlight.nn.hooks import Hook, HookScope, hook_for_rows, hook_scope


class RecordingHook:
    """A hook that records the values whose path matches one of the patterns `keep` (all values if None).

    Another hook, `hook`, changes each value first; the changed value is recorded.
    """

    def __init__(self, hook: Hook, keep: Sequence[str] | None) -> None:
        self.hook, self.keeps = hook, _keeps_all if keep is None else _pattern_matcher(tuple(keep))
        self.values: dict[str, Tensor] = {}

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value that `hook` returns, which is recorded if its path matches."""
        value = self.hook(path, value)
        if self.keeps(path):
            self.values[path] = value
        return value

    def scope(self, path: str) -> HookScope:
        """The whole value if it is recorded; otherwise as much as `hook` needs."""
        return HookScope.ALL if self.keeps(path) else hook_scope(self.hook, path)

    def for_rows(self, start: int, total: int) -> Hook:
        """`hook` for a few rows: a value that is computed a few rows at a time is not recorded."""
        return hook_for_rows(self.hook, start, total)

    def arrays(self) -> dict[str, np.ndarray]:
        """The recorded values without their batch axis, by path."""
        return distinct_arrays(self.values, lambda path, value: to_numpy(value.detach()[0]))


def _keeps_all(path: str) -> bool:
    return True


@lru_cache(maxsize=256)
def _pattern_matcher(keep: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path matches a pattern; cached, because every forward pass checks every value."""
    matches = re.compile("|".join(map(translate, keep)) or r"(?!)").match
    return lru_cache(maxsize=4_096)(lambda path: matches(path) is not None)


def to_numpy(value: Tensor) -> np.ndarray:
    """The same numbers as an array; floats of any precision as float32."""
    return (value.float() if value.is_floating_point() else value).cpu().numpy()


def distinct_arrays(
    values: Mapping[str, Tensor], to_array: Callable[[str, Tensor], np.ndarray]
) -> dict[str, np.ndarray]:
    """Values as arrays, by path; a value that layers share, such as a mask, is one array."""
    distinct = {id(value): (path, value) for path, value in values.items()}
    arrays = {number: to_array(path, value) for number, (path, value) in distinct.items()}
    return {path: arrays[id(value)] for path, value in values.items()}
