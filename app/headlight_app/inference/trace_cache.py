"""A cache of runs by question; beyond its budget of bytes the least recently used are dropped."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cachetools import LRUCache
from msgspec.structs import replace

from headlight.tracing.continuation import FinishedRun
from headlight.tracing.trace import Trace
from headlight_app.contract.question import Question

RunKey = tuple[Question, tuple[str, ...], Path, int, str]  # the last is the owner, empty for shared runs
MAX_TEXTLESS = 256  # questions (without their text) whose last run is remembered


class TraceCache:
    """Runs by question, within `budget` bytes; the last one is kept even if it is larger."""

    def __init__(self, budget: int = 192 << 20) -> None:
        self.runs: LRUCache[RunKey, FinishedRun] = LRUCache(budget, lambda finished: min(finished.bytes, budget))
        self.latest: LRUCache[RunKey, RunKey] = LRUCache(MAX_TEXTLESS)

    def get(self, key: RunKey, compute: Callable[[FinishedRun | None], FinishedRun]) -> Trace:
        """The trace of a question; if missing, computed from the last run that differs only in its text."""
        found = self.runs.get(key)
        if found is None:
            found = compute(self.previous(key))
        self.store(key, found)
        return found.trace

    def previous(self, key: RunKey) -> FinishedRun | None:
        """The last run that differs from a question only in its text."""
        latest = self.latest.get(_textless(key))
        return self.runs.get(latest) if latest else None

    def store(self, key: RunKey, finished: FinishedRun) -> None:
        """Store a run, as the last one of its question apart from the text."""
        if self.runs.get(key) is not finished:
            self.runs[key] = finished
        self.latest[_textless(key)] = key

    def shrink(self, size: int) -> None:
        """Drop the least recently used runs beyond `size` bytes."""
        while self.runs.currsize > size and len(self.runs) > 1:
            self.runs.popitem()


def _textless(key: RunKey) -> RunKey:
    return (replace(key[0], text=""), *key[1:])


@lru_cache(maxsize=1)
def trace_cache() -> TraceCache:
    """The one cache of this process; its arrays are read-only."""
    return TraceCache()
