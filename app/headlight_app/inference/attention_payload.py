"""Parts of several answers: tokens, all heads as bytes, predictions before and after, and notes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from msgspec import structs

from headlight.analysis.head_metrics import head_metrics, unnormalized_sum
from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.config import Config
from headlight.nn.masks import masks_title
from headlight.nn.transformer import describe_missing_weights
from headlight.rendering.html import (
    MAX_THUMBNAIL_SIDE,
    ablations_json,
    metric_values_json,
    quantize_weights,
    utf16_ends,
)
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.recompute import max_pool, max_pooled_value
from headlight.tracing.trace import Trace, softmax
from headlight.vision.patches import EncodedImage
from headlight_app.contract.parts import AttentionGroupAnswer, Candidate, Metrics, Prediction, Token
from headlight_app.inference.choices import variant_choices
from headlight_app.inference.resolved_question import ResolvedQuestion
from headlight_app.state.variants import trained_variant

MAX_CANDIDATES = 10  # candidates of one prediction
MAX_METRIC_CELLS = 1 << 20  # cells of all heads; up to here the metrics are as good as free


def quantized_weights(traced: Trace, attention_group: AttentionGroup) -> np.ndarray:
    """The quantized weights of all heads of an attention group, [layer head row column], pooled to 80 cells a side.

    All zero where the trace of a long text holds no weights: `quantized_layer_weights` makes them, layer by layer.
    """
    if not has_weights(traced, attention_group):
        rows, columns = (min(length, MAX_THUMBNAIL_SIDE) for length in sequence_lengths(traced, attention_group))
        return np.zeros((attention_group.layers, attention_group.heads, rows, columns), dtype=np.uint8)
    paths = [attention_group.path(layer) for layer in range(attention_group.layers)]
    weights = np.stack([max_pool(traced[f"{path}.weights"], MAX_THUMBNAIL_SIDE) for path in paths])
    masks = [traced[f"{path}.mask"] for path in paths]
    if not any(mask.strides[0] for mask in masks):  # the heads of most models share one mask
        masks = [mask[:1] for mask in masks]
    return quantize_weights(weights, np.stack([max_pool(mask > 0, MAX_THUMBNAIL_SIDE) for mask in masks]))


def quantized_layer_weights(resolved: ResolvedQuestion, attention_group: AttentionGroup, layer: int) -> np.ndarray:
    """The byte codes of one layer's heads, [head row column], made again from what a long text's trace holds."""
    path = attention_group.path(layer)
    return quantize_weights(*max_pooled_value(resolved.model, resolved.trace, f"{path}.weights", MAX_THUMBNAIL_SIDE))


def has_weights(traced: Trace, attention_group: AttentionGroup) -> bool:
    """Whether a trace holds the weights of all heads."""
    return f"{attention_group.path(0)}.weights" in traced.values


def metrics_are_cheap(traced: Trace, attention_group: AttentionGroup) -> bool:
    """Whether the metrics of all heads are computed in no noticeable time."""
    return (
        has_weights(traced, attention_group)
        and attention_group.layers * attention_group.heads * math.prod(sequence_lengths(traced, attention_group))
        <= MAX_METRIC_CELLS
    )


def sequence_lengths(traced: Trace, attention_group: AttentionGroup) -> tuple[int, int]:
    """How many queries and keys the heads of an attention group have."""
    encoded = {"text": traced.text, "source": traced.source or traced.text}
    return len(encoded[attention_group.queries].ids), len(encoded[attention_group.keys].ids)


def group_answers(traced: Trace, edits: Sequence[str], offset: int = 0) -> tuple[list[AttentionGroupAnswer], bytes]:
    """Every attention group of a trace for the browser, and the byte codes of all heads, which begin at `offset`."""
    answers, chunks = [], []
    for group in attention_groups(traced.config):
        codes = quantized_weights(traced, group)
        answer = group_answer(group, sequence_lengths(traced, group), offset, edits)
        pooled_shape = (codes.shape[-2], codes.shape[-1])
        answers.append(structs.replace(answer, pooled_shape=pooled_shape, pending=not has_weights(traced, group)))
        chunks.append(codes.tobytes())
        offset += codes.size
    return answers, b"".join(chunks)


def group_answer(
    group: AttentionGroup, shape: tuple[int, int], offset: int, edits: Sequence[str]
) -> AttentionGroupAnswer:
    """An attention group whose heads have one number for each of the `shape` of queries and keys."""
    ablations = {edit: tuple(heads) for edit, heads in ablations_json(edits, group).items()}
    rows, columns = shape
    return AttentionGroupAnswer(
        **asdict(group), rows=rows, columns=columns, pooled_shape=shape, offset=offset, ablations=ablations
    )


def group_metrics(traced: Trace, attention_group: AttentionGroup) -> Metrics:
    """Every metric of every head of an attention group, layer by layer; None where a text does not determine it."""
    found = metric_values_json(head_metrics(traced, attention_group.stack, attention_group.kind))
    return {name: tuple(values) for name, values in found.items()}


def token_answers(encoded: Encoded, tokenizer: Tokenizer) -> tuple[Token, ...]:
    """Each token for the browser."""
    columns = (encoded.token_texts, encoded.ids, encoded.special_mask, utf16_ends(encoded))
    return tuple(
        Token(text=text, id=number, special=special, masked=number == tokenizer.mask_id, end=end)
        for text, number, special, end in zip(*columns, strict=True)
    )


def predictions(resolved: ResolvedQuestion, query: int = -1) -> tuple[Prediction, ...]:
    """The predictions, compared with those of the model as trained: at `query`, or at each masked token.

    Nothing, where it has no head to say it with or says what is no number.
    """
    if not task_of(resolved.config).predicts:
        return ()
    found = _compute_predictions(resolved, query)
    values = [value for one in found for item in one.candidates for value in (item.before, item.after)]
    return found if np.isfinite(values).all() else ()


def _compute_predictions(resolved: ResolvedQuestion, query: int) -> tuple[Prediction, ...]:
    after, task = resolved.trace, task_of(resolved.config)
    if task.predicts_labels:
        return (_label_prediction(resolved, 0 if task.whole_text else _query_position(after, query)),)
    positions: Sequence[int] = (_query_position(after, query),)
    title = task.prediction_title
    if task.fills_masks:
        masked_positions = task.prediction_positions(after.text.ids, resolved.tokenizer.mask_id)
        positions, title = (masked_positions, title) if masked_positions else (positions, "Nothing is masked")
    return tuple(_token_prediction(resolved, position, title) for position in positions)


def _query_position(traced: Trace, query: int) -> int:
    last = len(traced.text.ids) - 1
    return query if 0 <= query <= last else last


def answer_place(traced: Trace, position: int) -> tuple[str, str | None]:
    """The words in front of the token that an answer is about, and the token; None where it is about the whole text."""
    task = task_of(traced.config)
    if not task.whole_text:
        return task.preposition, traced.text.token_texts[position]
    return "of the whole image" if isinstance(traced.text, EncodedImage) else task.preposition, None


def _token_prediction(resolved: ResolvedQuestion, position: int, title: str) -> Prediction:
    tokenizer = resolved.tokenizer
    found = _top_candidates(*_probabilities_before_and_after(resolved, position))
    chosen = (structs.replace(candidate, text=tokenizer.token_text(candidate.id)) for candidate in found)
    return _prediction(resolved.trace, position, title, tuple(chosen))


def _prediction(traced: Trace, position: int, title: str, candidates: tuple[Candidate, ...]) -> Prediction:
    preposition, token_text = answer_place(traced, position)
    return Prediction(
        position=position, title=title, preposition=preposition, token_text=token_text, candidates=candidates
    )


def _probabilities_before_and_after(resolved: ResolvedQuestion, position: int) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of every answer at one place, before all changes and after."""
    after = probabilities(resolved, position)
    return (probabilities(resolved.as_trained, position) if resolved.is_changed else after), after


