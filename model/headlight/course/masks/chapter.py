"""The chapter on masks."""

from __future__ import annotations

from headlight.course.masks.broadcasting import BROADCAST
from headlight.course.masks.look_ahead import CHEATING, LIFTED
from headlight.course.masks.matrices import ADDED, BEFORE_AFTER, DRAWN
from headlight.course.screen import Chapter
from headlight.registry import Registry

MASKS = Chapter(
    title="Masks",
    summary="Who may look at whom: causal, padding, window or drawn by hand, and what goes wrong with them.",
    screens=Registry(
        "screen",
        {
            "added": ADDED,
            "before-after": BEFORE_AFTER,
            "drawn": DRAWN,
            "broadcast": BROADCAST,
            "lifted": LIFTED,
            "cheating": CHEATING,
        },
    ),
)
