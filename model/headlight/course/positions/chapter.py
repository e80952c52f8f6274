"""Chapter 2."""

from __future__ import annotations

from headlight.course.positions.measured import MEASURED
from headlight.course.positions.order_screens import ORDER
from headlight.course.positions.scheme_screens import ALIBI, BUCKETS, LEARNED, ROPE
from headlight.course.positions.wave_screens import BANDS, ROTATION, UNIQUE, WAVES
from headlight.course.screen import Chapter
from headlight.registry import Registry

POSITIONS = Chapter(
    title="Positions",
    summary="Why order has to be told to attention, and the ways of telling it.",
    screens=Registry(
        "screen",
        {
            "order": ORDER,
            "waves": WAVES,
            "unique": UNIQUE,
            "rotation": ROTATION,
            "bands": BANDS,
            "learned": LEARNED,
            "rope": ROPE,
            "alibi": ALIBI,
            "buckets": BUCKETS,
            "measured": MEASURED,
        },
    ),
)
