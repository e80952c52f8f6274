"""Page runs take turns: one at a time computes, in order of arrival.

Each run of the Streamlit script is a thread, and all threads share the interpreter lock. If two hundred run at once,
each ends only when the last one does, and the event loop that forwards keystrokes waits for all of them. Another thread
sends their output to the browsers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock, Semaphore

from cachetools import LRUCache

MAX_RUNS = 1  # computing at a time
MAX_COUNTED = 10_000  # visitors whose runs are counted
_HAS_TURN: ContextVar[bool] = ContextVar("has_turn", default=False)


@contextmanager
def page_turn(visitor: str) -> Iterator[None]:
    """Wait for a turn, then run the block as this visitor's page run."""
    with _turns():
        token = _HAS_TURN.set(True)
        try:
            yield
        finally:
            _HAS_TURN.reset(token)
            with _counting():
                _ended()[visitor] = runs_ended(visitor) + 1


@contextmanager
def without_turn() -> Iterator[None]:
    """Give up the turn while the block waits, so that other page runs continue, then take a turn again."""
    if not _HAS_TURN.get():
        yield
        return
    _turns().release()
    try:
        yield
    finally:
        _turns().acquire()


def runs_ended(visitor: str) -> int:
    """How many page runs of this visitor have ended; reset to 0 after MAX_COUNTED other visitors."""
    return _ended().get(visitor, 0)


@lru_cache(maxsize=1)
def _ended() -> LRUCache[str, int]:
    return LRUCache(MAX_COUNTED)


@lru_cache(maxsize=1)
def _counting() -> Lock:
    return Lock()


@lru_cache(maxsize=1)
def _turns() -> Semaphore:
    """The semaphore of this process."""
    return Semaphore(MAX_RUNS)
