"""The weights that connect an answer with what was read: those of the heads that the page shows."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.config import Config
from headlight_app.contract.state import State
from headlight_app.inference.attention_payload import has_weights, sequence_lengths
from headlight_app.inference.head_selection import selected_heads
from headlight_app.inference.resolved_question import ResolvedQuestion

READS = ("attention", "layer", "head", "heads", "head_reduction")  # the fields of the state on which they depend

NOT_KEPT = "The weights of an input this long are not kept, so they are not shown."
NOTHING_WRITTEN = "Nothing is written yet."


class ShownWeights(NamedTuple):
    """One weight for each query and key, and the heads that it is of: "layer 1, head 2"."""

    values: Float[np.ndarray, "query key"]
    heads: str


class ShownHeads(NamedTuple):
    """Heads, (layer, head), how their weights become one, and what the result is called."""

    heads: list[tuple[int, int]]
    reduction: Literal["mean", "max"]
    title: str


def attention_of_kind(config: Config, kind: str) -> AttentionGroup | None:
    """The attention of a kind, self or cross, whose queries are the text; None if the model has none."""
    groups = (group for group in attention_groups(config) if (group.kind, group.queries) == (kind, "text"))
    return next(groups, None)


def shown_weights(resolved: ResolvedQuestion, group: AttentionGroup | None, state: State) -> ShownWeights | None:
    """The weights of the shown heads; None without an attention, and for an input so long that they are not kept."""
    if group is None or not has_weights(resolved.trace, group):
        return None
    return combined_weights(resolved, group, shown_heads(group, state))


def shown_heads(group: AttentionGroup, state: State) -> ShownHeads:
    """The selected heads, or if another attention is shown the mean of the heads of the last layer."""
    if state.attention not in ("", group.name):
        layer = group.layers - 1
        return ShownHeads(
            [(layer, head) for head in range(group.heads)], "mean", f"the mean of the heads of layer {layer}"
        )
    heads, is_mean = selected_heads(state, group), state.head_reduction == "mean"
    several = f"the {'mean' if is_mean else 'largest weights'} of {len(heads)} heads"
    one = f"layer {heads[0][0]}, head {heads[0][1]}"
    return ShownHeads(heads, "mean" if is_mean else "max", one if len(heads) == 1 else several)


def combined_weights(
    resolved: ResolvedQuestion, group: AttentionGroup, shown: ShownHeads, keys: range | None = None
) -> ShownWeights:
    """The weights of some heads as one, to all keys or to some; of a long input, only these are computed."""
    rows, columns = sequence_lengths(resolved.trace, group)
    each = np.stack(
        [
            resolved.head_values(
                f"{group.path(layer)}.weights", range(head, head + 1), range(rows), keys or range(columns)
            )
            for layer, head in shown.heads
        ]
    )[:, 0].astype(float)
    return ShownWeights(each.mean(0) if shown.reduction == "mean" else each.max(0), shown.title)
