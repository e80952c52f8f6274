"""The screens of the chapter on architectures, in the order in which they are read."""

from __future__ import annotations

from model.course.architectures.changed_word import CHANGED_WORD
from model.course.architectures.configurations import CONFIGURATIONS, ONE_TO_ANOTHER
from model.course.architectures.cross_attention import CROSS_ATTENTION
from model.course.architectures.cross_by_hand import CROSS_BY_HAND
from model.course.architectures.earlier_tools import EARLIER_TOOLS
from model.course.architectures.no_assistant import NO_ASSISTANT
from model.course.architectures.output_heads import OUTPUT_HEADS
from model.course.architectures.question_answering import QUESTION_ANSWERING
from model.course.architectures.same_gap import SAME_GAP
from model.course.architectures.summary import SUMMARY
from model.course.architectures.three_shapes import THREE_SHAPES
from model.course.architectures.which_task import WHICH_TASK
from model.course.screen import Chapter
from model.registry import Registry

ARCHITECTURES = Chapter(
    title="Architectures",
    summary="Encoder, decoder, or both: the same block joined in three ways, and which task needs which.",
    screens=Registry(
        "screen",
        {
            "three-shapes": THREE_SHAPES,
            "cross-by-hand": CROSS_BY_HAND,
            "cross-attention": CROSS_ATTENTION,
            "same-gap": SAME_GAP,
            "changed-word": CHANGED_WORD,
            "earlier-tools": EARLIER_TOOLS,
            "which-task": WHICH_TASK,
            "output-heads": OUTPUT_HEADS,
            "question-answering": QUESTION_ANSWERING,
            "summary": SUMMARY,
            "configurations": CONFIGURATIONS,
            "one-to-another": ONE_TO_ANOTHER,
            "no-assistant": NO_ASSISTANT,
        },
    ),
)
