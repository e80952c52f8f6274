"""The route of the Compare page: two runs, their corresponding tokens, and the distance of each head."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from app.state.request import integer_or_zero, parse_question
from app.ui.wire_format import pack
from app.worker.attention_payload import answer_place, quantized_weights, tokens_payload, variant_notes
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.analysis.run_comparison import (
    TokenPairs,
    align,
    default_alignment,
    head_distance,
    jensen_shannon_distance,
)
from model.attention_groups import AttentionGroup, attention_groups
from model.errors import HeadlightError, TextError
from model.rendering.html import ablations_json
from model.tasks import label_text, task_of
from model.text.tokenizer import Tokenizer
from model.tracing.run import encode_input
from model.tracing.trace import Trace, softmax

SIDE_NAMES = ("A", "B")
MAX_CANDIDATES = 8  # of each side
MAX_WEIGHTS = 1 << 26  # of all heads of one side: 12 x 12 heads at 680 tokens


@dataclass(frozen=True)
class Side:
    """One of the two runs."""

    resolved: ResolvedQuestion

    @property
    def trace(self) -> Trace:
        """The trace of the run."""
        return self.resolved.trace

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return self.resolved.tokenizer

    def prediction_positions(self, query: int) -> tuple[int, ...]:
        """The positions whose predictions are shown: each masked token, else `query`, where -1 is the last token."""
        ids, task = self.trace.text.ids, task_of(self.trace.config)
        if task.fills_masks and (masked_positions := task.prediction_positions(ids, self.tokenizer.mask_id)):
            return masked_positions
        return (query if 0 <= query < len(ids) else len(ids) - 1,)


@dataclass(frozen=True)
class AttentionPair:
    """An attention of the left side, and the one of the right side that it is compared with."""

    left: AttentionGroup
    right: AttentionGroup

    @property
    def shared_shape(self) -> tuple[int, int]:
        """The numbers of layers and heads that both have."""
        return min(self.left.layers, self.right.layers), min(self.left.heads, self.right.heads)


def handle_compare(body: dict[str, Any]) -> bytes:
    """Compare two questions, `side_a` and `side_b`.

    The answer has both sides' tokens, the pairs of corresponding tokens, the distance of each head and the predictions.
    Its bytes are the quantized weights of all heads, A's before B's. Raises TextError for what cannot be compared.
    """
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
    """One side of a request. Raises TextError with the side's name in front where it cannot be run."""
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
    """One side's tokens and attention groups for the browser, and the quantized weights of all its heads."""
    traced, group_payloads, chunks = side.trace, [], []
    for attention_group in attention_groups(traced.config):
        quantized = quantized_weights(traced, attention_group)
        rows, columns = traced[f"{attention_group.path(0)}.weights"].shape[-2:]
        layout = {"rows": rows, "columns": columns, "pooled_shape": quantized.shape[-2:], "offset": offset}
        switched_off = {"ablations": ablations_json(side.resolved.question.edits, attention_group)}
        group_payloads.append(asdict(attention_group) | layout | switched_off)
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
    """The attentions to compare: those of equal name, else self-attention with self-attention, cross with cross."""
    left_groups, right_groups = attention_groups(left.trace.config), attention_groups(right.trace.config)
    pairs = []
    for attention_group in left_groups:
        candidates = [other for other in right_groups if other.name == attention_group.name] or [
            other
            for other in right_groups
            if other.kind == attention_group.kind and other.name not in {group.name for group in left_groups}
        ]
        pairs += [AttentionPair(attention_group, other) for other in candidates[:1]]
    return tuple(pairs)


