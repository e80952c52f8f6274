"""The view of the chosen heads: values with labels for rows and columns, and the rules applied to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from msgspec import structs

from headlight.analysis.attention_maps import combine_heads, top_mass_mask
from headlight.analysis.principal_components import QKProjection, qk_projection
from headlight.attention_groups import AttentionGroup
from headlight.errors import EditError
from headlight.problem_types import problem_type_of
from headlight.rendering.show import NOWHERE
from headlight.text.word_groups import TokenGroups
from headlight.tracing.recompute import max_pooled_value
from headlight_app.contract.state import HeadChoice
from headlight_app.explore.answers.layer_analysis import answer_text
from headlight_app.explore.answers.quantities import QUANTITIES, Quantity, QuantityRequest, shown_quantity
from headlight_app.explore.answers.token_filter import Axis, TokenFilter
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.head_selection import (
    describe_zoom,
    encoded_text,
    parse_head,
    selected_attention,
    selected_heads,
    zoom_ranges,
)
from headlight_app.inference.resolved_question import ResolvedQuestion

MAX_CELLS = 1 << 24  # cells of all selected heads together: 64 MB
MAX_LONG_TEXT_HEADS = 4  # heads of a long text in one view
MAX_SIDE_CELLS = 384  # rows or columns of a long text's view; a screen cannot show more
FORBIDDEN, SHOWN, LEFT_OUT = 0, 1, 2  # the states of a cell
Head = tuple[int, int]  # layer and head


@dataclass(frozen=True, eq=False)
class HeadView:
    """The values of the chosen heads combined, [row column], and of each head by itself, `per_head`, [head row column].

    `cell_states` is FORBIDDEN, SHOWN or LEFT_OUT (too small) for each cell. `rules` describe the computation in words.
    """

    rows: Axis
    columns: Axis
    values: np.ndarray
    cell_states: np.ndarray
    per_head: np.ndarray
    quantity: Quantity
    rules: tuple[str, ...]

    @property
    def colour_limits(self) -> tuple[float, float]:
        """The numbers at the two ends of the colours."""
        if self.quantity.scale == "probability":
            return 0.0, 1.0
        shown = self.values[self.cell_states == SHOWN]
        if not shown.size:
            return (-1.0, 1.0) if self.quantity.signed else (0.0, 1.0)
        if self.quantity.signed:
            limit = float(np.abs(shown).max()) or 1.0
            return -limit, limit
        return (0.0 if self.quantity.scale == "sqrt" else float(shown.min())), float(shown.max())


@dataclass(frozen=True, eq=False)
class HeadValues:
    """Numbers of the chosen heads, [head row column], the cells that the mask allows, and how they were selected."""

    values: np.ndarray
    allowed: np.ndarray
    rows: Axis
    columns: Axis
    rules: tuple[str, ...]


def head_view(resolved: ResolvedQuestion, choice: HeadChoice) -> HeadView:
    """The view that `choice` requests, of a text of any length. Raises HeadlightError if that is impossible."""
    choice = structs.replace(choice, quantity=shown_quantity(resolved, choice))
    attention_group, quantity = selected_attention(resolved.config, choice.attention), QUANTITIES[choice.quantity]
    heads = selected_heads(choice, attention_group)
    request, description = quantity_request(resolved, choice, attention_group)
    head_values = (_pooled_heads if resolved.is_long else _exact_heads)(request, choice, heads)
    # When heads are combined, a masked weight counts as 0; a masked score does not count.
    combined = combine_heads(head_values.values, head_values.allowed | quantity.additive, choice.head_reduction)
    any_allowed = head_values.allowed.any(0)
    cuts_rows = quantity.additive and choice.top_mass < 100 and not resolved.is_long
    within, within_each = (
        top_mass_mask(values, choice.top_mass / 100) if cuts_rows else np.ones(values.shape, dtype=bool)
        for values in (combined, head_values.values)
    )
    rules = [*filter(None, [description, quantity.note(resolved.config, attention_group)]), *head_values.rules]
    if len(heads) > 1 and not quantity.of_all_heads:
        rules.append(f"{'mean' if choice.head_reduction == 'mean' else 'largest'} of {len(heads)} heads")
    if cuts_rows:
        rules.append(f"the largest of each row that make {choice.top_mass} %")
    return HeadView(
        head_values.rows,
        head_values.columns,
        np.where(any_allowed, combined, np.nan),
        np.where(any_allowed, np.where(within, SHOWN, LEFT_OUT), FORBIDDEN).astype(np.uint8),
        np.where(head_values.allowed & within_each, head_values.values, np.nan),
        quantity,
        tuple(rules),
    )


def _exact_heads(request: QuantityRequest, choice: HeadChoice, heads: Sequence[Head]) -> HeadValues:
    """Every number of the displayed tokens."""
    resolved, attention_group, quantity = request.resolved, request.attention_group, QUANTITIES[choice.quantity]
    texts = [encoded_text(resolved.trace, which) for which in (attention_group.queries, attention_group.keys)]
    if len(heads) * len(texts[0].ids) * len(texts[1].ids) > MAX_CELLS:
        raise EditError(f"{len(heads)} heads of such a long text are too many for one view. Select fewer.")
    layers = {layer: quantity.compute(request, layer) for layer, _ in heads}
    values, allowed = (
        np.stack([layers[layer][part][min(head, len(layers[layer][part]) - 1)] for layer, head in heads])
        for part in (0, 1)
    )
    target, source = resolved.tokenizer, resolved.tokenizer.source_tokenizer
    readers = [source if text is resolved.trace.source else target for text in texts]
    token_filter = TokenFilter(choice, quantity, (readers[0], readers[1]), *texts)
    every_key = np.where(allowed, values, 0)
    values, allowed = token_filter.apply(every_key, allowed)
    if token_filter.by_word and quantity.join_keys:
        joined = {layer: quantity.join_keys(request, layer, token_filter.groups[1]) for layer in layers}
        values = token_filter.join_queries(np.stack([joined[layer][head] for layer, head in heads]))
    found = HeadValues(values, allowed, token_filter.axis(0), token_filter.axis(1), token_filter.rules())
    if resolved.config.attention.sinks and choice.quantity == "weights" and not token_filter.renormalizes:
        return _with_nowhere(found, token_filter.join_queries(1 - every_key.sum(-1, keepdims=True)))
    return found


def _with_nowhere(found: HeadValues, rest: np.ndarray) -> HeadValues:
    """Weights with a column for `rest`, [head row 1], the share of each head's sink, which is not a token."""
    return HeadValues(
        np.concatenate((found.values, rest), axis=-1),
        np.concatenate((found.allowed, np.ones_like(rest, dtype=bool)), axis=-1),
        found.rows,
        Axis((*found.columns.labels, NOWHERE), (*found.columns.tokens, ())),
        (*found.rules, f"{NOWHERE}: the share of the head's sink, which is not a token"),
    )


