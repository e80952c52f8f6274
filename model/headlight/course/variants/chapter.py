"""The screens of the chapter on variants, in the order in which they are read."""

from __future__ import annotations

from headlight.course.screen import Chapter
from headlight.course.variants.functions import FUNCTIONS, TEMPERATURE
from headlight.course.variants.in_a_model import FUNCTIONS_IN_MODEL, TEMPERATURE_IN_MODEL
from headlight.course.variants.linear_attention import CAUSAL, COST, SAME_NUMBERS
from headlight.registry import Registry

VARIANTS = Chapter(
    title="Variants",
    summary="Softmax is one way from scores to weights. Others are harder, softer or cheaper.",
    screens=Registry(
        "screen",
        {
            "functions": FUNCTIONS,
            "functions-in-a-model": FUNCTIONS_IN_MODEL,
            "temperature": TEMPERATURE,
            "temperature-in-a-model": TEMPERATURE_IN_MODEL,
            "linear": SAME_NUMBERS,
            "linear-causal": CAUSAL,
            "cost": COST,
        },
    ),
)
