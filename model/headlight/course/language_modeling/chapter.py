"""The screens of the chapter on training objectives, in the order in which they are read."""

from __future__ import annotations

from headlight.course.language_modeling.ladder import LADDER
from headlight.course.language_modeling.masking import MASKING
from headlight.course.language_modeling.next_token import ANY_WORD, SHIFTED_TARGETS
from headlight.course.language_modeling.pretraining import PRETRAINING
from headlight.course.screen import Chapter
from headlight.registry import Registry

LANGUAGE_MODELING = Chapter(
    title="Masked and next-token training",
    summary="What models are asked while they learn, on your own sentence.",
    screens=Registry(
        "screen",
        {
            "shifted-targets": SHIFTED_TARGETS,
            "masking": MASKING,
            "any-word": ANY_WORD,
            "ladder": LADDER,
            "pretraining": PRETRAINING,
        },
    ),
)
