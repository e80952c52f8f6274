"""Answers about heads: a JSON header, and numbers for the browser to paint."""

from __future__ import annotations

from time import perf_counter

import msgspec
import numpy as np
from msgspec import structs

from headlight.attention_groups import AttentionGroup, attention_groups
from headlight.errors import EditError
from headlight.nn.transformer import attention_at
from headlight.rendering.html import patches_json, sound_json
from headlight.tasks import task_of
from headlight.text.tokenizer import Tokenizer
from headlight.text.word_groups import sentence_numbers
from headlight.tracing.trace import NOT_FINITE, Trace, require_head, require_position
from headlight_app.contract.parts import AttentionGroupAnswer, Patches, Sound
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.arrays import value_array
from headlight_app.explore.answers.head_view import HeadView, head_qk_projection, head_view
from headlight_app.explore.contract import (
    HeadMatrixAnswer,
    HeadMatrixRequest,
    HeadMetricsAnswer,
    HeadMetricsRequest,
    HeadViewAnswer,
    HeadViewRequest,
    MatrixAxis,
    PartDifference,
    QkProjectionAnswer,
    QkProjectionRequest,
    QueryKeyWeightsAnswer,
    QueryKeyWeightsRequest,
    ThumbnailsAnswer,
    ThumbnailsRequest,
    TraceAnswer,
    TraceRequest,
)
from headlight_app.inference.attention_payload import (
    group_answers,
    group_metrics,
    has_weights,
    metrics_are_cheap,
    notes,
    predictions,
    quantized_layer_weights,
    quantized_weights,
    sequence_lengths,
    token_answers,
    variant_differences,
)
from headlight_app.inference.examples import write_target
from headlight_app.inference.head_selection import selected_attention
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

HEAD_MATRIX_HOOK_POINTS = ("weights", "scores")
MAX_MATRIX_CELLS = 1 << 24  # numbers of one head: 64 MB


def answer_trace(request: TraceRequest) -> Reply[TraceAnswer]:
    """All heads as bytes, tokens and predictions."""
    start = perf_counter()
    resolved = resolve(request.question)
    if request.writes_target:  # the model as trained writes the target, whatever is edited
        target = write_target(resolved.checkpoint, resolved.location, resolved.source or "")
        resolved = resolved.with_input(text=target)
    reply = trace_reply(resolved, request.query)
    milliseconds = (perf_counter() - start) * 1_000
    return Reply(structs.replace(reply.answer, milliseconds=milliseconds), reply.numbers)


def trace_reply(resolved: ResolvedQuestion, query: int = -1) -> Reply[TraceAnswer]:
    """Everything that Explore paints, and the byte codes of all heads.

    Raises HeadlightError if the question has no answer; its message is shown to the visitor.
    """
    traced, tokenizer = resolved.trace, resolved.tokenizer
    groups, codes = _with_faded_heads(resolved, *group_answers(resolved))
    found_predictions, patches, sound = predictions(resolved, query), patches_json(traced), sound_json(traced)
    pairs = zip(groups, attention_groups(traced.config), strict=True)
    answer = TraceAnswer(
        tokens=token_answers(traced.text, tokenizer),
        source_tokens=token_answers(traced.source, tokenizer.source_tokenizer) if traced.source else None,
        maskable=tokenizer.mask_id is not None and task_of(traced.config).fills_masks,
        context=traced.config.context_length,
        patches=msgspec.convert(patches, Patches) if patches else None,
        sound=msgspec.convert(sound, Sound) if sound else None,
        attention_groups=tuple(_with_metrics(answer, group, traced, tokenizer) for answer, group in pairs),
        predictions=found_predictions,
        changed=resolved.is_changed,
        differences=tuple(
            PartDifference(field=field, title=title, was=was, now=now)
            for field, title, was, now in variant_differences(resolved.checkpoint.model.config, resolved.config)
        ),
        no_prediction_reason="" if found_predictions else task_of(traced.config).no_prediction or NOT_FINITE,
        notes=notes(resolved),
        question=resolved.question,
        query=query,
        made_text=traced.text.text if traced.text.chat else "",
    )
    return Reply(answer, codes)


def _with_faded_heads(
    resolved: ResolvedQuestion, answers: list[AttentionGroupAnswer], codes: bytes
) -> tuple[list[AttentionGroupAnswer], bytes]:
    """Answers and codes, with the trained model's codes of the ablated heads appended."""
    faded = []
    for answer, group in zip(answers, attention_groups(resolved.config), strict=True):
        heads = tuple(sorted({head for ablated in answer.ablations.values() for head in ablated}))
        if heads and not answer.pending:
            as_trained = quantized_weights(resolved.as_trained.shown_trace, group)
            answer = structs.replace(answer, faded=heads, faded_offset=len(codes))
            codes += b"".join(as_trained[head].tobytes() for head in heads)
        faded.append(answer)
    return faded, codes


