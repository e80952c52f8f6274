"""Parts that several answers share: tokens, all heads as byte codes, predictions, and notes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import torch
from cachetools import LRUCache, cached
from msgspec import structs
from torch.nn import functional

from headlight.analysis.head_metrics import head_metrics, unnormalized_sum, without_repeated_masks
from headlight.analysis.moved_values import KEEP as MOVED_KEEP
from headlight.analysis.moved_values import attention_sinks
from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.config import Config
from headlight.nn.masks import masks_title
from headlight.nn.transformer import describe_missing_weights
from headlight.problem_types import problem_type_of
from headlight.rendering.html import (
    MAX_THUMBNAIL_SIDE,
    ablations_json,
    metric_values_json,
    quantize_weights,
    tokens_json,
)
from headlight.rendering.predictions import predictions_json
from headlight.sound.frames import EncodedSound
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.inputs import typed_separator
from headlight.tracing.recompute import max_pool, max_pooled_value, trace_logits
from headlight.tracing.trace import Trace
from headlight.views.words import percent, three_digits
from headlight_app.contract.parts import AttentionGroupAnswer, Metrics, Prediction, Token
from headlight_app.contract.question import MEASURES
from headlight_app.inference.choices import variant_choices
from headlight_app.inference.resolved_question import ResolvedQuestion
from headlight_app.state.variants import trained_variant

MAX_METRIC_CELLS = 1 << 20  # cells of all heads, up to which metrics take negligible time
MAX_LOSS_PRODUCTS = 1 << 26  # multiplications for the logits of a text: about 3 ms of one core at each letter


def quantized_weights(traced: Trace, attention_group: AttentionGroup) -> np.ndarray:
    """The quantized weights of all heads of an attention group, [layer head row column], pooled to 80 cells a side.

    All zero if the trace of a long text has no weights: `quantized_layer_weights` computes them layer by layer.
    """
    if not has_weights(traced, attention_group):
        rows, columns = (min(length, MAX_THUMBNAIL_SIDE) for length in shown_lengths(traced, attention_group))
        return np.zeros((attention_group.layers, attention_group.heads, rows, columns), dtype=np.uint8)
    paths = [attention_group.path(layer) for layer in range(attention_group.layers)]
    cells = (slice(None), *map(slice, shown_lengths(traced, attention_group)))
    weights = np.stack([max_pool(traced[f"{path}.weights"][cells], MAX_THUMBNAIL_SIDE) for path in paths])
    masks = without_repeated_masks([traced[f"{path}.mask"] for path in paths])
    return quantize_weights(weights, np.stack([max_pool(mask[cells] > 0, MAX_THUMBNAIL_SIDE) for mask in masks]))


def quantized_layer_weights(resolved: ResolvedQuestion, attention_group: AttentionGroup, layer: int) -> np.ndarray:
    """The byte codes of one layer's heads, [head row column], recomputed from a long text's trace."""
    path, shown = f"{attention_group.path(layer)}.weights", shown_lengths(resolved.trace, attention_group)
    queries, keys = map(range, shown)
    return quantize_weights(
        *max_pooled_value(resolved.model, resolved.trace, path, MAX_THUMBNAIL_SIDE, queries=queries, keys=keys)
    )


def has_weights(traced: Trace, attention_group: AttentionGroup) -> bool:
    """Whether a trace contains the weights of an attention group's heads."""
    return f"{attention_group.path(0)}.weights" in traced.values


def metrics_are_cheap(traced: Trace, attention_group: AttentionGroup) -> bool:
    """Whether computing the metrics of all heads takes negligible time."""
    return (
        has_weights(traced, attention_group)
        and attention_group.layers * attention_group.heads * math.prod(sequence_lengths(traced, attention_group))
        <= MAX_METRIC_CELLS
    )


def sequence_lengths(traced: Trace, attention_group: AttentionGroup) -> tuple[int, int]:
    """How many queries and keys the heads of an attention group have."""
    queries, keys = _texts_of(traced, attention_group)
    return len(queries.ids), len(keys.ids)


def shown_lengths(traced: Trace, attention_group: AttentionGroup) -> tuple[int, int]:
    """How many queries and keys thumbnails show; for a sound, without the frames of trailing silence."""
    queries, keys = _texts_of(traced, attention_group)
    return queries.read_count, keys.read_count


def _texts_of(traced: Trace, attention_group: AttentionGroup) -> tuple[Encoded, Encoded]:
    encoded = {"text": traced.text, "source": traced.source or traced.text}
    return encoded[attention_group.queries], encoded[attention_group.keys]


