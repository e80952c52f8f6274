"""Pictures of heads as answers to a request: JSON values, and numbers for the browser to paint."""

from __future__ import annotations

from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np

from app.explore.export.data import value_array
from app.explore.head_view import HeadView, head_qk_projection, head_view
from app.state.request import integer_or_zero, parse_question, parse_state
from app.ui.wire_format import pack
from app.worker.attention_payload import (
    build_payload,
    has_weights,
    metrics_payload,
    quantized_layer_weights,
    sequence_lengths,
)
from app.worker.examples import write_target
from app.worker.head_selection import selected_attention
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.errors import EditError
from model.tracing.indices import require_position

HEAD_MATRIX_HOOK_POINTS = ("weights", "scores")
MAX_MATRIX_CELLS = 1 << 24  # numbers of one head: 64 MB


def handle_trace(body: dict[str, Any]) -> bytes:
    """All heads as bytes, tokens and predictions; see `build_payload`. Where the text is null, the model writes it."""
    start = perf_counter()
    meta, numbers = build_payload(_resolve_with_target(body), integer_or_zero(body.get("query", -1)))
    return pack({**meta, "milliseconds": (perf_counter() - start) * 1_000}, numbers)


def _resolve_with_target(body: dict[str, Any]) -> ResolvedQuestion:
    """What is asked; the target that an encoder-decoder shall write is that of the model as trained."""
    if body.get("text", "") is not None:
        return resolve(parse_question(body))
    resolved = resolve(parse_question(body | {"text": ""}))
    return resolved.with_input(text=write_target(resolved.checkpoint, resolved.location, resolved.source or ""))


def handle_head_matrix(body: dict[str, Any]) -> bytes:
    """The exact float32 numbers of one head at one hook point of an attention, [query key], row by row."""
    path, head = str(body.get("path", "")), integer_or_zero(body.get("head", 0))
    if path.rpartition(".")[2] not in HEAD_MATRIX_HOOK_POINTS:
        raise EditError(
            f"{path!r} cannot be asked for; possible are {', '.join(HEAD_MATRIX_HOOK_POINTS)} of an attention."
        )
    matrix = value_array(resolve(parse_question(body)), f"{path}[{head}]", MAX_MATRIX_CELLS).values.astype("<f4")
    return pack({"rows": matrix.shape[0], "columns": matrix.shape[1]}, matrix.tobytes())


def handle_head_view(body: dict[str, Any]) -> bytes:
    """The view of the chosen heads; `per_head` asks for each head by itself besides."""
    return pack_head_view(head_view(resolve(parse_question(body)), parse_state(body)), body.get("per_head") is True)


def pack_head_view(view: HeadView, with_heads: bool) -> bytes:
    """A view as float32 [row column], and last a byte of state for each cell.

    Where it is `with_heads`, every head by itself follows the numbers, float32 [head row column].
    """
    per_head = view.per_head if with_heads else view.per_head[:0]
    low, high = view.colour_limits
    meta = {
        "rows": asdict(view.rows),
        "columns": asdict(view.columns),
        "signed": view.quantity.signed,
        "scale": view.quantity.scale,
        "low": low,
        "high": high,
        "per_head": len(per_head),
        "rules": view.rules,
    }
    numbers = np.concatenate([view.values.ravel(), per_head.ravel()]).astype("<f4")
    return pack(meta, numbers.tobytes() + view.cell_states.tobytes())


def handle_thumbnails(body: dict[str, Any]) -> bytes:
    """The byte codes of all heads of one layer of a long text, [head row column], as `trace` gives them of others."""
    resolved, layer = resolve(parse_question(body)), integer_or_zero(body.get("layer", 0))
    attention_group = selected_attention(resolved.config, parse_state(body))
    if not 0 <= layer < attention_group.layers:
        raise EditError(f"There is no layer {layer}; this attention has {attention_group.layers}, counted from 0.")
    quantized = quantized_layer_weights(resolved, attention_group, layer)
    return pack({"layer": layer, "pooled_shape": quantized.shape[-2:]}, quantized.tobytes())


def handle_qk_projection(body: dict[str, Any]) -> bytes:
    """Queries and then keys of the chosen head in one plane, float32 [token axis], and what part its axes hold."""
    projection = head_qk_projection(resolve(parse_question(body)), parse_state(body))
    numbers = np.concatenate([projection.queries, projection.keys]).astype("<f4")
    return pack(
        {"queries": len(projection.queries), "explained_variance": projection.explained_variance}, numbers.tobytes()
    )


def handle_head_metrics(body: dict[str, Any]) -> bytes:
    """The metrics of all heads of one attention, for texts so long that no answer carries them along."""
    resolved = resolve(parse_question(body))
    attention_group, traced = selected_attention(resolved.config, parse_state(body)), resolved.trace
    if not has_weights(traced, attention_group):
        raise EditError("What heads do is measured from all weights at once; this text is too long for that.")
    return pack({"metrics": metrics_payload(traced, attention_group)})


def handle_query_key_weights(body: dict[str, Any]) -> bytes:
    """The weight from `query` to `key` in all heads of one attention, float32 [layer head]; NaN where it is masked."""
    resolved = resolve(parse_question(body))
    attention_group = selected_attention(resolved.config, parse_state(body))
    places = [integer_or_zero(body.get(name)) for name in ("query", "key")]
    for place, length in zip(places, sequence_lengths(resolved.trace, attention_group), strict=True):
        require_position(place, length)
    query, key = (range(place, place + 1) for place in places)
    heads, paths = (
        range(attention_group.heads),
        [attention_group.path(layer) for layer in range(attention_group.layers)],
    )
    weights, allowed = (
        np.stack([resolved.head_values(f"{path}.{name}", heads, query, key)[:, 0, 0] for path in paths])
        for name in ("weights", "mask")
    )
    return pack({}, np.where(allowed > 0, weights, np.nan).astype("<f4").tobytes())
