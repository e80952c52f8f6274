"""The chapters of the course, in the order in which they are read."""

from __future__ import annotations

from model.course.attention_by_hand.batches import BATCH, DROPOUT, RANDOM
from model.course.attention_by_hand.content import CONTENT, POSITION, REPEATED
from model.course.attention_by_hand.design import DESIGN, LEARNED
from model.course.attention_by_hand.look_up import LOOK_UP
from model.course.attention_by_hand.projections import PROJECTIONS
from model.course.attention_by_hand.scaling import SCALING
from model.course.attention_by_hand.steps import STEPS
from model.course.heads.chapter import HEADS
from model.course.positions.chapter import POSITIONS
from model.course.screen import Chapter, Screen
from model.course.tokens.chapter import TOKENS
from model.registry import Registry

CHAPTERS: Registry[Chapter] = Registry(
    "chapter",
    {
        "tokens": TOKENS,
        "positions": POSITIONS,
        "attention": Chapter(
            title="Attention by hand",
            summary="Queries, keys and values small enough for a pencil, computed by the code that every model runs.",
            screens=Registry(
                "screen",
                {
                    "look-up": LOOK_UP,
                    "steps": STEPS,
                    "projections": PROJECTIONS,
                    "content": CONTENT,
                    "repeated": REPEATED,
                    "position": POSITION,
                    "design": DESIGN,
                    "learned": LEARNED,
                    "scale": SCALING,
                    "batch": BATCH,
                    "random": RANDOM,
                    "dropout": DROPOUT,
                },
            ),
        ),
        "heads": HEADS,
    },
)


def find_screen(chapter: str, screen: str) -> Screen:
    """A screen by the names of its chapter and its own. Raises UnknownNameError."""
    return CHAPTERS[chapter].screens[screen]
