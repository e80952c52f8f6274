"""What a long text's trace does not hold, made again from the residual stream that it does: one head, one region.

Scores and weights grow with the square of the text. Past a budget `run` keeps what each attention read, and here the
same functions with the same edits make from it the one picture that somebody looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.array_types import Bool, Float, Shaped
from model.errors import EditError
from model.nn.attention import ALL_HEADS, Attention, AttentionContext
from model.nn.block import Block
from model.nn.hooks import Hook, HookScope, hook_for_rows, hook_scope, with_prefix
from model.nn.masks import QueryKeyPositions
from model.nn.sites import QUERY_KEY_HOOK_POINTS
from model.nn.transformer import Transformer
from model.tracing.interventions import InterventionHook
from model.tracing.run import parse_interventions
from model.tracing.trace import Trace

CELLS_PER_BATCH = 1 << 22  # of all heads that are made at a time


@dataclass(frozen=True)
class RecomputedAttention:
    """One attention of a trace, ready to be looked at anew: its queries, keys and values, and who sees whom."""

    attention: Attention
    q: Tensor
    k: Tensor
    v: Tensor
    scale: Tensor
    context: AttentionContext
    hook: Hook

    def compute(self, head: int | None, queries: slice) -> dict[str, Shaped[Tensor, "head query key"]]:
        """The values of every paired site, for one head or all, and some queries with all their keys.

        One head is made alone unless an edit reaches in: an edit counts heads.
        """
        values: dict[str, Tensor] = {}
        row_hook = hook_for_rows(self.hook, queries.start, self.q.shape[2])

        def record(name: str, value: Tensor) -> Tensor:
            values[name] = row_hook(name, value)
            return values[name]

        has_edits = max(hook_scope(self.hook, name) for name in QUERY_KEY_HOOK_POINTS) is not HookScope.NONE
        chosen = ALL_HEADS if head is None else slice(head, head + 1)
        computed_heads = ALL_HEADS if has_edits else chosen
        q, context = self.q[:, :, queries], self.context.for_queries(queries)
        self.attention.weighted_sum(q, self.k, self.v, self.scale, context, record, computed_heads)
        return {name: value[0][chosen] if has_edits else value[0] for name, value in values.items()}


@torch.inference_mode()
def recompute_attention(model: Transformer, trace: Trace, path: str) -> RecomputedAttention:
    """The attention at `path` (`decoder.3.self`). Raises EditError where the trace lacks what it read."""
    name, layer, kind = path.split(".")
    stack, layer_index = model.stack(name), int(layer)
    block = stack.blocks[layer_index]
    assert isinstance(block, Block)
    attention = block.self_attention if kind == "self" else block.cross_attention
    if attention is None:
        raise EditError(f"This model has no cross-attention, so there is no {path}.")
    x = _load(model, trace, f"{path}.input")
    memory = _load(model, trace, "encoder.final_residual") if kind == "cross" else None
    token_positions, intervention_hook = (
        torch.arange(x.shape[1], device=x.device),
        InterventionHook(parse_interventions(trace.interventions)),
    )
    if memory is None:
        position_ids = stack.position_ids(token_positions, with_prefix(intervention_hook, name))
        context = stack.attention_contexts(
            QueryKeyPositions(token_positions, token_positions), None, QueryKeyPositions(position_ids, position_ids)
        )[layer_index]
    else:
        context = stack.cross_attention_context(
            QueryKeyPositions(token_positions, torch.arange(memory.shape[1], device=x.device))
        )
    hook = with_prefix(intervention_hook, path)
    q, k, v = attention.project(x, memory, context, hook)
    return RecomputedAttention(attention, q, k, v, hook("scale", attention.score_scales(q)), context, hook)


@torch.inference_mode()
def recompute_values(
    model: Transformer, trace: Trace, path: str, hook_points: Sequence[str], head: int, queries: range, keys: range
) -> dict[str, Shaped[np.ndarray, "query key"]]:
    """The exact values of several sites of one head at `path` (`decoder.3.self`), for some queries and keys."""
    attention = recompute_attention(model, trace, path)
    step = max(1, CELLS_PER_BATCH // (attention.k.shape[2] * attention.q.shape[1]))
    blocks = (slice(start, min(start + step, queries.stop)) for start in range(queries.start, queries.stop, step))
    parts_by_name: dict[str, list[np.ndarray]] = {site: [] for site in hook_points}
    for values in (attention.compute(head, block) for block in blocks):
        for site in hook_points:
            parts_by_name[site].append(_to_numpy(values[site][0, :, keys.start : keys.stop]))
    return {site: np.concatenate(parts) for site, parts in parts_by_name.items()}


def recompute_value(
    model: Transformer, trace: Trace, path: str, head: int, queries: range, keys: range
) -> Shaped[np.ndarray, "query key"]:
    """The exact values of one head at `path` (`decoder.3.self.weights`) for some queries and keys."""
    attention_path, _, hook_point = path.rpartition(".")
    if path in trace.values:
        return np.asarray(trace[path][head, queries.start : queries.stop, keys.start : keys.stop])
    return recompute_values(model, trace, attention_path, (hook_point,), head, queries, keys)[hook_point]


@torch.inference_mode()
def max_pooled_weights(
    model: Transformer, trace: Trace, path: str, head: int | None = None, side: int = 80
) -> tuple[Float[np.ndarray, "head row column"], Bool[np.ndarray, "head row column"]]:
    """The largest weight of each block of cells, at most `side` blocks a side, and whether any of it is allowed."""
    attention = recompute_attention(model, trace, path)
    weights, allowed = [], []
    starts = _block_starts(attention.q.shape[2], side)
    for first, end in zip(starts, [*starts[1:], attention.q.shape[2]], strict=True):
        values = attention.compute(head, slice(first, end))
        weights.append(_max_pool(values["weights"], side))
        allowed.append(_max_pool(values["mask"].to(torch.uint8), side) > 0)
    return np.stack(weights, axis=1), np.stack(allowed, axis=1)


@torch.inference_mode()
def logits_at(model: Transformer, trace: Trace, position: int) -> Float[np.ndarray, " token"]:
    """The logits at one position: kept, or made from the residual stream after the final norm."""
    if trace.logits is not None:
        return np.asarray(trace.logits[position])
    final = _load(model, trace, f"{model.config.stacks[-1]}.final_residual")
    index = position % final.shape[1]
    logits = model.output_head(final[:, index : index + 1])
    if logits is None:
        raise EditError("This model ends without a head, so it has no logits.")
    return _to_numpy(
        hook_for_rows(InterventionHook(parse_interventions(trace.interventions)), index, final.shape[1])(
            "logits", logits
        )[0, 0]
    )


def _block_starts(length: int, side: int) -> list[int]:
    count = min(length, side)
    return [block * length // count for block in range(count)]


def _max_pool(values: Shaped[Tensor, "head query key"], side: int) -> Shaped[np.ndarray, "head column"]:
    """The largest over the queries and over each block of keys."""
    highest = _to_numpy(values.amax(1))
    return np.asarray(np.maximum.reduceat(highest, _block_starts(highest.shape[-1], side), axis=-1))


def _load(model: Transformer, trace: Trace, path: str) -> Tensor:
    return torch.tensor(trace[path], device=model.device, dtype=model.embedding.weight.dtype)[None]


def _to_numpy(value: Tensor) -> np.ndarray:
    return (value.float() if value.is_floating_point() else value).cpu().numpy()
