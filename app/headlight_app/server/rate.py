"""How fast something may come from each visitor or address."""

from __future__ import annotations

from time import monotonic

from cachetools import TTLCache

MAX_REMEMBERED = 10_000  # visitors and addresses
MAX_WAIT = 10.0  # seconds; what would wait longer is not counted, and its caller refuses it or delays it so long


class Rate:
    """An amount per second, and more at once after a pause: the generic cell rate algorithm (ITU-T I.371)."""

    def __init__(self, per_second: float, at_once: float) -> None:
        self.per_second, self.at_once = per_second, at_once
        # For each name, the time at which all until now would have come at this rate.
        self.through_at: TTLCache[str, float] = TTLCache(MAX_REMEMBERED, at_once / per_second + MAX_WAIT)

    def wait(self, name: str, amount: float = 1.0) -> float:
        """Count an amount, and return the seconds that it has to wait."""
        now = monotonic()
        through_at = max(self.through_at.get(name, now), now) + amount / self.per_second
        wait = max(0.0, through_at - now - self.at_once / self.per_second)
        if wait <= MAX_WAIT:
            self.through_at[name] = through_at
        return wait
