"""The chapters of the course and their screens, in the order in which they are read."""

from __future__ import annotations

from headlight.course.architectures import (
    asked_decoder,
    cross_attention,
    earlier_tools,
    encoder_beside_decoder,
    model_tables,
    output_heads,
    summary,
    three_shapes,
)
from headlight.course.attention_by_hand import batches, content, design, projections, scaling, steps, who_wrote
from headlight.course.block import averages, feed_forward, last_steps, parameters, residual, switch_off
from headlight.course.block.recurrence import attention_alone, by_hand, path_length
from headlight.course.code import screens as code
from headlight.course.errors import channels, claims, missing_names
from headlight.course.explore_tasks import TASKS
from headlight.course.first_reading import heads as many_heads
from headlight.course.first_reading import layers, looking, mask, scores, tokens, writing
from headlight.course.first_reading import positions as first_positions
from headlight.course.heads import screens as heads
from headlight.course.language_modeling import ladder, objectives, pretraining
from headlight.course.masks import look_ahead, matrices
from headlight.course.modalities import (
    graph_screens,
    melody_screen,
    patches,
    protein_screen,
    sequences,
    sound_screen,
    vision_models,
)
from headlight.course.positions import measured, order_screens, scheme_screens, waves
from headlight.course.screen import Chapter, Screen
from headlight.course.tokens import learning_screens, model_screens, split_screens
from headlight.course.variants import functions, linear_attention
from headlight.registry import Registry


def _chapter(title: str, summary: str, screens: dict[str, Screen]) -> Chapter:
    return Chapter(title=title, summary=summary, screens=Registry("screen", screens))


