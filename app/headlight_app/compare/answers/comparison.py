"""Two runs compared: their corresponding tokens, the distance of each head, and both predictions."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from headlight.analysis.run_comparison import (
    TokenPairs,
    align,
    default_alignment,
    head_distance,
)
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.views.encoding import plain_rows
from headlight_app.compare.answers.distances import distance_rows, ranked_heads
from headlight_app.compare.answers.predictions import predicted_positions, prediction_rows
from headlight_app.compare.answers.side import SIDE_NAMES, Side, open_side
from headlight_app.compare.contract import CompareAnswer, ComparedAttention, CompareRequest, SideAnswer
from headlight_app.contract.reply import Reply
from headlight_app.inference.attention_payload import group_answers, token_answers, variant_notes


@dataclass(frozen=True)
class AttentionPair:
    """An attention of the left side, and its counterpart on the right side."""

    left: AttentionGroup
    right: AttentionGroup

    @property
    def shared_shape(self) -> tuple[int, int]:
        """The numbers of layers and heads that both sides have."""
        return min(self.left.layers, self.right.layers), min(self.left.heads, self.right.heads)


def answer_compare(request: CompareRequest) -> Reply[CompareAnswer]:
    """Compare two questions. Raises TextError if they cannot be compared."""
    started = perf_counter()
    left, right = (open_side(name, question) for name, question in zip(SIDE_NAMES, request.sides, strict=True))
    texts = {"text": (left.trace.text, right.trace.text)}
    if left.trace.source and right.trace.source:
        texts["source"] = left.trace.source, right.trace.source
    alignment = request.alignment or default_alignment(texts.values())
    alignments = {axis: align(*pair, alignment) for axis, pair in texts.items()}
    left_answer, left_codes = _side_answer(left)
    right_answer, right_codes = _side_answer(right, offset=len(left_codes))
    positions = predicted_positions((left, right), request.query, alignments["text"])
    answer = CompareAnswer(
        sides=(left_answer, right_answer),
        alignment=alignment,
        alignments=alignments,
        attentions=tuple(_compared_attention(left, right, pair, alignments) for pair in pair_attentions(left, right)),
        positions=positions,
        rows=plain_rows(prediction_rows((left, right), positions), with_tables=True),
        milliseconds=(perf_counter() - started) * 1_000,
    )
    return Reply(answer, left_codes + right_codes)


def _side_answer(side: Side, offset: int = 0) -> tuple[SideAnswer, bytes]:
    """One side's tokens and attention groups for the browser, and the byte codes of all its heads."""
    traced = side.trace
    groups, codes = group_answers(side.resolved, offset)
    answer = SideAnswer(
        tokens=token_answers(traced.text, side.tokenizer),
        source_tokens=token_answers(traced.source, side.tokenizer.source_tokenizer) if traced.source else None,
        attention_groups=tuple(groups),
        notes=tuple(filter(None, (" ".join(variant_notes(side.resolved)), _unknown_note(side)))),
    )
    return answer, codes


def _unknown_note(side: Side) -> str:
    """A note on the number of unknown tokens of a side; empty if there are none."""
    texts = ((side.trace.text, side.tokenizer), (side.trace.source, side.tokenizer.source_tokenizer))
    read = [(text, reader.unknown_id) for text, reader in texts if text is not None and text.signal is None]
    unknown = [
        token
        for text, number in read
        for token_id, token in zip(text.ids, text.token_texts, strict=True)
        if token_id == number
    ]
    if not unknown:
        return ""
    return (
        f"{len(unknown)} of {sum(len(text.ids) for text, _ in read)} tokens are {unknown[0]}, which replaces text that "
        "this model has no token for. "
        "Compare on a text that both models can encode."
    )


def pair_attentions(left: Side, right: Side) -> tuple[AttentionPair, ...]:
    """The attentions to compare, paired by name, or else by kind: self with self, cross with cross."""
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


def _compared_attention(
    left: Side, right: Side, pair: AttentionPair, alignments: dict[str, TokenPairs]
) -> ComparedAttention:
    """The distance between each head of the left side and the same head of the right side."""
    layers, heads = pair.shared_shape
    queries, keys = alignments.get(pair.left.queries, ()), alignments.get(pair.left.keys, ())

    def layer_distances(layer: int) -> np.ndarray:
        one, other = (
            side.trace[f"{attention_group.path(layer)}.weights"][:heads]
            for side, attention_group in ((left, pair.left), (right, pair.right))
        )
        return head_distance(one, other, queries, keys)

    distance = np.array([layer_distances(layer) for layer in range(layers)], dtype=float)
    return ComparedAttention(
        left_name=pair.left.name,
        right_name=pair.right.name,
        title=pair.left.title,
        most_distant=ranked_heads(distance)[0],
        rows=plain_rows(distance_rows(distance), with_tables=True),
    )
