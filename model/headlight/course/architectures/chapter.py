"""The screens of the chapter on architectures, in the order in which they are read."""

from __future__ import annotations

from headlight.course.architectures.changed_word import CHANGED_WORD
from headlight.course.architectures.configurations import CONFIGURATIONS
from headlight.course.architectures.cross_attention import CROSS_ATTENTION
from headlight.course.architectures.earlier_tools import EARLIER_TOOLS
from headlight.course.architectures.no_assistant import NO_ASSISTANT
from headlight.course.architectures.output_heads import OUTPUT_HEADS
from headlight.course.architectures.question_answering import QUESTION_ANSWERING
from headlight.course.architectures.same_gap import SAME_GAP
from headlight.course.architectures.summary import SUMMARY
from headlight.course.architectures.three_shapes import THREE_SHAPES
from headlight.course.architectures.which_task import WHICH_TASK
from headlight.course.screen import Chapter
from headlight.registry import Registry

ARCHITECTURES = Chapter(
    title="Architectures",
    summary="Encoder, decoder, or both: the same block joined in three ways, and which task needs which.",
    screens=Registry(
        "screen",
        {
            "three-shapes": THREE_SHAPES,
            "cross-attention": CROSS_ATTENTION,
            "same-gap": SAME_GAP,
            "changed-word": CHANGED_WORD,
            "earlier-tools": EARLIER_TOOLS,
            "which-task": WHICH_TASK,
            "output-heads": OUTPUT_HEADS,
            "question-answering": QUESTION_ANSWERING,
            "summary": SUMMARY,
            "configurations": CONFIGURATIONS,
            "no-assistant": NO_ASSISTANT,
        },
    ),
)
