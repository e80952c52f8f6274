"""An answer beside what was read, with lines for the weights between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from headlight.views.kinds import AlignmentView, NumberTable
from headlight.views.words import numbered
from headlight_app.tasks.answers.shown_weights import NOT_KEPT, ShownWeights

MOST_LINES = 40  # tokens on each side; of more, the map of the head shows the weights
MOST_WEIGHTS = 128  # tokens on each side; of more, the weights are only in the numbers
TOO_MANY = "Too many tokens for lines; the map below shows the weights."


def alignment(
    shown: ShownWeights | None, read: tuple[str, ...], answer: tuple[str, ...], verb: str, **fields: Any
) -> AlignmentView:
    """The view of an answer whose token i was predicted by query i; without weights, it says that they are not kept."""
    if shown is None:
        return AlignmentView("", read, answer, np.empty((0, 0)), verb=verb, lines=False, note=NOT_KEPT, **fields)
    longest = max(len(read), len(answer))
    weights = shown.values[: len(answer), : len(read)]
    written = weights[: fields.get("written")]
    axes = {"answer": numbered(answer[: len(written)]), "read": numbered(read)}
    all_zero = "" if written.any() else f"All weights are 0: {shown.heads}."
    return AlignmentView(
        f"Attention weights from the answer to what was read: {shown.heads}",
        read,
        answer,
        weights if longest <= MOST_WEIGHTS else np.empty((0, 0)),
        verb=verb,
        lines=longest <= MOST_LINES,
        note=all_zero or ("Point at a token to see only its lines." if longest <= MOST_LINES else TOO_MANY),
        tables={"Alignment weights": NumberTable(axes, written)},
        **fields,
    )
