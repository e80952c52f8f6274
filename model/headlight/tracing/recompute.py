"""Recompute values missing from the trace of a long text: an attention head, a region of it, the logits of a token.

Scores and weights grow with the square of the text's length. Above a budget of bytes `run` records only the inputs of
each attention (RECOMPUTE_FROM); from these the network's own functions, with the same edits, compute what is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.array_types import Bool, Float, Shaped
from headlight.errors import EditError
from headlight.nn.attention import (
    ALL_HEADS,
    Attention,
    AttentionContext,
    AttentionInputs,
    KeysAndValues,
    ScaleAndSinks,
    query_chunks,
)
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, Hook, HookScope, hook_for_rows, hook_scope, with_prefix
from headlight.nn.masks import QueryKeyPositions
from headlight.nn.transformer import Transformer, attention_at
from headlight.tracing.inputs import token_tensor
from headlight.tracing.interventions import InterventionHook, parse_interventions
from headlight.tracing.recording import to_numpy
from headlight.tracing.trace import Trace


def max_pool(values: np.ndarray, side: int) -> np.ndarray:
    """The largest value of each block, so that neither of the last two axes has more than `side` cells."""
    for axis in (-2, -1):
        values = max_pool_axis(values, side, axis)
    return values


def max_pool_axis(values: np.ndarray, side: int, axis: int) -> np.ndarray:
    """Max pooling along one axis; np.maximum.reduceat would be four times slower."""
    if values.shape[axis] <= side:
        return values
    starts = np.array(block_starts(values.shape[axis], side))
    largest: np.ndarray = np.take(values, starts[:-1], axis)
    for offset in range(1, int(np.diff(starts).max())):
        np.maximum(largest, np.take(values, np.minimum(starts[:-1] + offset, starts[1:] - 1), axis), out=largest)
    return largest


def block_starts(length: int, side: int) -> list[int]:
    """The starts of at most `side` blocks of almost equal size, and the end of the last one."""
    count = min(length, side)
    return [block * length // count for block in range(count + 1)] if count else [0]


@dataclass(frozen=True)
class RecomputedAttention:
    """One attention of a trace with its recorded input projected to q, k and v, ready to compute scores and weights."""

    attention: Attention
    q: Tensor
    keys_and_values: KeysAndValues
    scale_and_sinks: ScaleAndSinks
    context: AttentionContext
    hook: Hook

    @property
    def k(self) -> Float[Tensor, "1 key_value_head key head_dim"]:
        """The keys, after the rotary embedding."""
        return self.keys_and_values.rotated_k

    @property
    def v(self) -> Float[Tensor, "1 key_value_head key value_head_dim"]:
        """The values."""
        return self.keys_and_values.v

    def compute(self, queries: slice, heads: slice = ALL_HEADS) -> dict[str, Shaped[Tensor, "head query key"]]:
        """The values of every hook point of QUERY_KEY_HOOK_POINTS for some queries and heads.

        If an edit applies, all heads are computed, because its index counts them.
        """
        values: dict[str, Tensor] = {}
        row_hook = hook_for_rows(self.hook, queries.start, self.q.shape[2])

        def record(name: str, value: Tensor) -> Tensor:
            values[name] = row_hook(name, value)
            return values[name]

        has_edits = max(hook_scope(self.hook, name) for name in QUERY_KEY_HOOK_POINTS) is not HookScope.NONE
        q, context = self.q[:, :, queries], self.context.for_queries(queries)
        head_slice = ALL_HEADS if has_edits else heads
        self.attention.weighted_sum(q, self.k, self.v, self.scale_and_sinks, context, record, head_slice)
        return {name: value[0][heads] if has_edits else value[0] for name, value in values.items()}

    def chunks(self, queries: range) -> Iterator[slice]:
        """The queries in chunks that are small enough to compute all heads at once."""
        for chunk in query_chunks(len(queries), self.attention.heads * self.k.shape[2]):
            yield slice(queries.start + chunk.start, queries.start + chunk.stop)


@torch.inference_mode()
def recompute_attention(model: Transformer, trace: Trace, path: str) -> RecomputedAttention:
    """The attention at `path` (`decoder.3.self`). Raises EditError if the trace lacks its input.

    If it reads the keys and values of an earlier layer, the trace contains the input of that layer as well.
    """
    attention, _ = attention_at(model, path)
    name, layer, kind = path.split(".")
    x = traced_tensor(model, trace, f"{path}.input")[None]
    memory = traced_tensor(model, trace, "encoder.final_residual")[None] if kind == "cross" else None
    edits = intervention_hook(trace)
    contexts, cross_context = attention_contexts(model, trace, name, edits)
    context = contexts[int(layer)] if cross_context is None or kind == "self" else cross_context
    hook, key_value_path = with_prefix(edits, path), model.config.key_value_path(path)
    shared = None if key_value_path == path else recompute_attention(model, trace, key_value_path).keys_and_values
    q, keys_and_values = attention.project(x, AttentionInputs(context, memory, shared=shared), hook)
    return RecomputedAttention(attention, q, keys_and_values, attention.scale_and_sinks(q, hook), context, hook)


def attention_contexts(
    model: Transformer, trace: Trace, stack_name: str, hook: Hook
) -> tuple[list[AttentionContext], AttentionContext | None]:
    """Positions and masks of a stack that reads the whole text, for self-attention by layer and for cross-attention."""
    stack, device = model.stack(stack_name), model.device
    tokens = torch.arange(len(trace.text_of_stack(stack_name).ids), device=device)
    position_ids = stack.position_ids(tokens, with_prefix(hook, stack_name))
    contexts = stack.attention_contexts(
        QueryKeyPositions(tokens, tokens), None, QueryKeyPositions(position_ids, position_ids)
    )
    if not model.config.has_cross_attention or stack_name == "encoder":
        return contexts, None
    source_tokens = torch.arange(len(trace.text_of_stack("encoder").ids), device=device)
    return contexts, stack.cross_attention_context(QueryKeyPositions(tokens, source_tokens))


@torch.inference_mode()
def recompute_value(
    model: Transformer, trace: Trace, path: str, heads: range, queries: range, keys: range
) -> Shaped[np.ndarray, "head query key"]:
    """The value at `path` (`decoder.3.self.weights`) for some heads, queries and keys: from the trace, or recomputed.

    Apart from one chunk of queries (`query_chunks`), no array is larger than the result.
    """
    cells = tuple(slice(part.start, part.stop) for part in (heads, queries, keys))
    if path in trace.values:
        return np.asarray(trace[path][cells])
    attention_path, _, hook_point = path.rpartition(".")
    attention = recompute_attention(model, trace, attention_path)
    parts = [
        to_numpy(attention.compute(chunk, cells[0])[hook_point][:, :, cells[2]]) for chunk in attention.chunks(queries)
    ]
    return np.concatenate(parts, axis=1)


@torch.inference_mode()
def max_pooled_value(
    model: Transformer,
    trace: Trace,
    path: str,
    side: int,
    heads: slice = ALL_HEADS,
    queries: range | None = None,
    keys: range | None = None,
) -> tuple[Float[np.ndarray, "head row column"], Bool[np.ndarray, "head row column"]]:
    """The maximum of each block of cells of a value, at most `side` blocks a side, and whether any cell is allowed.

    For some heads, queries and keys (None: all) of the value at `path` (`decoder.3.self.weights`).
    """
    attention_path, _, hook_point = path.rpartition(".")
    attention = recompute_attention(model, trace, attention_path)
    queries, keys = queries or range(attention.q.shape[2]), keys or range(attention.k.shape[2])
    starts = queries.start + np.array(block_starts(len(queries), side))
    blocks = [RowBlocks(starts), RowBlocks(starts)]
    for chunk in attention.chunks(queries):
        values = attention.compute(chunk, heads)
        for pooled, name in zip(blocks, (hook_point, "mask"), strict=True):
            columns = to_numpy(values[name][:, :, keys.start : keys.stop])
            pooled.add(max_pool_axis(columns if name == hook_point else columns > 0, side, -1), chunk.start)
    return blocks[0].largest(), blocks[1].largest()


class RowBlocks:
    """The maximum of each block of rows, which are added a few at a time, [head row column]."""

    def __init__(self, starts: np.ndarray) -> None:
        self.starts = starts
        self.parts: list[list[np.ndarray]] = [[] for _ in starts[1:]]

    def add(self, rows: np.ndarray, first: int) -> None:
        """Add some rows; `first` is the number of the first one."""
        last = first + rows.shape[1]
        for block in range(np.searchsorted(self.starts, first, "right") - 1, np.searchsorted(self.starts[:-1], last)):
            part = slice(max(self.starts[block] - first, 0), self.starts[block + 1] - first)
            self.parts[block].append(rows[:, part].max(1))

    def largest(self) -> np.ndarray:
        """The maximum of each block, [head block column]."""
        return np.stack([np.maximum.reduce(parts) for parts in self.parts], axis=1)


@torch.inference_mode()
def trace_logits(model: Transformer, trace: Trace, positions: slice = slice(None)) -> Float[Tensor, "*shape token"]:
    """The logits at some positions, [pos token]: recorded, or from the residual stream after the final norm.

    [label] if the whole text is classified. Raises EditError for a model without an output head.
    """
    if trace.logits is not None:
        logits = torch.tensor(trace.logits, device=model.device)
        return logits if logits.dim() == 1 else logits[positions]
    final = traced_tensor(model, trace, f"{model.config.stacks[-1]}.final_residual")[None]
    answerable = model.answerable(token_tensor(trace.text, model))
    found = model.logits(final, answerable, intervention_hook(trace), positions)
    if found is None:
        raise EditError("This model ends without a head, so it has no logits.")
    return found[0].float()


def logits_at(model: Transformer, trace: Trace, position: int) -> Float[np.ndarray, " token"]:
    """The logits at one position (or of the whole text, if the model classifies it), as in `trace_logits`."""
    index = position % len(trace.text.ids)
    logits = trace_logits(model, trace, slice(index, index + 1))
    return to_numpy(logits if logits.dim() == 1 else logits[0])


@torch.inference_mode()
def logits_of_rows(model: Transformer, rows: Sequence[tuple[Trace, int]]) -> Float[np.ndarray, "row token"]:
    """The logits at positions of several traces, for a model whose head answers each token; see `logits_at`.

    One matrix product, which reads the largest weight matrix once; edits of logits are not applied.
    """
    path = f"{model.config.stacks[-1]}.final_residual"
    final = torch.tensor(np.stack([trace[path][position] for trace, position in rows]), device=model.device)
    logits = model.logits(final.to(model.embedding.weight.dtype)[None])
    if logits is None:
        raise EditError("This model ends without a head, so it has no logits.")
    return to_numpy(logits[0])


def traced_tensor(model: Transformer, trace: Trace, path: str) -> Tensor:
    """A recorded value on the model's device, in the dtype of its weights."""
    return torch.tensor(trace[path], device=model.device, dtype=model.embedding.weight.dtype)


def intervention_hook(trace: Trace) -> InterventionHook:
    """A hook that applies the edits of a trace again."""
    return InterventionHook(parse_interventions(trace.interventions), live=trace.live_edits)