def probabilities(resolved: ResolvedQuestion, position: int) -> Float[np.ndarray, " token"]:
    """The probability of every answer at one place of a text of any length."""
    return softmax(resolved.logits(position))


def _label_prediction(resolved: ResolvedQuestion, position: int) -> Prediction:
    """The labels of a classifier: of the whole text, or of one token."""
    traced, task = resolved.trace, task_of(resolved.config)
    chosen = _top_candidates(*_probabilities_before_and_after(resolved, position))
    candidates = tuple(structs.replace(item, text=label_text(traced.config, item.id)) for item in chosen)
    return _prediction(traced, position, task.prediction_title, candidates)


def _top_candidates(before: Float[np.ndarray, " token"], after: Float[np.ndarray, " token"]) -> tuple[Candidate, ...]:
    """The likeliest of both, most likely after the changes first; shares are of all answers."""
    larger = np.maximum(before, after)
    count = min(MAX_CANDIDATES, len(larger))
    top = np.argpartition(-larger, count - 1)[:count]
    ranked = sorted(map(int, top), key=lambda token: (-after[token], -before[token], token))
    return tuple(
        Candidate(text="", id=token, before=float(before[token]), after=float(after[token])) for token in ranked
    )


def notes(resolved: ResolvedQuestion) -> tuple[str, ...]:
    """Notes to read before trusting the picture."""
    note_texts, traced = variant_notes(resolved), resolved.trace
    longest = max(len(traced.text.ids), len(traced.source.ids) if traced.source else 0)
    if longest > 80:
        note_texts.append(f"{longest} tokens: each cell of a thumbnail shows the largest weight of its block.")
    if traced.overflow_note:
        note_texts.append(traced.overflow_note)
    if resolved.config.attention_sinks:
        note_texts.append("Each head has a sink: what a row lacks to 1 goes to no token. Head metrics are of the rest.")
    elif resolved.is_changed:
        note_texts += _row_sum_notes(traced)
    return (" ".join(note_texts),) if note_texts else ()


