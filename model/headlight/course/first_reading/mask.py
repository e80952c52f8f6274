"""Why a mask: it is lifted from a trained model, and a model that was trained without one."""

from __future__ import annotations

import numpy as np

from headlight.checkpoints import Checkpoint
from headlight.course.controls import TextControl
from headlight.course.first_reading.reading import MODEL, guesses, head_for, head_title, losses, map_of, read
from headlight.course.language_modeling.ladder import shipped_rung, whole_losses, writing_losses
from headlight.course.masks.look_ahead import told_of_lifted
from headlight.course.screen import Screen, ScreenRows, compare_link, link
from headlight.nn.masks import MASKS, causal
from headlight.nn.transformer import variant
from headlight.questions.asking import ask_direction
from headlight.views.forms import bars
from headlight.views.rows import row

NOTABLE = 0.1  # nats
CHEAT, HONEST = "ladder-4-feed-forward", "ladder-5-mask"


def why_a_mask(text: str, model: Checkpoint) -> ScreenRows:
    """A model with its mask and without it, and two models that were trained with one and without one."""
    own = read(model, text)
    lifted = read(model, text, network=variant(model.model, masks="none"))
    place, _ = head_for(own, "previous")
    means = [float(losses(trace).mean()) for trace in (own, lifted)]
    wanted = np.array(own.text.ids[1:])
    right = [int((guesses(trace) == wanted).sum()) for trace in (own, lifted)]
    cheat, honest = map(shipped_rung, (CHEAT, HONEST))
    copied = read(cheat, text)
    looks_ahead, share = head_for(copied, "next")
    reading, writing = (float(measure(cheat, text).mean()) for measure in (whole_losses, writing_losses))
    return (
        row(
            map_of(own, place),
            text="Half of the map is empty: no token looks at one that comes after it. A mask forbids it.",
        ),
        row(
            map_of(lifted, place, "The same head without the mask"),
            map_of(copied, looks_ahead, f"{head_title(looks_ahead).capitalize()}, trained without a mask"),
            question=ask_direction(
                f"With its mask the loss is {means[0]:.2f} nats. Now each token may look at the very token that the "
                "model has to predict after it. The loss will be ...",
                means[1] - means[0],
                NOTABLE,
            ),
        ),
        bars(
            "Loss (nats for each token)",
            {
                "with its mask": means[0],
                "with the mask lifted": means[1],
                "a small model trained without a mask, reading": reading,
                "the same, writing": writing,
                "a small model trained with a mask, writing": float(writing_losses(honest, text).mean()),
            },
        ),
        f"{right[0]} of {len(wanted)} first guesses are right with the mask, {right[1]} without it. "
        + told_of_lifted(*means),
        f"A small model that was trained without a mask gives {share:.0%} of one head to the next token, the one that "
        f"it has to predict: it copies, and its loss is {reading:.2f}. When it writes, nothing comes after, there is "
        f"nothing to copy, and its loss is {writing:.2f}.",
    )


WHY_A_MASK = Screen(
    title="What does a mask do?",
    lesson="A model that writes has no later tokens to look at. So it must not see them in training either. Lift the "
    "mask of a trained model.",
    controls={
        "text": TextControl("Sentence", "The dog was happy. The dog ran to the big tree.", longest=160),
        "model": MODEL,
    },
    compute=why_a_mask,
    formulas=(MASKS["causal"].formula,),
    code=(why_a_mask, causal, variant, writing_losses),
    explore=link("model", "text", fixed={"masks": "none"}),
    elsewhere={"compare": compare_link(link("model", "text"), link(fixed={"masks": "none"}))},
)
