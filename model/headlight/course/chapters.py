"""The chapters of the course, in the order in which they are read."""

from __future__ import annotations

from headlight.course.architectures.chapter import ARCHITECTURES
from headlight.course.attention_by_hand.chapter import ATTENTION
from headlight.course.block.chapter import BLOCK
from headlight.course.code.chapter import CODE
from headlight.course.errors.chapter import ERRORS
from headlight.course.heads.chapter import HEADS
from headlight.course.language_modeling.chapter import LANGUAGE_MODELING
from headlight.course.masks.chapter import MASKS
from headlight.course.modalities.chapter import MODALITIES
from headlight.course.positions.chapter import POSITIONS
from headlight.course.screen import Chapter, Screen
from headlight.course.tokens.chapter import TOKENS
from headlight.course.variants.chapter import VARIANTS
from headlight.registry import Registry

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

# The path for a first reading, `chapter/screen`: from what attention is to a model that writes.
CORE_PATH = (
    "attention/look-up",
    "tokens/tokenizers",
    "tokens/one-hot",
    "attention/steps",
    "attention/projections",
    "attention/scale",
    "positions/order",
    "positions/waves",
    "masks/added",
    "masks/before-after",
    "heads/cut",
    "heads/cost",
    "block/residual",
    "block/layer-norm",
    "block/feed-forward",
    "block/switch-off",
    "architectures/three-shapes",
    "architectures/changed-word",
    "training/shifted-targets",
    "training/ladder",
)


def find_screen(chapter: str, screen: str) -> Screen:
    """A screen by the names of its chapter and its own. Raises UnknownNameError."""
    return CHAPTERS[chapter].screens[screen]
