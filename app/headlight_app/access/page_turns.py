"""Runs of the page take turns: one at a time computes, in the order in which they came.

They are threads under one interpreter lock. If all of two hundred run at once, each is done only when the last one is,
and the thread that passes letters on waits behind all of them. Another thread writes what they draw to the browsers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock, Semaphore

from cachetools import LRUCache

MAX_RUNS = 1  # that compute at a time
MAX_COUNTED = 10_000  # visitors whose runs are counted
_HAS_TURN: ContextVar[bool] = ContextVar("has_turn", default=False)


@contextmanager
def page_turn(visitor: str) -> Iterator[None]:
    """A run of this visitor's page within the block, once it is its turn."""
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
    """Waiting within the block, in which other runs go on."""
    if not _HAS_TURN.get():
        yield
        return
    _turns().release()
    try:
        yield
    finally:
        _turns().acquire()


def runs_ended(visitor: str) -> int:
    """How many runs of this visitor's page have ended; from 0 again where many others came in between."""
    return _ended().get(visitor, 0)


@lru_cache(maxsize=1)
def _ended() -> LRUCache[str, int]:
    return LRUCache(MAX_COUNTED)


@lru_cache(maxsize=1)
def _counting() -> Lock:
    return Lock()


@lru_cache(maxsize=1)
def _turns() -> Semaphore:
    """The turns of this process."""
    return Semaphore(MAX_RUNS)
