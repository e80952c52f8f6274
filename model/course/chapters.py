"""The chapters of the course, in the order in which they are read."""

from __future__ import annotations

from model.course.architectures.chapter import ARCHITECTURES
from model.course.attention_by_hand.chapter import ATTENTION
from model.course.block.chapter import BLOCK
from model.course.code.chapter import CODE
from model.course.errors.chapter import ERRORS
from model.course.heads.chapter import HEADS
from model.course.language_modeling.chapter import LANGUAGE_MODELING
from model.course.masks.chapter import MASKS
from model.course.modalities.chapter import MODALITIES
from model.course.positions.chapter import POSITIONS
from model.course.screen import Chapter, Screen
from model.course.tokens.chapter import TOKENS
from model.course.variants.chapter import VARIANTS
from model.registry import Registry

CHAPTERS: Registry[Chapter] = Registry(
    "chapter",
    {
        "tokens": TOKENS,
        "positions": POSITIONS,
        "attention": ATTENTION,
        "heads": HEADS,
        "masks": MASKS,
        "block": BLOCK,
        "architectures": ARCHITECTURES,
        "variants": VARIANTS,
        "training": LANGUAGE_MODELING,
        "beyond-text": MODALITIES,
        "code": CODE,
        "errors": ERRORS,
    },
)


def find_screen(chapter: str, screen: str) -> Screen:
    """A screen by the names of its chapter and its own. Raises UnknownNameError."""
    return CHAPTERS[chapter].screens[screen]