def _pooled_heads(request: QuantityRequest, choice: HeadChoice, heads: Sequence[Head]) -> HeadValues:
    """The zoomed region of a long text: exact if it is small enough, else the maximum of each block."""
    resolved, attention_group, quantity = request.resolved, request.attention_group, QUANTITIES[choice.quantity]
    if not quantity.hook_point:
        known = ", ".join(each.title.lower() for each in QUANTITIES.values() if each.hook_point)
        raise EditError(f"For a text this long, only these can be shown: {known}. Shorten it for the others.")
    if len(heads) > MAX_LONG_TEXT_HEADS:
        raise EditError(
            f"{len(heads)} heads of such a long text are too many for one view. Select at most {MAX_LONG_TEXT_HEADS}."
        )
    texts = [encoded_text(resolved.trace, which) for which in (attention_group.queries, attention_group.keys)]
    lengths = [len(text.ids) for text in texts]
    queries, keys = zoom_ranges(choice, texts[0], texts[1])
    pooled = [
        max_pooled_value(
            resolved.model,
            resolved.trace,
            f"{attention_group.path(layer)}.{quantity.hook_point}",
            MAX_SIDE_CELLS,
            slice(head, head + 1),
            queries,
            keys,
        )
        for layer, head in heads
    ]
    values, allowed = (np.concatenate(each) for each in zip(*pooled, strict=True))
    rows, columns = (_pooled_axis(text.token_texts, part) for text, part in zip(texts, (queries, keys), strict=True))
    return HeadValues(
        values,
        allowed if quantity.is_masked else np.ones_like(allowed),
        rows,
        columns,
        _describe_region(queries, keys, lengths),
    )


