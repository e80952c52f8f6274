"""The Compare page's question: two runs side by side, which tokens correspond, and how far their heads are apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from app.services.attention_payload import quantized_weights, tokens_payload, variant_notes
from app.services.resolved_question import ResolvedQuestion, resolve
from app.state.request import integer_or_zero, parse_question
from app.ui.wire_format import pack
from model.analysis.run_comparison import (
    TokenPairs,
    align,
    default_alignment,
    head_distance,
    jensen_shannon_distance,
)
from model.attention_groups import AttentionGroup, attention_groups
from model.errors import HeadlightError, TextError
from model.tasks import label_text, task_of
from model.text.tokenizer import Tokenizer
from model.tracing.run import encode_input
from model.tracing.trace import Trace

SIDE_NAMES = ("A", "B")
MAX_CANDIDATES = 8  # candidates of each side
MAX_WEIGHTS = 1 << 26  # weights of all heads of one side; 12 x 12 heads at 680 tokens


@dataclass(frozen=True)
class Side:
    """One of the two: what is asked, and what the model did with it."""

    resolved: ResolvedQuestion

    @property
    def trace(self) -> Trace:
        """What the model did."""
        return self.resolved.trace

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return self.resolved.tokenizer

    def prediction_positions(self, query: int) -> tuple[int, ...]:
        """Where somebody wants to know what it predicts: at each masked token, or at `query` (-1: the last)."""
        ids, task = self.trace.text.ids, task_of(self.trace.config)
        if task.fills_masks and (masked_positions := task.prediction_positions(ids, self.tokenizer.mask_id)):
            return masked_positions
        return (query if 0 <= query < len(ids) else len(ids) - 1,)


@dataclass(frozen=True)
class AttentionPair:
    """An attention of the one side and the one of the other that it is compared with."""

    left: AttentionGroup
    right: AttentionGroup

    @property
    def shared_shape(self) -> tuple[int, int]:
        """How many layers and heads both have."""
        return min(self.left.layers, self.right.layers), min(self.left.heads, self.right.heads)


def handle_compare(body: dict[str, Any]) -> bytes:
    """Both sides' tokens, the byte codes of all their heads, the distance of each head, and both predictions."""
    started = perf_counter()
    left, right = (_read_side(body, index) for index in range(2))
    texts = {"text": (left.trace.text, right.trace.text)}
    if left.trace.source and right.trace.source:
        texts["source"] = left.trace.source, right.trace.source
    alignment = str(body.get("alignment") or default_alignment(texts.values()))
    alignments = {axis: align(*pair, alignment) for axis, pair in texts.items()}
    side_payloads, chunks, offset = [], [], 0
    for side in (left, right):
        meta, numbers = _side_payload(side, offset)
        side_payloads.append(meta)
        chunks.append(numbers)
        offset += len(numbers)
    meta = {
        "sides": side_payloads,
        "alignment": alignment,
        "alignments": alignments,
        "attentions": [
            _distances_payload(left, right, partner, alignments) for partner in pair_attentions(left, right)
        ],
        "predictions": _predictions(left, right, integer_or_zero(body.get("query", -1)), alignments["text"]),
        "milliseconds": (perf_counter() - started) * 1_000,
    }
    return pack(meta, b"".join(chunks))


def _read_side(body: dict[str, Any], index: int) -> Side:
    """One side of a request. Raises TextError, with the side's name in front, for what cannot be run."""
    body_side = body.get(("side_a", "side_b")[index])
    if not isinstance(body_side, dict):
        raise TextError("A comparison needs two questions, side_a and side_b.")
    try:
        resolved = resolve(parse_question(body_side))
        _require_short_enough(resolved)
        return Side(resolved)
    except HeadlightError as error:
        raise TextError(f"{SIDE_NAMES[index]}: {error}") from error


def _require_short_enough(resolved: ResolvedQuestion) -> None:
    config, count = resolved.config, len(encode_input(resolved.model, resolved.tokenizer, resolved.model_input).ids)
    if config.layers * config.heads * count**2 > MAX_WEIGHTS:
        longest = int((MAX_WEIGHTS / (config.layers * config.heads)) ** 0.5)
        raise TextError(
            f"The text has {count} tokens; all heads of this model are compared on at most {longest}. Shorten it."
        )


def _side_payload(side: Side, offset: int) -> tuple[dict[str, Any], bytes]:
    """What the browser needs of one side, and the byte codes of all its heads."""
    traced, group_payloads, chunks = side.trace, [], []
    for attention_group in attention_groups(traced.config):
        quantized = quantized_weights(traced, attention_group)
        rows, columns = traced[f"{attention_group.path(0)}.weights"].shape[-2:]
        layout = {"rows": rows, "columns": columns, "pooled_shape": quantized.shape[-2:], "offset": offset}
        group_payloads.append(asdict(attention_group) | layout)
        chunks.append(quantized.tobytes())
        offset += quantized.size
    meta = {
        "tokens": tokens_payload(traced.text, side.tokenizer),
        "source_tokens": tokens_payload(traced.source, side.tokenizer) if traced.source else None,
        "attention_groups": group_payloads,
        "context": traced.config.context_length,
        "notes": [" ".join(variant_notes(side.resolved))] if side.resolved.question.is_variant else [],
    }
    return meta, b"".join(chunks)


