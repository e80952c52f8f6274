"""The chapters of the course, in the order in which they are read."""

from __future__ import annotations

from model.course.attention_by_hand.look_up import LOOK_UP
from model.course.screen import Chapter, Screen
from model.registry import Registry

CHAPTERS: Registry[Chapter] = Registry(
    "chapter",
    {
        "attention": Chapter(
            title="Attention by hand",
            summary="Queries, keys and values small enough for a pencil, computed by the code that every model runs.",
            screens=Registry("screen", {"look-up": LOOK_UP}),
        ),
    },
)


def find_screen(chapter: str, screen: str) -> Screen:
    """A screen by the names of its chapter and its own. Raises UnknownNameError."""
    return CHAPTERS[chapter].screens[screen]
