"""The screens of the chapter on blocks, in the order in which they are read."""

from __future__ import annotations

from headlight.course.block.averages import AVERAGES
from headlight.course.block.calculator import CALCULATOR
from headlight.course.block.diagram import DIAGRAM
from headlight.course.block.feed_forward import FEED_FORWARD
from headlight.course.block.gradients import GRADIENTS
from headlight.course.block.last_steps import LAST_STEPS
from headlight.course.block.layer_norm import LAYER_NORM
from headlight.course.block.neurons import NEURONS
from headlight.course.block.norm_placement import NORM_PLACEMENT
from headlight.course.block.recurrence.attention_alone import ATTENTION_ALONE
from headlight.course.block.recurrence.path_length import PATH_LENGTH
from headlight.course.block.recurrence.sequential_steps import SEQUENTIAL_STEPS
from headlight.course.block.residual import RESIDUAL
from headlight.course.block.switch_off import SWITCH_OFF
from headlight.course.screen import Chapter
from headlight.registry import Registry

BLOCK = Chapter(
    title="The block",
    summary="Attention averages. What a block has besides it, what each part is for, and what it all costs.",
    screens=Registry(
        "screen",
        {
            "diagram": DIAGRAM,
            "averages": AVERAGES,
            "feed-forward": FEED_FORWARD,
            "neurons": NEURONS,
            "residual": RESIDUAL,
            "layer-norm": LAYER_NORM,
            "norm-placement": NORM_PLACEMENT,
            "last-steps": LAST_STEPS,
            "switch-off": SWITCH_OFF,
            "gradients": GRADIENTS,
            "path-length": PATH_LENGTH,
            "attention-alone": ATTENTION_ALONE,
            "sequential-steps": SEQUENTIAL_STEPS,
            "calculator": CALCULATOR,
        },
    ),
)
