"""The losses of one model trained with each positional encoding, as views."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from headlight.evaluation.length_extrapolation import Extrapolation, Loss, ModelLosses, shipped_extrapolations
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.views.kinds import LinesView, NumberTable, TableView
from headlight.views.rows import Origin, Row
from headlight.views.words import NATS_PER_BIT
from headlight_app.positions.answers.conclusions import of_losses

NO_LOSS = "no such positions"
NO_LOSS_NOTE = f"“{NO_LOSS}”: the model's table of positions ends where training ended."
PLUS_MINUS = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
ABOUT_LOSSES = (
    "One small model, trained once with each positional encoding on the same texts, in the same order, and otherwise "
    "identical. The loss is in bits per token of held-out books: lower is better."
)
BRIEF_ORIGIN = "measured by headlight extrapolate, by the command in the metadata of this file"


def measured_losses(architecture: str) -> list[tuple[str, Extrapolation]]:
    """The measurements of each architecture, those of this one first."""
    return sorted(_shipped(), key=lambda each: each[0] != architecture)


@lru_cache(maxsize=1)
def _shipped() -> tuple[tuple[str, Extrapolation], ...]:
    return tuple(shipped_extrapolations().items())


def loss_rows(architecture: str, open_model: str) -> Iterator[Row]:
    """A heading, and for each architecture, this one first, its losses as a table and as lines."""
    measured = measured_losses(architecture)
    if measured:
        yield Row(title="What each encoding is worth", text=ABOUT_LOSSES)
    for name, found in measured:
        origin = Origin(tuple(model.name for model in found.models), f"measured by {found.command}", BRIEF_ORIGIN)
        yield Row((loss_table(name, found, open_model), _loss_lines(name, found)), origin=origin)


def loss_table(architecture: str, found: Extrapolation, open_model: str) -> TableView:
    """The losses of each model in bits, with their standard errors; the row of the open model is marked."""
    trained, *longer = found.lengths
    columns = (
        "Positional encoding",
        f"{trained} tokens (trained length)",
        *(f"{length} tokens ({length // trained}\u00a0×\u00a0as\u00a0long)" for length in longer),
        f"{trained} tokens (words shuffled)",
    )
    names = [model.name for model in found.models]
    marked = names.index(open_model) if open_model in names else None
    rows = tuple((_title(model), *map(_loss_text, (*model.losses, model.shuffled))) for model in found.models)
    title = f"Losses of {architecture}s"
    return TableView(
        columns, rows, title=title, marked=marked, marked_as="open now", note=_note(architecture, found),
        tables={title: _numbers(architecture, found)},
    )  # fmt: skip


def _loss_lines(architecture: str, found: Extrapolation) -> LinesView:
    masked = "masked " if architecture == "encoder" else ""
    lines = {_title(model): [_bits(loss)[0] for loss in model.losses] for model in found.models}
    return LinesView(
        f"Loss of {architecture}s over the length of the text",
        range(len(found.lengths)),
        lines,
        "tokens of the text",
        f"bits per {masked}token of held-out books",
        x_labels=tuple(map(str, found.lengths)),
        from_zero=False,
        tables={},
        note=of_losses(tuple(lines), tuple(lines.values()), found.lengths),
    )


def _numbers(architecture: str, found: Extrapolation) -> NumberTable:
    """Each loss and its standard error."""
    texts = [*(f"{length} tokens" for length in found.lengths), f"{found.lengths[0]} tokens, words shuffled"]
    unit = "bits per masked token" if architecture == "encoder" else "bits per token"
    columns = tuple(name for text in texts for name in (text, f"{text}, standard error"))
    values = [[bits for loss in (*one.losses, one.shuffled) for bits in _bits(loss)] for one in found.models]
    return NumberTable({"positional_encoding": tuple(map(_title, found.models)), unit: columns}, np.array(values))


def _title(model: ModelLosses) -> str:
    return POSITIONAL_ENCODINGS[model.positional_encoding].title


def _bits(loss: Loss | None) -> tuple[float, float]:
    """The loss and its standard error in bits; NaN if there is none."""
    return (math.nan, math.nan) if loss is None else (loss.mean / NATS_PER_BIT, loss.standard_error / NATS_PER_BIT)


def _loss_text(loss: Loss | None) -> str:
    mean, error = _bits(loss)
    return NO_LOSS if loss is None else f"{mean:.3f}{PLUS_MINUS}{error:.3f}"


def _note(architecture: str, found: Extrapolation) -> str:
    """How to read the numbers."""
    spread = ", ".join(f"{value / NATS_PER_BIT:.3f}" for value in found.seed_spread)
    seeds = (
        f"With other seeds a model's losses differ by up to {spread} (column by column): ignore smaller differences."
        if spread
        else "The effect of another seed on these losses has not been measured yet."
    )
    which = "masked tokens" if architecture == "encoder" else "tokens"
    ends = f" {NO_LOSS_NOTE}" if any(None in model.losses for model in found.models) else ""
    apart = " Do not compare them with a decoder's bits." if architecture == "encoder" else ""
    return (
        f"At every length the same {found.models[0].target_count:,} {which} are predicted, the last ones of each text; "
        f"longer texts start earlier.{apart} ± is the standard error. {seeds}{ends}"
    )
