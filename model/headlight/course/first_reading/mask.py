"""Why a mask: it is lifted from a trained model, and a model that was trained without one."""

from __future__ import annotations

from headlight.checkpoints import Checkpoint
from headlight.course.first_reading.reading import MODEL, STORY, chance, head_for, head_title, map_of, read
from headlight.course.language_modeling.ladder import shipped_rung, whole_losses, writing_losses
from headlight.course.screen import Screen, ScreenRows, compare_link, link
from headlight.errors import InputError
from headlight.nn.masks import MASKS, causal
from headlight.nn.transformer import variant
from headlight.questions.asking import ask_direction
from headlight.views.kinds import BarsView
from headlight.views.rows import row
from headlight.views.words import percent

NOTABLE = 2  # percentage points
CHEAT, HONEST = "ladder-4-feed-forward", "ladder-5-mask"


def why_a_mask(text: str, model: Checkpoint) -> ScreenRows:
    """A model with its mask and without it, and two models that were trained with one and without one."""
    own = read(model, text)
    lifted = read(model, text, network=variant(model.model, masks="none"))
    place, _ = head_for(own, "previous")
    with_mask, without = chance(own), chance(lifted)
    change = 100 * (without - with_mask)
    cheat, honest = map(shipped_rung, (CHEAT, HONEST))
    try:
        copied = read(cheat, text)
    except InputError:
        raise InputError("The small models beside it split this text into too many tokens. Shorten it.") from None
    looks_ahead, share = head_for(copied, "next")
    reading, writing, careful = (
        float(losses.neg().exp().mean())
        for losses in (whole_losses(cheat, text), writing_losses(cheat, text), writing_losses(honest, text))
    )
    return (
        row(
            map_of(own, place),
            text="Above the diagonal the map is empty: no token looks at one that comes after it. A mask forbids it.",
        ),
        row(
            map_of(lifted, place, "The same head without the mask"),
            map_of(copied, looks_ahead, f"{head_title(looks_ahead).capitalize()}, trained without a mask"),
            question=ask_direction(
                f"With its mask the model gives the right next token {percent(with_mask)} on average. Now each token "
                "may look at the very one that has to be predicted. In percentage points, this share will be ...",
                change,
                NOTABLE,
            ),
        ),
        BarsView(
            title="Probability of the right next token, on average",
            labels=(
                "with its mask",
                "with the mask lifted",
                "a small model trained without a mask, reading",
                "the same, writing",
                "a small model trained with a mask, writing",
            ),
            series={"": [with_mask, without, reading, writing, careful]},
            as_percent=True,
        ),
        f"The share goes from {percent(with_mask)} to {percent(without)}. {_told(change)}",
        f"A small model that was trained without a mask gives {percent(share)} of one head to the next token, the one "
        f"that it has to predict: it copies, and the right token gets {percent(reading)}. When it writes, nothing "
        f"comes after, there is nothing to copy, and the right token gets {percent(writing)}.",
    )


def _told(change: float) -> str:
    """The meaning of a change of the share, in percentage points."""
    if change > NOTABLE:
        return "It is better because each token can see the one it has to predict: this says nothing about writing."
    if change < -NOTABLE:
        return "It is worse: the model was trained under a mask, and has not learned what to do with later tokens."
    return "Little changes: what a model has learned under a mask is to do without the tokens after it."


WHY_A_MASK = Screen(
    title="What does a mask do?",
    lesson="A model that writes has no later tokens to look at. So it must not see them in training either. Lift the "
    "mask of a trained model.",
    controls={"text": STORY, "model": MODEL},
    compute=why_a_mask,
    formulas=(MASKS["causal"].formula,),
    code=(why_a_mask, causal, variant, writing_losses),
    explore=link("model", "text", fixed={"masks": "none"}),
    elsewhere={"compare": compare_link(link("model", "text"), link(fixed={"masks": "none"}))},
)
