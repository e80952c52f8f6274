"""Chapter 4."""

from __future__ import annotations

from headlight.course.heads.screens import COSTS, CUTTING, JOINING, WIDTHS
from headlight.course.screen import Chapter
from headlight.registry import Registry

HEADS = Chapter(
    title="Heads",
    summary="Attention in several parts: how they are cut, joined and paid for.",
    screens=Registry(
        "screen",
        {"cut": CUTTING, "join": JOINING, "cost": COSTS, "widths": WIDTHS},
    ),
)
