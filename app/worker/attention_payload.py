"""The answer to a question for the browser: tokens, all heads, predictions before and after, and notes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from app.state.state import variant_fields
from app.worker.choices import variant_choices
from app.worker.resolved_question import ResolvedQuestion
from model.analysis.head_metrics import head_metrics
from model.array_types import Float
from model.attention_groups import AttentionGroup, attention_groups
from model.config import Config
from model.nn.masks import masks_title
from model.nn.variants import describe_missing_weights
from model.rendering.html import ablations_json, metric_values_json, patches_json, utf16_ends
from model.rendering.quantize import MAX_THUMBNAIL_SIDE, quantize_weights
from model.tasks import label_text, task_of
from model.text.tokenizer import Encoded, Tokenizer
from model.text.word_groups import sentence_numbers
from model.tracing.max_pool import max_pool
from model.tracing.recompute import max_pooled_value
from model.tracing.trace import NOT_FINITE, Trace, softmax
from model.vision.patches import EncodedImage

MAX_CANDIDATES = 10  # candidates of one prediction
MAX_METRIC_CELLS = 1 << 20  # cells of all heads; up to here the metrics are as good as free


@dataclass(frozen=True)
class Candidate:
    """One possible token (or label): its text with white space, and its probability before and after all changes."""

    text: str
    id: int
    before: float
    after: float


@dataclass(frozen=True)
class Prediction:
    """What the model predicts at one position; the page writes `title`, `preposition`, and the token there.

    There is no token where the answer is about the whole text.
    """

    position: int
    title: str
    preposition: str
    token_text: str | None
    candidates: tuple[Candidate, ...]


def quantized_weights(traced: Trace, attention_group: AttentionGroup) -> np.ndarray:
    """The quantized weights of all heads of an attention group, [layer head row column], pooled to 80 cells a side.

    All zero where the trace of a long text holds no weights: `quantized_layer_weights` makes them, layer by layer.
    """
    if not has_weights(traced, attention_group):
        rows, columns = (min(length, MAX_THUMBNAIL_SIDE) for length in sequence_lengths(traced, attention_group))
        return np.zeros((attention_group.layers, attention_group.heads, rows, columns), dtype=np.uint8)
    quantized_layers = []
    for layer in range(attention_group.layers):
        path = attention_group.path(layer)
        weights = traced[f"{path}.weights"]
        allowed = traced[f"{path}.mask"]
        allowed = allowed if allowed.strides[0] else allowed[:1]  # the heads of most models share one mask
        quantized_layers.append(
            quantize_weights(max_pool(weights, MAX_THUMBNAIL_SIDE), max_pool(allowed > 0, MAX_THUMBNAIL_SIDE))
        )
    return np.stack(quantized_layers)


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


def build_payload(resolved: ResolvedQuestion, query: int = -1) -> tuple[dict[str, Any], bytes]:
    """All that Explore paints: JSON values, and the quantized weights of each attention group in turn.

    Raises HeadlightError where the question has no answer; its text is what the person should read.
    """
    traced, tokenizer = resolved.trace, resolved.tokenizer
    group_payloads, chunks, offset = [], [], 0
    for attention_group in attention_groups(traced.config):
        block = quantized_weights(traced, attention_group)
        rows, columns = sequence_lengths(traced, attention_group)
        metrics = metrics_payload(traced, attention_group) if metrics_are_cheap(traced, attention_group) else None
        text = traced.source if attention_group.queries == "source" and traced.source else traced.text
        layout = {
            "rows": rows,
            "columns": columns,
            "pooled_shape": block.shape[-2:],
            "offset": offset,
            "metrics": metrics,
            "pending": not has_weights(traced, attention_group),
            "ablations": ablations_json(resolved.question.edits, attention_group),
        }
        has_segments = (
            attention_group.queries == attention_group.keys and max(sentence_numbers(text, tokenizer.end_id)) > 0
        )
        group_payloads.append(asdict(attention_group) | layout | {"has_segments": has_segments})
        chunks.append(block.tobytes())
        offset += block.size
    found_predictions = predictions(resolved, query)
    meta = {
        "tokens": tokens_payload(traced.text, tokenizer),
        "source_tokens": tokens_payload(traced.source, tokenizer) if traced.source else None,
        "maskable": tokenizer.mask_id is not None and task_of(traced.config).fills_masks,
        "context": traced.config.context_length,
        "patches": patches_json(traced),
        "attention_groups": group_payloads,
        "predictions": [asdict(prediction) for prediction in found_predictions],
        "changed": resolved.is_changed,
        "no_prediction_reason": "" if found_predictions else task_of(traced.config).no_prediction or NOT_FINITE,
        "notes": notes(resolved),
        "question": {**asdict(resolved.question), "query": query},
    }
    return meta, b"".join(chunks)


def metrics_payload(traced: Trace, attention_group: AttentionGroup) -> dict[str, list[float | None]]:
    """Every metric of every head of an attention group, layer by layer; None where a text does not determine it."""
    return metric_values_json(head_metrics(traced, attention_group.stack, attention_group.kind))


def tokens_payload(encoded: Encoded, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Each token for the browser."""
    ends_utf16 = utf16_ends(encoded)
    return [
        {
            "text": encoded.token_texts[position],
            "id": encoded.ids[position],
            "special": encoded.special_mask[position],
            "masked": encoded.ids[position] == tokenizer.mask_id,
            "end": ends_utf16[position],
        }
        for position in range(len(encoded.ids))
    ]


