"""Chapter 4."""

from __future__ import annotations

from model.course.heads.screens import COSTS, CUTTING, JOINING, TWO_STACKS, WIDTHS
from model.course.screen import Chapter
from model.registry import Registry

HEADS = Chapter(
    title="Heads",
    summary="Attention in several parts: how they are cut, joined and paid for.",
    screens=Registry(
        "screen",
        {"cut": CUTTING, "join": JOINING, "cost": COSTS, "widths": WIDTHS, "two-stacks": TWO_STACKS},
    ),
)
