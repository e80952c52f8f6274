"""The picture of the chosen heads: numbers with names for rows and columns, and every rule by which they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.explore.quantities import QUANTITIES, Quantity, QuantityRequest
from app.services.attention_payload import predictions
from app.services.head_selection import (
    encoded_text,
    parse_head,
    selected_attention,
    selected_head,
    selected_heads,
    zoom_ranges,
)
from app.services.resolved_question import ResolvedQuestion
from app.state.state import State
from model.analysis.head_reduction import combine_heads
from model.analysis.qk_projection import QKProjection, qk_projection
from model.analysis.row_selection import renormalize_rows, top_mass_mask
from model.attention_groups import AttentionGroup
from model.errors import EditError
from model.text.tokenizer import Encoded, Tokenizer
from model.text.word_groups import TokenGroups, aggregate_by_group, group_texts, sentence_numbers, word_groups

MAX_CELLS = 1 << 24  # cells of all collected heads together: 64 MB
HIDDEN_TOKEN_TITLES = {"special": "special tokens", "first": "first token"}
FORBIDDEN, SHOWN, LEFT_OUT = 0, 1, 2  # what becomes of a cell


@dataclass(frozen=True, eq=False)
class Axis:
    """The rows or columns of a picture: what each reads, and which tokens it stands for."""

    labels: tuple[str, ...]
    tokens: TokenGroups


@dataclass(frozen=True, eq=False)
class HeadView:
    """A picture of the chosen heads put together, [row column], and of `each` by itself, [head row column].

    `states` says of each cell whether it is forbidden, shown, or left out as too small. `said` are the rules, in words.
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


def exact_head_view(resolved: ResolvedQuestion, state: State) -> HeadView:
    """What `state` asks to see of its heads. Raises HeadlightError where that cannot be; its text is for the reader."""
    attention_group, quantity = selected_attention(resolved.config, state), QUANTITIES[state.quantity]
    heads = selected_heads(state, attention_group)
    request, target = quantity_request(resolved, state, attention_group)
    layers = {layer: quantity.compute(request, layer) for layer, _ in heads}
    cells = len(heads) * layers[heads[0][0]][0][0].size
    if cells > MAX_CELLS:
        raise EditError(f"{len(heads)} heads of so long a text are too much for one picture. Collect fewer.")
    values = np.stack([layers[layer][0][min(head, len(layers[layer][0]) - 1)] for layer, head in heads])
    allowed = np.stack([layers[layer][1][min(head, len(layers[layer][1]) - 1)] for layer, head in heads])
    texts = [encoded_text(resolved.trace, which) for which in (attention_group.queries, attention_group.keys)]
    token_filter = TokenFilter(state, quantity, resolved.tokenizer, *texts)
    values, allowed = token_filter.apply(np.where(allowed, values, 0), allowed)
    combined, any_allowed = combine_heads(values, allowed | quantity.additive, state.head_reduction), allowed.any(0)
    kept_states = np.where(_within_top_mass(combined, state, quantity), SHOWN, LEFT_OUT)
    states = np.where(any_allowed, kept_states, FORBIDDEN).astype(np.uint8)
    per_head = np.where(allowed & _within_top_mass(values, state, quantity), values, np.nan)
    rules = _describe(state, quantity, attention_group, heads, target, token_filter)
    return HeadView(
        token_filter.axis(0),
        token_filter.axis(1),
        np.where(any_allowed, combined, np.nan),
        states,
        per_head,
        quantity,
        rules,
    )


def head_qk_projection(resolved: ResolvedQuestion, state: State) -> QKProjection:
    """Queries and keys of the chosen head in one plane."""
    attention_group = selected_attention(resolved.config, state)
    layer, head = selected_head(state, attention_group)
    path = f"{attention_group.stack}.{layer}.{attention_group.kind}"
    traced = resolved.trace_of(f"{path}.rotated_q", f"{path}.rotated_k")
    return qk_projection(traced, path, head)


def quantity_request(
    resolved: ResolvedQuestion, state: State, attention_group: AttentionGroup
) -> tuple[QuantityRequest, str]:
    """What the kinds need to know, and what the gradient is of, in words."""
    layer, head = selected_heads(state, attention_group)[0]
    other_head = parse_head(state.other_head, attention_group) or (layer, (head + 1) % attention_group.heads)
    if state.quantity != "gradient":
        return QuantityRequest(resolved, attention_group, state.other_text, other_head), ""
    predicted = predictions(resolved, state.query)
    if not predicted:
        raise EditError("This model ends without a head: there is no prediction whose gradient could be taken.")
    prediction = next((one for one in predicted if one.position == state.query), predicted[0])
    likeliest = max(prediction.candidates, key=lambda candidate: candidate.after)
    token = likeliest.id if state.target_token < 0 else state.target_token
    piece_of = {candidate.id: candidate.text for candidate in prediction.candidates}
    name = piece_of.get(token) or resolved.tokenizer.token_text(token)
    return QuantityRequest(
        resolved, attention_group, state.other_text, other_head, prediction.position, token
    ), f"log p of “{name.strip()}” {prediction.preposition}“{prediction.token_text.strip()}”"


