"""Runs by what was asked, never by arrays: the least recently used go where there are too many bytes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cachetools import LRUCache
from msgspec.structs import replace

from headlight.tracing.incremental import FinishedRun
from headlight.tracing.trace import Trace
from headlight_app.contract.question import Question

RunKey = tuple[Question, tuple[str, ...], Path, int, str]  # the last is whose it is, empty for everybody's
MAX_TEXTLESS = 256  # questions apart from their text of which the last run is known


class TraceCache:
    """Runs by question, within `budget` bytes; the last one is kept however large it is."""

    def __init__(self, budget: int = 192 << 20) -> None:
        self.runs: LRUCache[RunKey, FinishedRun] = LRUCache(budget, lambda finished: min(finished.bytes, budget))
        self.latest: LRUCache[RunKey, RunKey] = LRUCache(MAX_TEXTLESS)

    def get(self, key: RunKey, compute: Callable[[FinishedRun | None], FinishedRun]) -> Trace:
        """The trace of a question, made now if it is not here: from the last one that differs in its text alone."""
        found = self.runs.get(key)
        if found is None:
            found = compute(self.previous(key))
        self.store(key, found)
        return found.trace

    def previous(self, key: RunKey) -> FinishedRun | None:
        """The last run that differs from a question in its text alone."""
        latest = self.latest.get(_textless(key))
        return self.runs.get(latest) if latest else None

    def store(self, key: RunKey, finished: FinishedRun) -> None:
        """Keep a run; it is the last one of its kind."""
        if self.runs.get(key) is not finished:
            self.runs[key] = finished
        self.latest[_textless(key)] = key


def _textless(key: RunKey) -> RunKey:
    return (replace(key[0], text=""), *key[1:])


@lru_cache(maxsize=1)
def trace_cache() -> TraceCache:
    """The one cache of this process; what it holds is frozen."""
    return TraceCache()
