"""Which visitors have the page open, and so a turn of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from cachetools import TTLCache

MAX_NEWCOMERS = 40  # of an address within NEWCOMER_SECONDS who have a turn though no page of theirs is open
NEWCOMER_SECONDS = 600
MAX_ADDRESSES = 10_000  # that are remembered


class Presence:
    """The open sessions of the page of each visitor."""

    def __init__(self) -> None:
        self.sessions: dict[str, set[str]] = {}
        self.newcomers: TTLCache[str, set[str]] = TTLCache(MAX_ADDRESSES, NEWCOMER_SECONDS)
        self.lock = Lock()

    def mark_seen(self, visitor: str, session: str) -> None:
        """A session is a visitor's."""
        with self.lock:
            if visitor:
                self.sessions.setdefault(visitor, set()).add(session)

    def has_turn(self, visitor: str, address: str) -> bool:
        """Whether a visitor has a turn of their own: they have the page open, or are among the first without it.

        Anybody can fetch as many cookies as they like, so a cookie alone is not enough.
        """
        with self.lock:
            if not visitor or visitor in self.sessions:
                return bool(visitor)
            newcomers = self.newcomers.setdefault(address, set())
            if len(newcomers) < MAX_NEWCOMERS:
                newcomers.add(visitor)
            return visitor in newcomers

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
    """The one register of this process."""
    return Presence()