FIRST_READING = "first-reading"
CHAPTERS: Registry[Chapter] = Registry(
    "chapter",
    {
        FIRST_READING: _chapter(
            "How attention works",
            "Twenty screens, nearly all on trained models, each needed by the next: from one row of a head to a model "
            "that writes.",
            {
                "look": looking.LOOK,
                "take": looking.TAKE,
                "tokens": tokens.SPLIT,
                "vectors": tokens.VECTORS,
                "softmax": scores.SOFTMAX,
                "one-sided": scores.ONE_SIDED,
                "scale": scores.SCALED,
                "order": order_screens.ORDER,
                "position-vectors": first_positions.VECTORS,
                "without-positions": first_positions.WITHOUT_POSITIONS,
                "mask": mask.WHY_A_MASK,
                "mask-added": matrices.ADDED,
                "heads": many_heads.TWO_HEADS,
                "side-by-side": many_heads.SIDE_BY_SIDE,
                "layers": layers.TWO_LAYERS,
                "stream": layers.STREAM,
                "networks": layers.NETWORKS,
                "changed-word": encoder_beside_decoder.CHANGED_WORD,
                "targets": writing.TARGETS,
                "writers": writing.TWO_WRITERS,
            },
        ),
        "tokens": _chapter(
            "Tokens and embeddings",
            "How a text becomes numbers, and how numbers come to mean something.",
            {
                "tokenizers": split_screens.TOKENIZERS,
                "merges": split_screens.MERGES,
                "lookup": split_screens.LOOK_UP,
                "one-hot": model_screens.ONE_HOT,
                "neighbours-in-text": learning_screens.PAIRS,
                "ngrams": learning_screens.NGRAMS,
                "next-word": learning_screens.NEXT_WORD,
                "sum": model_screens.SUM,
                "context": model_screens.CONTEXT,
                "sentences": model_screens.TEXTS,
                "task": TASKS["tokens"],
            },
        ),
        "positions": _chapter(
            "Positions",
            "Why attention needs to be given the order of tokens, and the ways to encode it.",
            {
                "order": order_screens.ORDER,
                "waves": waves.WAVES,
                "rotation": waves.ROTATION,
                "bands": waves.BANDS,
                "learned": scheme_screens.LEARNED,
                "rope": scheme_screens.ROPE,
                "alibi": scheme_screens.ALIBI,
                "buckets": scheme_screens.BUCKETS,
                "measured": measured.MEASURED,
                "task": TASKS["positions"],
            },
        ),
        "attention": _chapter(
            "Attention by hand",
            "Queries, keys and values small enough for a pencil, computed by the code that every model runs.",
            {
                "look-up": steps.LOOK_UP,
                "steps": steps.STEPS,
                "projections": projections.PROJECTIONS,
                "moving": projections.MOVING,
                "content": content.CONTENT,
                "position": content.POSITION,
                "design": design.DESIGN,
                "scale": scaling.SCALING,
                "batch": batches.BATCH,
                "dropout": batches.DROPOUT,
                "ledger": who_wrote.WHO_WROTE,
                "task": TASKS["attention"],
            },
        ),
        "heads": _chapter(
            "Heads",
            "Attention in several parts: how channels are split and concatenated, and what that costs.",
            {
                "cut": heads.CUTTING,
                "join": heads.JOINING,
                "cost": heads.COSTS,
                "widths": heads.WIDTHS,
                "task": TASKS["heads"],
            },
        ),
        "masks": _chapter(
            "Masks",
            "Which tokens may look at which: causal, padding, window and hand-drawn masks, and common mistakes with "
            "them.",
            {
                "added": matrices.ADDED,
                "before-after": matrices.BEFORE_AFTER,
                "broadcast": matrices.BROADCAST,
                "lifted": look_ahead.LIFTED,
                "cheating": look_ahead.CHEATING,
                "task": TASKS["masks"],
            },
        ),
        "block": _chapter(
            "The block",
            "Attention only averages. What else is in a block, what each part does, and what it all costs.",
            {
                "diagram": parameters.DIAGRAM,
                "averages": averages.AVERAGES,
                "feed-forward": feed_forward.FEED_FORWARD,
                "residual": residual.RESIDUAL,
                "layer-norm": residual.LAYER_NORM,
                "norm-placement": residual.NORM_PLACEMENT,
                "last-steps": last_steps.LAST_STEPS,
                "switch-off": switch_off.SWITCH_OFF,
                "gradients": switch_off.GRADIENTS,
                "recurrence": by_hand.RECURRENCE,
                "path-length": path_length.PATH_LENGTH,
                "attention-alone": attention_alone.ATTENTION_ALONE,
                "sequential-steps": path_length.SEQUENTIAL_STEPS,
                "calculator": parameters.CALCULATOR,
                "task": TASKS["block"],
            },
        ),
        "architectures": _chapter(
            "Architectures",
            "Encoder, decoder, or both: the same block joined in three ways, and which task needs which.",
            {
                "three-shapes": three_shapes.THREE_SHAPES,
                "cross-attention": cross_attention.CROSS_ATTENTION,
                "same-gap": encoder_beside_decoder.SAME_GAP,
                "changed-word": encoder_beside_decoder.CHANGED_WORD,
                "earlier-tools": earlier_tools.EARLIER_TOOLS,
                "which-task": model_tables.WHICH_TASK,
                "output-heads": output_heads.OUTPUT_HEADS,
                "question-answering": asked_decoder.QUESTION_ANSWERING,
                "summary": summary.SUMMARY,
                "configurations": model_tables.CONFIGURATIONS,
                "no-assistant": asked_decoder.NO_ASSISTANT,
                "task": TASKS["architectures"],
            },
        ),
        "variants": _chapter(
            "Variants",
            "Softmax is one way to turn scores into weights. Others are harder, softer or cheaper.",
            {
                "functions": functions.FUNCTIONS,
                "temperature": functions.TEMPERATURE,
                "linear": linear_attention.LINEAR,
                "cost": linear_attention.COST,
                "task": TASKS["variants"],
            },
        ),
        "training": _chapter(
            "Masked and next-token training",
            "What models predict during training, on your own sentence.",
            {
                "shifted-targets": objectives.SHIFTED_TARGETS,
                "masking": objectives.MASKING,
                "ladder": ladder.LADDER,
                "pretraining": pretraining.PRETRAINING,
                "task": TASKS["training"],
            },
        ),
        "beyond-text": _chapter(
            "Beyond text",
            "Images, molecules, sounds and proteins are sequences of vectors, too.",
            {
                "sequences": sequences.SEQUENCES,
                "patches": patches.PATCHES,
                "vision-model": vision_models.VISION_MODEL,
                "caption": vision_models.CAPTION,
                "graph": graph_screens.GRAPH,
                "sound": sound_screen.SOUND,
                "melody": melody_screen.MELODY,
                "protein": protein_screen.PROTEIN,
            },
        ),
        "code": _chapter(
            "Exercises in code",
            "Four functions to write, and a check that names the mistake behind a wrong number.",
            {
                "write": code.WRITE,
            },
        ),
        "errors": _chapter(
            "Common mistakes about attention",
            "Widespread claims that are wrong, each with a number that shows it, and further reading.",
            {
                "claims": claims.OVERVIEW,
                "pairs": channels.PAIRS,
                "decoders": look_ahead.DECODERS,
                "missing-names": missing_names.MISSING_NAMES,
            },
        ),
    },
)

# The path for a first reading, `chapter/screen`, in the order of its chapter.
CORE_PATH = tuple(f"{FIRST_READING}/{name}" for name in CHAPTERS[FIRST_READING].screens)
# Screens of two chapters: the address on the path, and that of the chapter which goes deeper. A learner's progress and
# the answers of a class are kept under the second one.
SAME = {
    f"{FIRST_READING}/{name}": f"{chapter}/{other}"
    for name, screen in CHAPTERS[FIRST_READING].screens.items()
    for chapter, row in CHAPTERS.items()
    for other, each in row.screens.items()
    if each is screen and chapter != FIRST_READING
}
# What a learner may want to know, and the screen that answers it.
ENTRIES = {
    "What does attention do?": "first-reading/look",
    "Does order matter?": "first-reading/order",
    "What does a mask do?": "first-reading/mask",
    "Why many heads?": "first-reading/heads",
    "Why several layers?": "first-reading/layers",
    "How does a model learn?": "first-reading/targets",
}


def find_screen(chapter: str, screen: str) -> Screen:
    """A screen by its chapter's name and its own. Raises UnknownNameError."""
    return CHAPTERS[chapter].screens[screen]