def _with_metrics(
    answer: AttentionGroupAnswer, group: AttentionGroup, traced: Trace, tokenizer: Tokenizer
) -> AttentionGroupAnswer:
    """The answer with its metrics if they are cheap, and whether its text is a sentence pair."""
    text = traced.source if group.queries == "source" and traced.source else traced.text
    tokenizer = tokenizer if text is traced.text else tokenizer.source_tokenizer
    return structs.replace(
        answer,
        metrics=group_metrics(traced, group) if metrics_are_cheap(traced, group) else None,
        has_segments=group.queries == group.keys and max(sentence_numbers(text, tokenizer.end_id)) > 0,
    )


def answer_head_matrix(request: HeadMatrixRequest) -> Reply[HeadMatrixAnswer]:
    """The exact float32 numbers of one head at one hook point of an attention, [query key], row by row."""
    path = request.path
    if path.rpartition(".")[2] not in HEAD_MATRIX_HOOK_POINTS:
        raise EditError(
            f"{path!r} cannot be requested; possible are {', '.join(HEAD_MATRIX_HOOK_POINTS)} of an attention."
        )
    resolved = resolve(request.question)
    if path.endswith(".weights") and resolved.shows_moved:
        attention_at(resolved.model, path.removesuffix(".weights"))
        numbers = resolved.shown_trace[path]
        require_head(request.head, len(numbers))
        matrix = numbers[request.head].astype("<f4")
    else:
        matrix = value_array(resolved, f"{path}[{request.head}]", MAX_MATRIX_CELLS).values.astype("<f4")
    return Reply(HeadMatrixAnswer(rows=matrix.shape[0], columns=matrix.shape[1]), matrix.tobytes())


def answer_head_view(request: HeadViewRequest) -> Reply[HeadViewAnswer]:
    """The view of the chosen heads; `per_head` also requests each head separately."""
    return head_view_reply(head_view(resolve(request.question), request.choice), request.per_head)


def head_view_reply(view: HeadView, with_heads: bool) -> Reply[HeadViewAnswer]:
    """A view as float32 [row column], followed by a state byte for each cell.

    With `with_heads`, each head separately comes between the two, float32 [head row column].
    """
    per_head = view.per_head if with_heads else view.per_head[:0]
    low, high = view.colour_limits
    answer = HeadViewAnswer(
        rows=MatrixAxis(labels=view.rows.labels, tokens=view.rows.tokens),
        columns=MatrixAxis(labels=view.columns.labels, tokens=view.columns.tokens),
        signed=view.quantity.signed,
        scale=view.quantity.scale,
        low=low,
        high=high,
        per_head=len(per_head),
        rules=view.rules,
    )
    numbers = np.concatenate([view.values.ravel(), per_head.ravel()]).astype("<f4")
    return Reply(answer, numbers.tobytes() + view.cell_states.tobytes())


def answer_thumbnails(request: ThumbnailsRequest) -> Reply[ThumbnailsAnswer]:
    """The byte codes of all heads of one layer of a long text, [head row column], as in `trace` for shorter texts."""
    resolved, layer = resolve(request.question), request.layer
    group = selected_attention(resolved.config, request.attention)
    if layer >= group.layers:
        raise EditError(f"There is no layer {layer}; this attention has {group.layers}, counted from 0.")
    codes = quantized_layer_weights(resolved, group, layer)
    return Reply(ThumbnailsAnswer(layer=layer, pooled_shape=(codes.shape[-2], codes.shape[-1])), codes.tobytes())


def answer_qk_projection(request: QkProjectionRequest) -> Reply[QkProjectionAnswer]:
    """Queries, then keys of a head in two dimensions, float32 [token axis], and each axis's explained variance."""
    resolved = resolve(request.question)
    group = selected_attention(resolved.config, request.attention)
    projection = head_qk_projection(resolved, group, request.layer, request.head)
    numbers = np.concatenate([projection.queries, projection.keys]).astype("<f4")
    answer = QkProjectionAnswer(queries=len(projection.queries), explained_variance=projection.explained_variance)
    return Reply(answer, numbers.tobytes())


def answer_head_metrics(request: HeadMetricsRequest) -> Reply[HeadMetricsAnswer]:
    """The metrics of all heads of one attention, for texts too long to include them in every answer."""
    resolved = resolve(request.question)
    group, traced = selected_attention(resolved.config, request.attention), resolved.trace
    if not has_weights(traced, group):
        raise EditError("Head metrics need all weights at once; this text is too long for that.")
    return Reply(HeadMetricsAnswer(metrics=group_metrics(traced, group)))


def answer_query_key_weights(request: QueryKeyWeightsRequest) -> Reply[QueryKeyWeightsAnswer]:
    """The weight from `query` to `key` in all heads of one attention, float32 [layer head]; NaN if masked."""
    resolved = resolve(request.question)
    group = selected_attention(resolved.config, request.attention)
    places = (request.query, request.key)
    for place, length in zip(places, sequence_lengths(resolved.trace, group), strict=True):
        require_position(place, length)
    query, key = (range(place, place + 1) for place in places)
    heads, paths = range(group.heads), [group.path(layer) for layer in range(group.layers)]
    weights, allowed = (
        np.stack([resolved.head_values(f"{path}.{name}", heads, query, key)[:, 0, 0] for path in paths])
        for name in ("weights", "mask")
    )
    return Reply(QueryKeyWeightsAnswer(), np.where(allowed > 0, weights, np.nan).astype("<f4").tobytes())
