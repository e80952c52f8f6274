"""The screens of the chapter on blocks, in the order in which they are read."""

from __future__ import annotations

from model.course.block.averages import AVERAGES, AVERAGES_IN_MODEL
from model.course.block.calculator import CALCULATOR
from model.course.block.diagram import DIAGRAM
from model.course.block.feed_forward import FEED_FORWARD
from model.course.block.gradients import GRADIENTS
from model.course.block.last_steps import LAST_STEPS
from model.course.block.layer_norm import LAYER_NORM
from model.course.block.neurons import NEURONS
from model.course.block.norm_placement import NORM_PLACEMENT
from model.course.block.recurrence.attention_alone import ATTENTION_ALONE
from model.course.block.recurrence.path_length import PATH_LENGTH
from model.course.block.recurrence.sequential_steps import SEQUENTIAL_STEPS
from model.course.block.residual import RESIDUAL
from model.course.block.switch_off import SWITCH_OFF
from model.course.screen import Chapter
from model.registry import Registry

BLOCK = Chapter(
    title="The block",
    summary="Attention averages. What a block has besides it, what each part is for, and what it all costs.",
    screens=Registry(
        "screen",
        {
            "diagram": DIAGRAM,
            "averages": AVERAGES,
            "averages-in-a-model": AVERAGES_IN_MODEL,
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
