"""Traces by what was asked, never by arrays: the least recently used go where there are too many bytes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock

from cachetools import LRUCache

from app.state.state import Question
from model.tracing.trace import Trace

TraceKey = tuple[Question, tuple[str, ...], Path, int]


class TraceCache:
    """Traces by question, within `budget` bytes; the last one is kept however large it is."""

    def __init__(self, budget: int = 512 << 20) -> None:
        self.traces: LRUCache[TraceKey, Trace] = LRUCache(budget, lambda trace: min(trace_bytes(trace), budget))
        self.in_progress: dict[TraceKey, Lock] = {}
        self.lock = Lock()

    def get(self, key: TraceKey, compute: Callable[[], Trace]) -> Trace:
        """The trace of a question, made now if it is not here; who asks the same meanwhile waits for it."""
        with self.lock:
            key_lock = self.in_progress.setdefault(key, Lock())
        try:
            with key_lock:
                with self.lock:
                    found = self.traces.get(key)
                if found is None:
                    found = compute()
                    with self.lock:
                        self.traces[key] = found
                return found
        finally:
            with self.lock:
                self.in_progress.pop(key, None)


def trace_bytes(trace: Trace) -> int:
    """How many bytes the arrays of a trace take."""
    return sum(value.nbytes for value in trace.values.values())


@lru_cache(maxsize=1)
def trace_cache() -> TraceCache:
    """The one cache of this process; traces are frozen, so visitors may share them."""
    return TraceCache()