def pair_attentions(left: Side, right: Side) -> tuple[AttentionPair, ...]:
    """Which attentions are compared: those of one name, else the first of the same kind; self with self."""
    left_groups, right_groups = attention_groups(left.trace.config), attention_groups(right.trace.config)
    pairs = []
    for attention_group in left_groups:
        candidates = [other for other in right_groups if other.name == attention_group.name] or [
            other
            for other in right_groups
            if other.kind == attention_group.kind and other.name not in {grid.name for grid in left_groups}
        ]
        pairs += [AttentionPair(attention_group, other) for other in candidates[:1]]
    return tuple(pairs)


def _distances_payload(
    left: Side, right: Side, pair: AttentionPair, alignments: dict[str, TokenPairs]
) -> dict[str, Any]:
    """How far each head of the one side is from the same head of the other, layer after layer."""
    layers, heads = pair.shared_shape
    queries, keys = alignments.get(pair.left.queries, ()), alignments.get(pair.left.keys, ())

    def layer_distances(number: int) -> np.ndarray:
        one, other = (
            side.trace[f"{attention_group.path(number)}.weights"][:heads]
            for side, attention_group in ((left, pair.left), (right, pair.right))
        )
        return head_distance(one, other, queries, keys)

    numbers = [
        [None if np.isnan(head) else float(head) for head in layer_distances(number)] for number in range(layers)
    ]
    return {"left_name": pair.left.name, "right_name": pair.right.name, "title": pair.left.title, "distance": numbers}


def _predictions(left: Side, right: Side, query: int, alignment: TokenPairs) -> list[dict[str, Any]]:
    """What both sides predict at corresponding places; `query` counts the left side's tokens."""
    if not all(task_of(side.trace.config).predicts for side in (left, right)):
        return []
    right_query = dict(alignment).get(query, -1) if query >= 0 else -1
    positions = zip(left.prediction_positions(query), right.prediction_positions(right_query), strict=False)
    return [
        _prediction_payload(left, right, left_position, right_position) for left_position, right_position in positions
    ]


def _prediction_payload(left: Side, right: Side, left_position: int, right_position: int) -> dict[str, Any]:
    """Two predictions over what both vocabularies can say; None for the share of what one of them cannot."""
    sides = (left, left_position), (right, right_position)
    one, other = (_probabilities(side, place) for side, place in sides)
    if left.tokenizer is right.tokenizer and len(one) == len(other):
        names, in_left, in_right = _answer_names(left, len(one)), np.ones(len(one)), np.ones(len(other))
    else:
        names, left_index, right_index = _merge_vocabularies(
            _answer_names(left, len(one)), _answer_names(right, len(other))
        )
        in_left, in_right = (np.bincount(at, minlength=len(names)).astype(float) for at in (left_index, right_index))
        one, other = np.bincount(left_index, one, len(names)), np.bincount(right_index, other, len(names))
    shown = {int(key) for side in (one, other) for key in np.argsort(-side, kind="stable")[:MAX_CANDIDATES]}
    return {
        "titles": [task_of(side.trace.config).prediction_title for side, _ in sides],
        "positions": [left_position, right_position],
        "token_texts": [side.trace.text.token_texts[place] for side, place in sides],
        "distance": float(jensen_shannon_distance(one, other)),
        "candidates": [
            {
                "text": names[key],
                "left": float(one[key]) if in_left[key] else None,
                "right": float(other[key]) if in_right[key] else None,
            }
            for key in sorted(shown, key=lambda key: (-max(one[key], other[key]), key))
        ],
    }


def _probabilities(side: Side, position: int) -> np.ndarray:
    """Each token's probability, or each label's."""
    row = side.resolved.logits(position).astype(np.float64)
    powers = np.exp(row - row.max())
    return np.asarray(powers / powers.sum())


def _answer_names(side: Side, count: int) -> tuple[str, ...]:
    """What there is to predict, in words."""
    config = side.trace.config
    if task_of(config).predicts_tokens:
        return _vocabulary_pieces(side.tokenizer, count)
    return tuple(label_text(config, index) for index in range(count))


@lru_cache(maxsize=8)
def _vocabulary_pieces(tokenizer: Tokenizer, count: int) -> tuple[str, ...]:
    return tuple(map(tokenizer.token_text, range(count)))


@lru_cache(maxsize=4)
def _merge_vocabularies(
    left_names: tuple[str, ...], right_names: tuple[str, ...]
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Everything that either can say, by what it reads, spaces apart; and where each one's own stand in it."""
    words = [piece.strip() or piece for piece in (*left_names, *right_names)]
    names = tuple(dict.fromkeys(words))
    index_of = {name: number for number, name in enumerate(names)}
    index = np.array([index_of[word] for word in words])
    return names, index[: len(left_names)], index[len(left_names) :]