def predictions(resolved: ResolvedQuestion, query: int = -1) -> tuple[Prediction, ...]:
    """What the model says, compared with the model as trained: at `query`, or at each masked token.

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
    chosen = (replace(candidate, text=tokenizer.token_text(candidate.id)) for candidate in found)
    return Prediction(position, title, *answer_place(resolved.trace, position), tuple(chosen))


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
    candidates = tuple(replace(item, text=label_text(traced.config, item.id)) for item in chosen)
    return Prediction(position, task.prediction_title, *answer_place(traced, position), candidates)


def _top_candidates(before: Float[np.ndarray, " token"], after: Float[np.ndarray, " token"]) -> tuple[Candidate, ...]:
    """The likeliest of both, most likely after the changes first; shares are of all answers."""
    larger = np.maximum(before, after)
    count = min(MAX_CANDIDATES, len(larger))
    top = np.argpartition(-larger, count - 1)[:count]
    ranked = sorted(map(int, top), key=lambda token: (-after[token], -before[token], token))
    return tuple(Candidate("", token, float(before[token]), float(after[token])) for token in ranked)


def notes(resolved: ResolvedQuestion) -> list[str]:
    """What somebody should know before believing the picture."""
    note_texts, traced = variant_notes(resolved), resolved.trace
    longest = max(len(traced.text.ids), len(traced.source.ids) if traced.source else 0)
    if longest > 80:
        note_texts.append(f"{longest} tokens: each cell of a thumbnail shows the largest weight of its block.")
    return [" ".join(note_texts)] if note_texts else []


def variant_notes(resolved: ResolvedQuestion) -> list[str]:
    """What was exchanged, in sentences, and what that means."""
    trained, model = resolved.checkpoint.model.config, resolved.model
    note_texts = [f"{part}: {now} instead of {was}." for part, was, now in variant_differences(trained, model.config)]
    if note_texts:
        note_texts.append("The model was not trained this way; its weights expect the other.")
    missing = describe_missing_weights(model)
    return [*note_texts, missing] if missing else note_texts


def variant_differences(trained: Config, variant_config: Config) -> list[tuple[str, str, str]]:
    """Each part that differs from training: its title, and the titles of what it was and what it is."""
    trained_fields, now_fields = variant_fields(trained), variant_fields(variant_config)
    return [
        (title, _choice_title(names, trained_fields[part]), _choice_title(names, now_fields[part]))
        for part, (title, names) in variant_choices().items()
        if trained_fields[part] != now_fields[part]
    ]


def _choice_title(names: Mapping[str, str], choice: str) -> str:
    """What people call a choice for a part; only masks have more than these names."""
    return names[choice] if choice in names else masks_title(choice.split("+"))
