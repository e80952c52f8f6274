"""Page runs take turns: one at a time computes; next comes the visitor whose last run is longest ago.

Each run of the Streamlit script is a thread, and all threads share the interpreter lock. If two hundred run at once,
each ends only when the last one does, and the event loop that forwards keystrokes waits for all of them. Even one run
after another would slow it down. So while visitors type, a run that was waited for is followed by a rest of its length.
Another thread sends the output of the runs to the browsers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from threading import Event, Lock
from time import monotonic, sleep, thread_time

from cachetools import LRUCache

MAX_COUNTED = 10_000  # visitors whose runs are counted
MAX_REST = 0.1  # seconds
TYPING_SECONDS = 0.25  # since the last question of a component, while visitors count as typing


@dataclass(frozen=True)
class Runs:
    """The page runs of a visitor: how many have ended, and when the last one was asked for."""

    ended: int
    last_at: float


@dataclass
class Turn:
    """One visitor's turn: its place in the order of turns, and the time of its thread when it was taken."""

    place: tuple[float, int]
    taken_at: float = 0.0


class Turns:
    """The turns of one process."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.runs: LRUCache[str, Runs] = LRUCache(MAX_COUNTED)
        self.numbers = count()
        self.waiting: list[tuple[tuple[float, int], Event]] = []  # a heap
        self.is_taken = False
        self.rest_until = self.asked_at = 0.0

    def new(self, visitor: str) -> Turn:
        """A turn that is not taken yet. The place of a new visitor is after those who are waiting."""
        with self.lock:
            now = monotonic()
            runs = self.runs.get(visitor, Runs(0, now))
            self.runs[visitor] = Runs(runs.ended, now)
            return Turn((runs.last_at, next(self.numbers)))

    def take(self, turn: Turn) -> None:
        """Wait until the turn comes."""
        with self.lock:
            if is_free := not self.is_taken:
                self.is_taken = True
            else:
                called = Event()
                heappush(self.waiting, (turn.place, called))
        if not is_free:
            called.wait()
            sleep(max(0.0, self.rest_until - monotonic()))
        turn.taken_at = thread_time()

    def give_back(self, turn: Turn) -> None:
        """End a turn, and call the next one."""
        with self.lock:
            if not self.waiting:
                self.is_taken = False
                return
            now = monotonic()
            is_typing = now - self.asked_at < TYPING_SECONDS
            self.rest_until = now + min(thread_time() - turn.taken_at, MAX_REST) if is_typing else now
            _, called = heappop(self.waiting)
            called.set()

    def count(self, visitor: str) -> None:
        """Record that a page run of a visitor has ended."""
        with self.lock:
            runs = self.runs.get(visitor, Runs(0, monotonic()))
            self.runs[visitor] = Runs(runs.ended + 1, runs.last_at)

    def runs_ended(self, visitor: str) -> int:
        """How many page runs of a visitor have ended."""
        with self.lock:
            return self.runs.get(visitor, Runs(0, 0.0)).ended


@contextmanager
def page_turn(visitor: str) -> Iterator[None]:
    """Wait for a turn, then run the block as this visitor's page run."""
    turns = _turns()
    turn = turns.new(visitor)
    turns.take(turn)
    token = _TURN.set(turn)
    try:
        yield
    finally:
        _TURN.reset(token)
        turns.give_back(turn)
        turns.count(visitor)


@contextmanager
def without_turn() -> Iterator[None]:
    """Give up the turn while the block waits, so that other page runs continue, then take it again."""
    turn = _TURN.get()
    if turn is None:
        yield
        return
    _turns().give_back(turn)
    try:
        yield
    finally:
        _turns().take(turn)


def note_question() -> None:
    """Record that a component has asked a question: somebody types."""
    _turns().asked_at = monotonic()


def runs_ended(visitor: str) -> int:
    """How many page runs of this visitor have ended; reset to 0 after MAX_COUNTED other visitors."""
    return _turns().runs_ended(visitor)


_TURN: ContextVar[Turn | None] = ContextVar("turn", default=None)


@lru_cache(maxsize=1)
def _turns() -> Turns:
    """The turns of this process."""
    return Turns()
