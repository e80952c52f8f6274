"""Bounds what strangers can make the server write into its log."""

from __future__ import annotations

import logging
from functools import lru_cache
from time import monotonic

from cachetools import LRUCache

LINES, SECONDS = 20, 60.0  # of one kind of message
MAX_KINDS = 256
OF_STRANGERS = ("asyncio", "uvicorn.error", "websockets.server", "headlight_app.server.connections.sessions")  # loggers


class RateLimit(logging.Filter):
    """Passes the first LINES messages of a kind in each SECONDS; the next one that passes counts those left out."""

    def __init__(self) -> None:
        super().__init__()
        self.windows: LRUCache[tuple[str, object], tuple[float, int]] = LRUCache(MAX_KINDS)  # start, and messages since
        self.left_out = 0  # since the start

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message passes."""
        kind, now = (record.name, record.msg), monotonic()
        start, count = self.windows.get(kind, (now, 0))
        if now - start >= SECONDS:
            if left_out := max(0, count - LINES):
                record.msg = f"{record.msg} ({left_out:,} more messages like this one were left out)"
            start, count = now, 0
        self.windows[kind] = (start, count + 1)
        self.left_out += count >= LINES
        return count < LINES


@lru_cache(maxsize=1)
def log_limit() -> RateLimit:
    """The one filter of this process."""
    return RateLimit()


def limit_log() -> None:
    """Bound the messages about connections, which anyone can cause."""
    for name in OF_STRANGERS:
        logging.getLogger(name).addFilter(log_limit())
