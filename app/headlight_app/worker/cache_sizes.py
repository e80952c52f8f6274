"""What the caches of a worker keep while nobody asks: enough for the next letter, not for a class."""

from __future__ import annotations

from headlight_app.inference.prefix_cache import prefix_cache
from headlight_app.inference.resolved_question import shrink_results
from headlight_app.inference.trace_cache import trace_cache

RESTING_BYTES = 16 << 20  # of each cache; the last run and the last prefix are kept even if they are larger


def shrink_caches() -> None:
    """Drop the least recently used results."""
    trace_cache().shrink(RESTING_BYTES)
    prefix_cache().shrink(RESTING_BYTES)
    shrink_results(RESTING_BYTES)
