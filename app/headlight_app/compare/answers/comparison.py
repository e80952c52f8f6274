"""Two runs compared: their corresponding tokens, the distance of each head, and both predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter

import numpy as np

from headlight.analysis.run_comparison import (
    TokenPairs,
    align,
    default_alignment,
    head_distance,
    jensen_shannon_distance,
)
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.errors import HeadlightError, TextError
from headlight.problem_types import problem_type_name
from headlight.rendering.predictions import answer_place
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import encode_input
from headlight.tracing.trace import Trace
from headlight_app.compare.contract import (
    CompareAnswer,
    ComparedAttention,
    ComparedCandidate,
    ComparedPrediction,
    CompareRequest,
    SideAnswer,
)
from headlight_app.contract.question import Question
from headlight_app.contract.reply import Reply
from headlight_app.inference.attention_payload import (
    group_answers,
    probabilities,
    token_answers,
    variant_notes,
)
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

SIDE_NAMES = ("A", "B")
MAX_CANDIDATES = 8  # candidates of each side
MAX_WEIGHTS = 1 << 26  # weights of all heads of one side: 12 x 12 heads at 680 tokens


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
        """The positions whose predictions are shown: all masked tokens, else `query`; -1 is the last token."""
        ids, task = self.trace.text.ids, task_of(self.trace.config)
        if task.fills_masks and (masked_positions := task.prediction_positions(ids, self.tokenizer.mask_id)):
            return masked_positions
        return (query if 0 <= query < len(ids) else len(ids) - 1,)


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
    left, right = (_side(name, question) for name, question in zip(SIDE_NAMES, request.sides, strict=True))
    texts = {"text": (left.trace.text, right.trace.text)}
    if left.trace.source and right.trace.source:
        texts["source"] = left.trace.source, right.trace.source
    alignment = request.alignment or default_alignment(texts.values())
    alignments = {axis: align(*pair, alignment) for axis, pair in texts.items()}
    left_answer, left_codes = _side_answer(left)
    right_answer, right_codes = _side_answer(right, offset=len(left_codes))
    answer = CompareAnswer(
        sides=(left_answer, right_answer),
        alignment=alignment,
        alignments=alignments,
        attentions=tuple(_compared_attention(left, right, pair, alignments) for pair in pair_attentions(left, right)),
        predictions=_predictions(left, right, request.query, alignments["text"]),
        milliseconds=(perf_counter() - started) * 1_000,
    )
    return Reply(answer, left_codes + right_codes)


def _side(name: str, question: Question) -> Side:
    """One side of a request. Raises TextError, prefixed with the side's name, if it cannot be run."""
    try:
        resolved = resolve(question)
        _require_short_enough(resolved)
        return Side(resolved)
    except HeadlightError as error:
        raise TextError(f"{name}: {error}") from error


def _require_short_enough(resolved: ResolvedQuestion) -> None:
    config, count = resolved.config, len(encode_input(resolved.model, resolved.tokenizer, resolved.model_input).ids)
    if config.layers * config.heads * count**2 > MAX_WEIGHTS:
        longest = int((MAX_WEIGHTS / (config.layers * config.heads)) ** 0.5)
        raise TextError(
            f"The text has {count} tokens; all heads of this model are compared on at most {longest}. Shorten it."
        )


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

    return ComparedAttention(
        left_name=pair.left.name,
        right_name=pair.right.name,
        title=pair.left.title,
        distance=tuple(_numbers_or_none(layer_distances(layer)) for layer in range(layers)),
    )


def _numbers_or_none(array: np.ndarray) -> tuple[float | None, ...]:
    """The numbers of an array, None for NaN."""
    return tuple(None if np.isnan(number) else float(number) for number in array)


def _predictions(left: Side, right: Side, query: int, alignment: TokenPairs) -> tuple[ComparedPrediction, ...]:
    """The predictions of both sides at corresponding positions; `query` is a position of the left side."""
    if not all(task_of(side.trace.config).predicts for side in (left, right)):
        return ()
    left_positions = left.prediction_positions(query)
    right_query = dict(alignment).get(left_positions[0], -1)
    positions = zip(left_positions, right.prediction_positions(right_query), strict=False)
    return tuple(_compared_prediction(left, right, *pair) for pair in positions)


def _compared_prediction(left: Side, right: Side, left_position: int, right_position: int) -> ComparedPrediction:
    """Two predictions over the union of both vocabularies."""
    one, other = probabilities(left.resolved, left_position), probabilities(right.resolved, right_position)
    names, both = _over_both_vocabularies(left, one, right, other)
    compared = np.where(np.isnan(both), -np.inf, both)
    top = {int(index) for row in compared for index in np.argsort(-row, kind="stable")[:MAX_CANDIDATES]}
    ranked = sorted(top, key=lambda index: (-compared[:, index].max(), index))
    problem_types = problem_type_name(left.resolved.config), problem_type_name(right.resolved.config)
    exclusive = problem_types == ("single-label", "single-label")
    shares = [_numbers_or_none(both[:, index]) for index in ranked]
    return ComparedPrediction(
        titles=(task_of(left.trace.config).prediction_title, task_of(right.trace.config).prediction_title),
        places=(answer_place(left.trace, left_position), answer_place(right.trace, right_position)),
        positions=(left_position, right_position),
        distance=float(jensen_shannon_distance(*np.nan_to_num(both))) if exclusive else None,
        candidates=tuple(
            ComparedCandidate(text=names[index], left=share[0], right=share[1])
            for index, share in zip(ranked, shares, strict=True)
        ),
        problem_types=problem_types,
    )


def _over_both_vocabularies(
    left: Side, one: np.ndarray, right: Side, other: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray]:
    """The union of both sides' answers, and their numbers [side answer], NaN if a side has no such answer."""
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
    """The union of two vocabularies of stripped tokens, and the index in it of each token of both."""
    texts = [name.strip() or name for name in (*left_names, *right_names)]
    names = tuple(dict.fromkeys(texts))
    index_of = {name: number for number, name in enumerate(names)}
    index = np.array([index_of[text] for text in texts])
    return names, index[: len(left_names)], index[len(left_names) :]