def _row_sum_notes(traced: Trace) -> list[str]:
    """A sentence where the rows of an attention do not sum to 1, of the first such attention."""
    for path, weights in traced.values.items():
        total = unnormalized_sum(weights) if path.endswith(".weights") else None
        if total is not None:
            where = path.removesuffix(".weights")
            return [f"A row of {where} sums to {total:.3g}, not to 1. Head metrics divide each row by its sum."]
    return []


def variant_notes(resolved: ResolvedQuestion) -> list[str]:
    """The replaced parts, in sentences, and their consequence."""
    trained, model = resolved.checkpoint.model.config, resolved.model
    differences = variant_differences(trained, model.config)
    note_texts = [f"{title}: {now} instead of {was}." for _, title, was, now in differences]
    if note_texts:
        was = " and ".join(was for _, _, was, _ in differences)
        note_texts.append(f"The model was trained with {was}, so expect worse answers.")
    missing = describe_missing_weights(model)
    return [*note_texts, missing] if missing else note_texts


def variant_differences(trained: Config, variant_config: Config) -> list[tuple[str, str, str, str]]:
    """Each part that differs from training: its field, its title, and the titles of what it was and what it is."""
    was, now = trained_variant(trained), trained_variant(variant_config)
    return [
        (part, title, _choice_title(names, getattr(was, part)), _choice_title(names, getattr(now, part)))
        for part, (title, names) in variant_choices().items()
        if getattr(was, part) != getattr(now, part)
    ]


def _choice_title(names: Mapping[str, str], choice: str) -> str:
    """The title of a choice for a part; only masks have further names."""
    return names[choice] if choice in names else masks_title(choice.split("+"))