def _within_top_mass(values: np.ndarray, state: State, quantity: Quantity) -> np.ndarray:
    """The cells that are large enough to be shown."""
    if state.top_mass == 100 or not quantity.additive:
        return np.ones(values.shape, dtype=bool)
    return top_mass_mask(values, state.top_mass / 100)


class TokenFilter:
    """Which tokens a picture shows, and how they are put together, for queries (0) and keys (1)."""

    def __init__(self, state: State, quantity: Quantity, tokenizer: Tokenizer, queries: Encoded, keys: Encoded) -> None:
        self.state, self.quantity, self.texts = state, quantity, (queries, keys)
        self.segments = self._segments(tokenizer)
        self.zoom = zoom_ranges(state, len(queries.ids), len(keys.ids))
        self.kept_positions = tuple(self._kept_positions(side, tokenizer) for side in (0, 1))
        if not all(self.kept_positions):
            raise EditError("Everything is hidden: this text has no other token. Show the hidden ones again.")
        self.by_word = state.unit == "words" and quantity.additive
        self.groups = tuple(self._token_groups(side) for side in (0, 1))

    @property
    def hides_keys(self) -> bool:
        """Whether keys are left out."""
        return len(self.kept_positions[1]) < len(self.texts[1].ids)

    def apply(self, values: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and allowed cells, [head query key], as [head row column]."""
        values = values[:, self.kept_positions[0]][..., self.kept_positions[1]].astype(np.float32)
        allowed = allowed[:, self.kept_positions[0]][..., self.kept_positions[1]]
        if self.renormalizes:
            values = renormalize_rows(values)
        if not self.by_word:
            return values, allowed
        queries, keys = (self._groups_among_kept(side) for side in (0, 1))
        return aggregate_by_group(values, queries, keys), aggregate_by_group(
            allowed.astype(np.float32), queries, keys
        ) > 0

    @property
    def renormalizes(self) -> bool:
        """Whether rows are made to sum to one again; differences and lengths have no such sum."""
        return bool(self.state.renormalize) and self.quantity.scale == "probability" and self.hides_keys

    def axis(self, side: int) -> Axis:
        """Names and tokens of the rows (0) or columns (1)."""
        return Axis(group_texts(self.texts[side], self.groups[side]), self.groups[side])

    def _kept_positions(self, side: int, tokenizer: Tokenizer) -> list[int]:
        text, hide = self.texts[side], self.state.hide.split("+")
        special_ids = tokenizer.special_ids - {tokenizer.mask_id, tokenizer.unknown_id}
        sentence_of = sentence_numbers(text, tokenizer.end_id)
        return [
            position
            for position, token in enumerate(text.ids)
            if position in self.zoom[side]
            and not ("special" in hide and token in special_ids)
            and not ("first" in hide and position == 0)
            and (not self.segments or sentence_of[position] == "ab".index(self.segments[side]))
        ]

    def _segments(self, tokenizer: Tokenizer) -> tuple[str, ...]:
        """Which sentence asks and which is looked at, where the text is a pair."""
        queries, keys = self.texts
        has_segments = queries is keys and max(sentence_numbers(queries, tokenizer.end_id)) > 0
        return tuple(self.state.segments.split("-")) if self.state.segments and has_segments else ()

    def _token_groups(self, side: int) -> TokenGroups:
        kept_positions = set(self.kept_positions[side])
        if not self.by_word:
            return tuple((position,) for position in self.kept_positions[side])
        remaining = (
            tuple(place for place in group if place in kept_positions) for group in word_groups(self.texts[side])
        )
        return tuple(group for group in remaining if group)

    def _groups_among_kept(self, side: int) -> TokenGroups:
        """The groups, counted among the kept tokens."""
        index_of = {position: index for index, position in enumerate(self.kept_positions[side])}
        return tuple(tuple(index_of[place] for place in group) for group in self.groups[side])


def _describe(
    state: State,
    quantity: Quantity,
    attention_group: AttentionGroup,
    heads: Sequence[tuple[int, int]],
    target: str,
    token_filter: TokenFilter,
) -> tuple[str, ...]:
    """Every rule by which the picture was made, in the order in which they apply."""
    rule_texts = [quantity.description]
    if state.quantity == "minus_head":
        layer, head = parse_head(state.other_head, attention_group) or (
            heads[0][0],
            (heads[0][1] + 1) % attention_group.heads,
        )
        rule_texts[0] += f" layer {layer}, head {head}"
    if target:
        rule_texts[0] += f" of {target}"
    if token_filter.segments:
        rule_texts.append(f"only {token_filter.segments[0].upper()} → {token_filter.segments[1].upper()}")
    if names := [HIDDEN_TOKEN_TITLES[name] for name in HIDDEN_TOKEN_TITLES if name in state.hide.split("+")]:
        row_sum = "rows renormalised" if token_filter.renormalizes else "rows not renormalised"
        rule_texts.append(f"{' and '.join(names)} hidden" + (f", {row_sum}" if quantity.scale == "probability" else ""))
    if token_filter.by_word:
        rule_texts.append("words: sum over keys, mean over queries")
    if len(heads) > 1 and state.quantity != "rollout":
        rule_texts.append(f"{'mean' if state.head_reduction == 'mean' else 'largest'} of {len(heads)} heads")
    if state.top_mass < 100 and quantity.additive:
        rule_texts.append(f"the largest of each row that make {state.top_mass} %")
    return tuple(rule_texts)
