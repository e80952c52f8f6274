"""The benefit of each positional encoding: the losses of shipped models that differ only in it."""

from __future__ import annotations

from math import exp, isnan, nan, sqrt

from headlight.course.controls import ChoiceControl
from headlight.course.screen import Screen, ScreenRows, compare_link, link
from headlight.errors import InputError
from headlight.evaluation.length_extrapolation import (
    Extrapolation,
    Loss,
    ModelLosses,
    extrapolation,
    measure_losses,
    shipped_extrapolations,
)
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.questions.asking import ask_best
from headlight.views.forms import bars
from headlight.views.kinds import LinesView, TableView
from headlight.views.rows import row

TITLES = {
    name: POSITIONAL_ENCODINGS[name].title for name in ("none", "sinusoidal", "learned", "rope", "alibi", "relative")
}
TEXTS = {
    "trained": "as long as in training",
    "twice": "twice as long",
    "four-times": "four times as long",
    "shuffled": "as long as in training, its words shuffled",
}
UNDEFINED = "undefined"


def measured(architecture: str, text: str, one: str, other: str) -> ScreenRows:
    """The loss of each encoding on one kind of text, the whole table, and two encodings in words."""
    if one == other:
        raise InputError("Choose two different encodings to compare.")
    found, column = shipped_extrapolations()[architecture], tuple(TEXTS).index(text)
    losses = {TITLES[each.positional_encoding]: columns(each)[column] for each in found.models}
    defined = {title: loss.mean for title, loss in losses.items() if loss}
    missing = [title for title in losses if title not in defined]
    return (
        row(
            bars(
                f"Loss on a text {TEXTS[text]} (nats for each {'masked ' if architecture == 'encoder' else ''}token)",
                defined,
                digits=3,
                note=f"{' and '.join(missing)}: {UNDEFINED}. The table of positions ends at the length of the training "
                "texts."
                if missing
                else "Lower is better.",
            ),
            _perplexities(found),
            question=ask_best(f"Which is best on a text {TEXTS[text]}?", defined, noise(found, column)),
        ),
        _table(found),
        f"{_comparison(found, column, one, other)} {_said_of_seeds(found, column)}",
        *_seeds_row(found, column),
    )


def columns(losses: ModelLosses) -> tuple[Loss | None, ...]:
    """The losses of a model in the order of TEXTS."""
    return (*losses.losses, losses.shuffled)


def noise(found: Extrapolation, column: int) -> float:
    """The difference of two losses that may be due to the seed or the sample of texts."""
    errors = [loss.standard_error for each in found.models if (loss := columns(each)[column])]
    spread = found.seed_spread[column] if found.seed_spread else nan
    return max(max(errors) * sqrt(2), 0.0 if isnan(spread) else spread)


def _perplexities(found: Extrapolation) -> LinesView:
    return LinesView(
        "Perplexity by length of the text",
        list(found.lengths),
        {
            TITLES[each.positional_encoding]: [exp(loss.mean) if loss else nan for loss in each.losses]
            for each in found.models
            if sum(loss is not None for loss in each.losses) > 1
        },
        "tokens of the text",
        "perplexity",
        note="With a perplexity of 40 a model is as unsure as a guess among 40 equally likely tokens. An encoding that "
        "is only defined at one length has no line.",
    )


def _table(found: Extrapolation) -> TableView:
    trained = found.lengths[0]
    return TableView(
        ("encoding", *(f"{length} tokens" for length in found.lengths), f"{trained} tokens, shuffled"),
        tuple((TITLES[each.positional_encoding], *map(_written, columns(each))) for each in found.models),
        title="Loss and its standard error",
        note=f"At every length the same {found.models[0].target_count:,} tokens are predicted; longer texts begin "
        f"earlier. Training texts had {trained} tokens.",
    )


def _written(loss: Loss | None) -> str:
    return f"{loss.mean:.3f} ± {loss.standard_error:.3f}" if loss else UNDEFINED


def _comparison(found: Extrapolation, column: int, one: str, other: str) -> str:
    by_encoding = {each.positional_encoding: columns(each)[column] for each in found.models}
    first, second = by_encoding[one], by_encoding[other]
    if not (first and second):
        lost = TITLES[other if first else one]
        return f"{lost} cannot be compared here: it has no positions beyond {found.lengths[0]} tokens."
    better, worse = (one, other) if first.mean < second.mean else (other, one)
    gap = abs(first.mean - second.mean)
    return (
        f"{TITLES[better]} is better than {TITLES[worse]} by {gap:.3f} nats: its perplexity is {exp(-gap):.2f} times "
        f"the other's. Each of the two losses has a standard error of about "
        f"{max(first.standard_error, second.standard_error):.3f}."
    )


def _said_of_seeds(found: Extrapolation, column: int) -> str:
    spread = found.seed_spread[column] if found.seed_spread else nan
    if isnan(spread):
        return "The effect of another training seed on these losses was not measured."
    return f"Another training seed alone changes a loss by up to {spread:.3f} here."


def _seeds_row(found: Extrapolation, column: int) -> ScreenRows:
    """The losses of the encodings that were trained with several seeds; empty if there are none."""
    rows = []
    for encoding in dict.fromkeys(each.positional_encoding for each in found.repeats):
        same = [each for each in (*found.models, *found.repeats) if each.positional_encoding == encoding]
        losses = [loss.mean for each in same if (loss := columns(each)[column])]
        if losses:
            rows.append((TITLES[encoding], len(losses), min(losses), max(losses), max(losses) - min(losses)))
    if not rows:
        return ()
    head = ("encoding", "seeds", "lowest loss", "highest loss", "spread")
    return (TableView(head, tuple(rows), title="The same with other seeds", digits=4),)


FIRST, SECOND = (link(model=f"positions-{{architecture}}-{{{name}}}") for name in ("one", "other"))
MEASURED = Screen(
    title="What each encoding is worth, measured",
    lesson="One small model was trained with each encoding, on the same texts in the same order, and with the same "
    "other settings; the loss is measured on books that none of them has read. An encoder without positions learns "
    "little, while a decoder's mask gives it some order. On texts longer than those of training, waves and rotations "
    "get worse, a learned table has no rows for the later positions, and ALiBi stays as good as it was.",
    controls={
        "architecture": ChoiceControl("Models", "decoder", {"decoder": "Decoders", "encoder": "Encoders"}),
        "text": ChoiceControl("Text", "four-times", TEXTS),
        "one": ChoiceControl("Compare", "sinusoidal", TITLES),
        "other": ChoiceControl("with", "alibi", TITLES),
    },
    compute=measured,
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(t_i)", r"\mathrm{perplexity} = e^{L}"),
    code=(measure_losses, extrapolation),
    explore=FIRST,
    elsewhere={"compare": compare_link(FIRST, SECOND), "positions": FIRST},
)