def _distances_payload(
    left: Side, right: Side, pair: AttentionPair, alignments: dict[str, TokenPairs]
) -> dict[str, Any]:
    """The distance between each head of the left side and the same head of the right side, [layer][head]."""
    layers, heads = pair.shared_shape
    queries, keys = alignments.get(pair.left.queries, ()), alignments.get(pair.left.keys, ())

    def layer_distances(layer: int) -> np.ndarray:
        one, other = (
            side.trace[f"{attention_group.path(layer)}.weights"][:heads]
            for side, attention_group in ((left, pair.left), (right, pair.right))
        )
        return head_distance(one, other, queries, keys)

    distances = [
        [None if np.isnan(distance) else float(distance) for distance in layer_distances(layer)]
        for layer in range(layers)
    ]
    return {"left_name": pair.left.name, "right_name": pair.right.name, "title": pair.left.title, "distance": distances}


def _predictions(left: Side, right: Side, query: int, alignment: TokenPairs) -> list[dict[str, Any]]:
    """The predictions of both sides at corresponding positions; `query` is a position of the left side."""
    if not all(task_of(side.trace.config).predicts for side in (left, right)):
        return []
    left_positions = left.prediction_positions(query)
    right_query = dict(alignment).get(left_positions[0], -1)
    positions = zip(left_positions, right.prediction_positions(right_query), strict=False)
    return [
        _prediction_payload(left, right, left_position, right_position) for left_position, right_position in positions
    ]


def _prediction_payload(left: Side, right: Side, left_position: int, right_position: int) -> dict[str, Any]:
    """Two predictions over the union of both vocabularies; a probability is None where a side has no such answer."""
    sides = (left, left_position), (right, right_position)
    one, other = (softmax(side.resolved.logits(position)) for side, position in sides)
    names, probabilities = _over_both_vocabularies(left, one, right, other)
    known = np.nan_to_num(probabilities)
    top = {int(index) for row in known for index in np.argsort(-row, kind="stable")[:MAX_CANDIDATES]}
    return {
        "titles": [task_of(side.trace.config).prediction_title for side, _ in sides],
        "places": [answer_place(side.trace, position) for side, position in sides],
        "positions": [left_position, right_position],
        "distance": float(jensen_shannon_distance(*known)),
        "candidates": [
            {"text": names[index]}
            | {
                side: None if np.isnan(row[index]) else float(row[index])
                for side, row in zip(("left", "right"), probabilities, strict=True)
            }
            for index in sorted(top, key=lambda index: (-known[:, index].max(), index))
        ],
    }


def _over_both_vocabularies(
    left: Side, one: np.ndarray, right: Side, other: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray]:
    """All answers that either side has, and their probabilities [side answer], NaN where a side has no such answer."""
    left_names = _answer_names(left, len(one))
    if left.tokenizer is right.tokenizer and len(one) == len(other):
        return left_names, np.stack((one, other)).astype(np.float64)
    names, left_index, right_index = _merge_vocabularies(left_names, _answer_names(right, len(other)))
    rows = [
        np.where(np.bincount(index, minlength=len(names)) > 0, np.bincount(index, row, len(names)), np.nan)
        for index, row in ((left_index, one), (right_index, other))
    ]
    return names, np.stack(rows)


def _answer_names(side: Side, count: int) -> tuple[str, ...]:
    """The text of each token or label that a side can predict."""
    config = side.trace.config
    if task_of(config).predicts_tokens:
        return _vocabulary_texts(side.tokenizer, count)
    return tuple(label_text(config, index) for index in range(count))


@lru_cache(maxsize=8)
def _vocabulary_texts(tokenizer: Tokenizer, count: int) -> tuple[str, ...]:
    return tuple(map(tokenizer.token_text, range(count)))


@lru_cache(maxsize=4)
def _merge_vocabularies(
    left_names: tuple[str, ...], right_names: tuple[str, ...]
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """The union of two vocabularies without spaces around their tokens, and the index of each token of both in it."""
    texts = [name.strip() or name for name in (*left_names, *right_names)]
    names = tuple(dict.fromkeys(texts))
    index_of = {name: number for number, name in enumerate(names)}
    index = np.array([index_of[text] for text in texts])
    return names, index[: len(left_names)], index[len(left_names) :]
