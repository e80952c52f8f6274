"""Which visitors have the page open: each of them has a queue of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from cachetools import TTLCache

MAX_NEWCOMERS = 40  # visitors per address and NEWCOMER_SECONDS with their own queue before a page is open
NEWCOMER_SECONDS = 600
MAX_ADDRESSES = 10_000  # remembered


class Presence:
    """The open page sessions of each visitor."""

    def __init__(self) -> None:
        self.sessions: dict[str, set[str]] = {}
        self.newcomers: TTLCache[str, set[str]] = TTLCache(MAX_ADDRESSES, NEWCOMER_SECONDS)
        self.lock = Lock()

    def mark_seen(self, visitor: str, session: str) -> None:
        """Record that a session belongs to a visitor."""
        with self.lock:
            if visitor:
                self.sessions.setdefault(visitor, set()).add(session)

    def has_turn(self, visitor: str, address: str) -> bool:
        """Whether a visitor has their own queue: they have the page open, or are among the address's first newcomers.

        A client can fetch any number of cookies, so a cookie alone is not enough.
        """
        with self.lock:
            if not visitor or visitor in self.sessions:
                return bool(visitor)
            newcomers = self.newcomers.setdefault(address, set())
            if len(newcomers) < MAX_NEWCOMERS:
                newcomers.add(visitor)
            return visitor in newcomers

    def is_here(self, visitor: str) -> bool:
        """Whether a visitor has the page open."""
        with self.lock:
            return visitor in self.sessions

    def count(self) -> int:
        """How many visitors have the page open."""
        with self.lock:
            return len(self.sessions)

    def sweep(self, is_alive: Callable[[str], bool]) -> None:
        """Forget sessions that have ended."""
        with self.lock:
            alive = {visitor: {*filter(is_alive, sessions)} for visitor, sessions in self.sessions.items()}
            self.sessions = {visitor: sessions for visitor, sessions in alive.items() if sessions}


@lru_cache(maxsize=1)
def presence() -> Presence:
    """The one instance of this process."""
    return Presence()
