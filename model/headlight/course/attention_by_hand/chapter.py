"""The chapter on attention by hand."""

from __future__ import annotations

from headlight.course.attention_by_hand.batches import BATCH, DROPOUT, RANDOM
from headlight.course.attention_by_hand.content import CONTENT, POSITION
from headlight.course.attention_by_hand.design import DESIGN
from headlight.course.attention_by_hand.look_up import LOOK_UP
from headlight.course.attention_by_hand.moving import MOVING
from headlight.course.attention_by_hand.projections import PROJECTIONS
from headlight.course.attention_by_hand.scaling import SCALING
from headlight.course.attention_by_hand.steps import STEPS
from headlight.course.screen import Chapter
from headlight.registry import Registry

ATTENTION = Chapter(
    title="Attention by hand",
    summary="Queries, keys and values small enough for a pencil, computed by the code that every model runs.",
    screens=Registry(
        "screen",
        {
            "look-up": LOOK_UP,
            "steps": STEPS,
            "projections": PROJECTIONS,
            "moving": MOVING,
            "content": CONTENT,
            "position": POSITION,
            "design": DESIGN,
            "scale": SCALING,
            "batch": BATCH,
            "random": RANDOM,
            "dropout": DROPOUT,
        },
    ),
)