def group_answers(resolved: ResolvedQuestion, offset: int = 0) -> tuple[list[AttentionGroupAnswer], bytes]:
    """Every attention group of a question for the browser, and the byte codes of all heads, from `offset`."""
    traced, edits = resolved.shown_trace, resolved.question.edits
    shows = MEASURES["moved"] if resolved.shows_moved else ""
    answers, chunks = [], []
    for group in attention_groups(traced.config):
        codes = quantized_weights(traced, group)
        answer = group_answer(group, shown_lengths(traced, group), offset, edits)
        pooled_shape = (codes.shape[-2], codes.shape[-1])
        pending = not has_weights(traced, group)
        answers.append(structs.replace(answer, pooled_shape=pooled_shape, pending=pending, shows=shows))
        chunks.append(codes.tobytes())
        offset += codes.size
    return answers, b"".join(chunks)


def group_answer(
    group: AttentionGroup, shape: tuple[int, int], offset: int, edits: Sequence[str]
) -> AttentionGroupAnswer:
    """An attention group for the browser: a map of `shape` [row column] for each head, the first at `offset`."""
    ablations = {edit: tuple(heads) for edit, heads in ablations_json(edits, group).items()}
    rows, columns = shape
    return AttentionGroupAnswer(
        **vars(group), rows=rows, columns=columns, pooled_shape=shape, offset=offset, ablations=ablations
    )


def group_metrics(traced: Trace, attention_group: AttentionGroup) -> Metrics:
    """Every metric of every head of an attention group, layer by layer; None if the text does not determine it."""
    found = metric_values_json(head_metrics(traced, attention_group.stack, attention_group.kind))
    return {name: tuple(values) for name, values in found.items()}


def token_answers(encoded: Encoded, tokenizer: Tokenizer) -> tuple[Token, ...]:
    """Each token for the browser."""
    mask_id = tokenizer.mask_id if encoded.signal is None else None  # patches and frames are numbered
    rows = [row | {"masked": row["id"] == mask_id} for row in tokens_json(encoded)]
    return msgspec.convert(rows, tuple[Token, ...])


def predictions(resolved: ResolvedQuestion, query: int = -1) -> tuple[Prediction, ...]:
    """The predictions at `query` or at each masked token, beside the predictions of the model as trained."""
    before = resolved.as_trained.logits if resolved.is_changed else None
    found = predictions_json(resolved.trace, resolved.tokenizer, query, resolved.logits, before)
    return msgspec.convert(found, tuple[Prediction, ...])


def probabilities(resolved: ResolvedQuestion, position: int) -> Float[np.ndarray, " token"]:
    """The probability (or score) of every answer at one position of a text of any length."""
    return problem_type_of(resolved.config).values(resolved.logits(position))


def notes(resolved: ResolvedQuestion) -> tuple[str, ...]:
    """Notes to read before trusting the picture."""
    note_texts, traced = variant_notes(resolved, loss_note(resolved)), resolved.trace
    heard = traced.source or traced.text
    longest = max(traced.text.read_count, heard.read_count)
    if numbers := resolved.config.recurrence.describe():
        note_texts.append(numbers)
    if separator := typed_separator(traced.text, resolved.config, resolved.tokenizer):
        note_texts.append(f"{separator} in a sentence does not begin a second text, which has a box of its own.")
    if isinstance(heard, EncodedSound):
        note_texts += _sound_notes(heard)
    if resolved.config.decoder.alignment_heads:
        note_texts.append("Heads with ◆ follow the sound from token to token, says the checkpoint (alignment heads).")
    if longest > 80:
        note_texts.append(f"{longest} tokens: each cell of a thumbnail shows the largest weight of its block.")
    if traced.overflow_note:
        note_texts.append(traced.overflow_note)
    note_texts += _sink_notes(resolved)
    if resolved.config.attention.sinks:
        note_texts.append("Each head has a sink: a row's missing weight goes to no token. Head metrics ignore it.")
    elif resolved.is_changed:
        note_texts += _row_sum_notes(traced)
    return (" ".join(note_texts),) if note_texts else ()


def _sink_notes(resolved: ResolvedQuestion) -> list[str]:
    """A note on the sinks of a text, if the question asks for what weights move."""
    if resolved.question.measure != "moved":
        return []
    if not resolved.shows_moved:
        return ["This text is too long to show what weights move, so pictures show the weights."]
    sinks = attention_sinks(resolved.model, resolved.trace_of(*MOVED_KEEP))
    if not sinks:
        return ["No head has a sink in this text: no key takes much attention and moves little."]
    first = sinks[0]
    heads = len({(sink.path, sink.head) for sink in sinks})
    return [
        f"{'A head has a sink' if heads == 1 else f'{heads} heads have a sink'} in this text, a key with much "
        f"attention that moves little. Most: {first.path}, head {first.head} gives token {first.key} "
        f"{percent(first.weight, 0)} of its attention, which makes {percent(first.share, 0)} of its output."
    ]


