"""Assembles the trace of a whole text: the rows of an earlier run, then the values of the new tokens."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from headlight.nn.hooks import hook_point_of
from headlight.nn.transformer import Transformer
from headlight.tracing.continuation import Continuation, NewValues, paths_with_later_keys
from headlight.tracing.interventions import is_source_axis, token_axes
from headlight.tracing.recompute import recompute_attention
from headlight.tracing.recording import to_numpy
from headlight.tracing.trace import Trace


def assembled_trace(model: Transformer, continuation: Continuation, new: NewValues) -> Trace:
    """The trace of the whole text of a request."""
    request, previous, start = continuation.request, continuation.previous, continuation.start
    edits = tuple(map(str, request.edits))

    def trace(values: Mapping[str, np.ndarray]) -> Trace:
        return Trace(
            model.config, request.text, request.source, values, edits, model.origin, request.live, new.live_paths
        )

    if previous is None:
        return trace(new.values)
    values = _extended_values(previous.trace.values, new.values, start)
    extended, with_later_keys = trace(values), paths_with_later_keys(previous.trace)
    if not with_later_keys:
        return extended
    for path, rows in _recomputed_rows(model, extended, with_later_keys, start).items():
        values[path] = np.concatenate((rows, new.values[path]), axis=1)
    return trace(values)


def _extended_values(
    earlier: Mapping[str, np.ndarray], new: Mapping[str, np.ndarray], start: int
) -> dict[str, np.ndarray]:
    """The values of an earlier run, by path: of its first `start` tokens, then the new ones."""
    values, extended = dict(earlier), dict[tuple[int, int], np.ndarray]()
    for path in new.keys() & values.keys():
        pair = id(values[path]), id(new[path])  # may belong to several paths: layers share a mask
        if pair not in extended:
            extended[pair] = _extended(path, values[path], new[path], start)
        values[path] = extended[pair]
    return values


def _extended(path: str, earlier: np.ndarray, new: np.ndarray, start: int) -> np.ndarray:
    """A value of the whole text: the rows of the first `start` tokens from an earlier run, then the new rows."""
    token_axis, has_own_keys = _token_axis(path)
    if token_axis is None:
        return new
    repeats = token_axis > 0 and new.strides[0] == earlier.strides[0] == 0  # one mask for all heads
    first, last = (value[:1] if repeats else value for value in (earlier, new))
    rows = (slice(None),) * token_axis
    shape = (*last.shape[:token_axis], start + last.shape[token_axis], *last.shape[token_axis + 1 :])
    whole = np.zeros(shape, last.dtype)  # mask and weights are 0 at keys after the query
    known = first[(*rows, slice(start))]
    known = known[..., :start] if has_own_keys else known
    whole[tuple(slice(size) for size in known.shape)] = known
    whole[(*rows, slice(start, None))] = last
    return np.broadcast_to(whole, (new.shape[0], *shape[1:])) if repeats else whole


@lru_cache(maxsize=4_096)  # called for every path at each letter
def _token_axis(path: str) -> tuple[int | None, bool]:
    """The axis that counts the text's tokens, None if there is none, and whether the last axis counts them as keys."""
    hook_point = hook_point_of(path)
    axis = next((axis - 1 for axis in token_axes(hook_point)), None)
    is_of_source = axis is not None and is_source_axis(path, hook_point, hook_point.axes[axis])
    return None if is_of_source else axis, hook_point.axes[-1] == "key" and ".self." in path


def _recomputed_rows(model: Transformer, trace: Trace, paths: list[str], start: int) -> dict[str, np.ndarray]:
    """The rows of the first `start` queries of some values: an earlier run has no numbers for the new keys."""
    rows = dict[str, np.ndarray]()
    for attention in dict.fromkeys(path.rpartition(".")[0] for path in paths):
        computed = recompute_attention(model, trace, attention).compute(slice(0, start))
        rows |= {path: to_numpy(value) for name, value in computed.items() if (path := f"{attention}.{name}") in paths}
    return rows
