"""The screens of the chapter on variants, in the order in which they are read."""

from __future__ import annotations

from headlight.course.screen import Chapter
from headlight.course.variants.functions import FUNCTIONS, TEMPERATURE
from headlight.course.variants.linear_attention import CAUSAL, COST, SAME_NUMBERS
from headlight.registry import Registry

VARIANTS = Chapter(
    title="Variants",
    summary="Softmax is one way from scores to weights. Others are harder, softer or cheaper.",
    screens=Registry(
        "screen",
        {
            "functions": FUNCTIONS,
            "temperature": TEMPERATURE,
            "linear": SAME_NUMBERS,
            "linear-causal": CAUSAL,
            "cost": COST,
        },
    ),
)
