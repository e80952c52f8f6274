"""Runs of the page take turns: a few at a time compute, in the order in which they came.

They are threads under one interpreter lock. If all of two hundred run at once, each is done only when the last one is,
and the thread that passes letters on waits behind all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import Semaphore

MAX_RUNS = 2  # that compute at a time: one goes on while the other writes to its browser
_HAS_TURN: ContextVar[bool] = ContextVar("has_turn", default=False)


@contextmanager
def page_turn() -> Iterator[None]:
    """A run of the page within the block, once it is its turn."""
    with _turns():
        token = _HAS_TURN.set(True)
        try:
            yield
        finally:
            _HAS_TURN.reset(token)


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


@lru_cache(maxsize=1)
def _turns() -> Semaphore:
    """The turns of this process."""
    return Semaphore(MAX_RUNS)
