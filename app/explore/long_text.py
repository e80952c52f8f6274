"""Pictures of long texts: the region that somebody looks at, exact where it is small enough, else its largest cells.

What the table of kinds makes of whole layers would take gigabytes here; one head is made again from what it read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from app.explore.head_view import FORBIDDEN, SHOWN, Axis, HeadView, exact_head_view
from app.explore.quantities import QUANTITIES
from app.services.head_selection import encoded_text, selected_attention, selected_heads, zoom_ranges
from app.services.resolved_question import ResolvedQuestion
from app.state.state import State
from model.analysis.head_reduction import combine_heads
from model.attention_groups import AttentionGroup
from model.errors import EditError
from model.text.word_groups import TokenGroups
from model.tracing.recompute import max_pooled_value

MAX_SIDE_CELLS = 384  # cells; more than a picture has pixels to show
MAX_HEADS = 4  # of a long text in one picture
LONG_TEXT_QUANTITIES = (
    "weights",
    "scores",
    "masked_scores",
)  # kinds that are one head's alone, and so can be made for it alone


def head_view(resolved: ResolvedQuestion, state: State) -> HeadView:
    """What `state` asks to see of its heads, of a text of any length. Raises HeadlightError where that cannot be."""
    return _long_text_view(resolved, state) if resolved.is_long else exact_head_view(resolved, state)


def _long_text_view(resolved: ResolvedQuestion, state: State) -> HeadView:
    attention_group, quantity = selected_attention(resolved.config, state), QUANTITIES[state.quantity]
    if state.quantity not in LONG_TEXT_QUANTITIES:
        known = ", ".join(QUANTITIES[name].title.lower() for name in LONG_TEXT_QUANTITIES)
        raise EditError(f"Of a text this long these can be shown: {known}. Shorten it for all else.")
    heads = selected_heads(state, attention_group)
    if len(heads) > MAX_HEADS:
        raise EditError(
            f"{len(heads)} heads of so long a text are too much for one picture. Collect at most {MAX_HEADS}."
        )
    query_text, key_text = (
        encoded_text(resolved.trace, which) for which in (attention_group.queries, attention_group.keys)
    )
    queries, keys = zoom_ranges(state, len(query_text.ids), len(key_text.ids))
    per_head, allowed = _pooled_heads(resolved, state, attention_group, heads, queries, keys)
    combined, any_allowed = combine_heads(per_head, allowed | quantity.additive, state.head_reduction), allowed.any(0)
    rows, columns = (
        _axis(text.token_texts, part, MAX_SIDE_CELLS) for text, part in ((query_text, queries), (key_text, keys))
    )
    rules = (quantity.description, *_describe_region(queries, keys, len(query_text.ids), len(key_text.ids)))
    if len(heads) > 1:
        rules += (f"{'mean' if state.head_reduction == 'mean' else 'largest'} of {len(heads)} heads",)
    states = np.where(any_allowed, SHOWN, FORBIDDEN).astype(np.uint8)
    shown = np.where(allowed, per_head, np.nan).astype(np.float32)
    return HeadView(rows, columns, np.where(any_allowed, combined, np.nan), states, shown, quantity, rules)


def _pooled_heads(
    resolved: ResolvedQuestion,
    state: State,
    attention_group: AttentionGroup,
    heads: Sequence[tuple[int, int]],
    queries: range,
    keys: range,
) -> tuple[np.ndarray, np.ndarray]:
    """The largest number of each block of cells, and whether any is allowed, [head row column]; scores have no mask."""
    pooled = [
        max_pooled_value(
            resolved.model,
            resolved.trace,
            f"{attention_group.stack}.{layer}.{attention_group.kind}.{state.quantity}",
            MAX_SIDE_CELLS,
            slice(head, head + 1),
            queries,
            keys,
        )
        for layer, head in heads
    ]
    values, allowed = (np.concatenate(each) for each in zip(*pooled, strict=True))
    return values, allowed if state.quantity != "scores" else np.ones_like(allowed)


def _axis(pieces: tuple[str, ...], span: range, side: int) -> Axis:
    """Tokens, or blocks of them where there are more than `side`; a block has the name of its first."""
    count = min(side, len(span))
    starts = [span.start + block * len(span) // count for block in range(count)] + [span.stop]
    groups: TokenGroups = tuple(tuple(range(first, end)) for first, end in pairwise(starts))
    return Axis(tuple(pieces[group[0]] for group in groups), groups)


def _describe_region(queries: range, keys: range, query_count: int, key_count: int) -> tuple[str, ...]:
    sentences = []
    if (len(queries), len(keys)) != (query_count, key_count):
        sentences.append(f"queries {queries.start} to {queries.stop - 1}, keys {keys.start} to {keys.stop - 1}")
    if max(len(queries), len(keys)) > MAX_SIDE_CELLS:
        block_rows, block_columns = (-(-len(part) // MAX_SIDE_CELLS) for part in (queries, keys))
        sentences.append(f"each cell the largest of up to {block_rows} x {block_columns}; zoom in for single ones")
    return tuple(sentences)