def _pooled_axis(token_texts: Sequence[str], span: range) -> Axis:
    """Tokens, or blocks of tokens if there are more than MAX_SIDE_CELLS; a block has its first token's label."""
    count = min(MAX_SIDE_CELLS, len(span))
    starts = [span.start + block * len(span) // count for block in range(count)] + [span.stop]
    groups: TokenGroups = tuple(tuple(range(first, end)) for first, end in pairwise(starts))
    return Axis(tuple(token_texts[group[0]] for group in groups), groups)


def _describe_region(queries: range, keys: range, lengths: Sequence[int]) -> tuple[str, ...]:
    sentences = [*describe_zoom(queries, keys, lengths)]
    if max(len(queries), len(keys)) > MAX_SIDE_CELLS:
        block_rows, block_columns = (-(-len(part) // MAX_SIDE_CELLS) for part in (queries, keys))
        sentences.append(f"each cell the largest of up to {block_rows} x {block_columns}; zoom in for single ones")
    return tuple(sentences)


def quantity_request(
    resolved: ResolvedQuestion, choice: HeadChoice, attention_group: AttentionGroup
) -> tuple[QuantityRequest, str]:
    """The inputs of a quantity, and its description, with the other head or the gradient's token."""
    layer, head = selected_heads(choice, attention_group)[0]
    other_head = parse_head(choice.other_head, attention_group) or (layer, (head + 1) % attention_group.heads)
    request = QuantityRequest(resolved, attention_group, choice.other_text, other_head)
    description = QUANTITIES[choice.quantity].description
    if choice.quantity == "minus_head":
        return request, f"{description} layer {other_head[0]}, head {other_head[1]}"
    if choice.quantity != "gradient":
        return request, description
    predicted = predictions(resolved, choice.query)
    if not predicted:
        raise EditError("This model ends without a head, so there is no prediction to take the gradient of.")
    prediction = next((one for one in predicted if one.position == choice.query), predicted[0])
    likeliest = max(prediction.candidates, key=lambda candidate: candidate.after)
    token = likeliest.id if choice.target_token < 0 else choice.target_token
    texts = {candidate.id: candidate.text for candidate in prediction.candidates}
    text = texts.get(token) or answer_text(resolved.trace, resolved.tokenizer, token)
    place = "" if prediction.token_text is None else f"“{prediction.token_text.strip()}”"
    number = "log p" if problem_type_of(resolved.config).is_probability else "the score"
    target = f"{number} of “{text.strip()}” {prediction.preposition}{place}"
    return replace(request, position=prediction.position, token=token), f"{description} of {target}"


def head_qk_projection(resolved: ResolvedQuestion, group: AttentionGroup, layer: int, head: int) -> QKProjection:
    """Queries and keys of a head in two dimensions; layer and head are clamped to the last."""
    path, head = group.path(min(layer, group.layers - 1)), min(head, group.heads - 1)
    traced = resolved.trace_of(f"{path}.rotated_q", f"{path}.rotated_k")
    return qk_projection(traced, path, head)