def _sound_notes(heard: EncodedSound) -> list[str]:
    """How much of a recording the model reads, and how much silence follows."""
    sound, silent = heard.sound, len(heard.ids) - heard.read_count
    read = f"the first {sound.seconds_read:.1f} of " if sound.seconds_read < sound.seconds - heard.frame_seconds else ""
    texts = [
        f"The model hears {read}{sound.seconds:.1f} seconds as {heard.read_count:,} frames of "
        f"{1_000 * heard.frame_seconds:.0f} ms."
    ]
    if silent:
        texts.append(
            f"{silent:,} frames of silence follow, which heads look at, too: in the Map, press − to zoom out to them."
        )
    return texts


def _row_sum_notes(traced: Trace) -> list[str]:
    """A note on the first attention whose rows do not sum to 1, if any."""
    for path, weights in traced.values.items():
        total = unnormalized_sum(weights) if path.endswith(".weights") else None
        if total is not None:
            where = path.removesuffix(".weights")
            return [
                f"A row of {where} sums to {three_digits(total)}, not to 1. Head metrics divide each row by its sum."
            ]
    return []


def variant_notes(resolved: ResolvedQuestion, consequence: str = "") -> list[str]:
    """The replaced parts, in sentences, and their consequence, if it is known."""
    trained, model = resolved.checkpoint.model.config, resolved.model
    differences = variant_differences(trained, model.config)
    note_texts = [f"{title}: {now} instead of {was}." for _, title, was, now in differences]
    if note_texts:
        note_texts += ["The model was not trained this way.", consequence]
    return [text for text in (*note_texts, describe_missing_weights(model)) if text]


def loss_note(resolved: ResolvedQuestion) -> str:
    """The loss on this text as trained and with the changes, and why a lower one makes no better model.

    Empty if no part is replaced, or if the loss is not known at once.
    """
    if not resolved.question.variant or not _has_loss(resolved):
        return ""
    before, after = _mean_loss(resolved.as_trained), _mean_loss(resolved)
    if not (math.isfinite(before) and math.isfinite(after)):
        return ""
    words = "With all changes the loss on this text" if resolved.question.edits else "The loss on this text"
    was, now = f"{before:.2f}", f"{after:.2f}"
    if was == now:
        return f"{words} stays at {was} nats per token."
    if after > before:
        return f"{words} rises from {was} to {now} nats per token."
    sees = "a token now sees the very token that it is to predict"
    reason = sees if _looks_ahead(resolved.trace) else "one text says little"
    return f"{words} falls from {was} to {now} nats per token; that makes no better model: {reason}."


def _looks_ahead(traced: Trace) -> bool:
    """Whether a query of the predicting stack may attend to a later token."""
    own = f"{traced.config.stacks[-1]}."
    masks = (mask for path, mask in traced.values.items() if path.startswith(own) and path.endswith(".self.mask"))
    return any(bool((np.triu(mask, 1) > 0).any()) for mask in masks)


def _has_loss(resolved: ResolvedQuestion) -> bool:
    """Whether the model predicts each token of what a person typed from those before it, at once.

    The target of an encoder-decoder is its own answer, unless a person typed it, so its loss is none of the text's.
    """
    config, count = resolved.config, len(resolved.trace.text.ids)
    continues = task_of(config).continues_text and not config.has_cross_attention
    return continues and count > 1 and count * config.vocabulary_size * config.d_model <= MAX_LOSS_PRODUCTS


@cached(LRUCache(256), key=lambda resolved: resolved.run_key(()))
def _mean_loss(resolved: ResolvedQuestion) -> float:
    """The mean negative log-likelihood (nats) of the tokens after the first."""
    logits = trace_logits(resolved.model, resolved.trace)[:-1]
    targets = torch.tensor(resolved.trace.text.ids[1:], device=logits.device)
    return functional.cross_entropy(logits, targets).item()


def variant_differences(trained: Config, variant_config: Config) -> list[tuple[str, str, str, str]]:
    """Each part that differs from training: its field, its title, and the titles of the old and new choice."""
    was, now = trained_variant(trained), trained_variant(variant_config)
    return [
        (part, title, _choice_title(names, getattr(was, part)), _choice_title(names, getattr(now, part)))
        for part, (title, names) in variant_choices().items()
        if getattr(was, part) != getattr(now, part)
    ]


def _choice_title(names: Mapping[str, str], choice: str) -> str:
    """The title of a choice for a part; only masks have further names."""
    return names[choice] if choice in names else masks_title(choice.split("+"))
