"""A budget for the last messages of sessions, which Streamlit keeps, also some time after a page is closed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

from headlight_app.access.visitor import CURRENT_ADDRESS, CURRENT_VISITOR

# Bytes of the last messages of all sessions; Streamlit keeps about nine times that.
SMALL_MESSAGE = 16 << 10  # each session has that, as pages without long texts send less
VISITOR_HELD, ADDRESS_HELD, ALL_HELD = 2 << 20, 8 << 20, 64 << 20  # beyond
KEPT_SECONDS = 120.0  # for which Streamlit keeps a session whose page is closed


class HeldMessage:
    """The last message of the current session; `held` counts the bytes of all, by who has a limit."""

    def __init__(self, held: Counter[str]) -> None:
        visitor, address = CURRENT_VISITOR.get(), CURRENT_ADDRESS.get()
        self.held, self.size = held, 0
        self.limits = {f"visitor {visitor or address}": VISITOR_HELD, f"at {address}": ADDRESS_HELD, "all": ALL_HELD}

    def replace(self, message: bytes) -> bool:
        """Hold a message in place of the last one. Whether there is room for it."""
        size = max(0, len(message) - SMALL_MESSAGE)
        self._add(self.limits, size - self.size)
        self.size = size
        return not size or all(self.held[name] <= limit for name, limit in self.limits.items())

    def release(self) -> None:
        """Forget it: at once for its visitor, whose page is closed, and for the others once Streamlit has."""
        visitor, *others = self.limits
        self._add([visitor], -self.size)
        if self.size:
            asyncio.get_running_loop().call_later(KEPT_SECONDS, self._add, others, -self.size)

    def _add(self, names: Iterable[str], more: int) -> None:
        for name in names:
            self.held[name] += more
            if not self.held[name]:
                del self.held[name]
