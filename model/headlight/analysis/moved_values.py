"""Weights and the values that they move: each weighted value's share of a head's output, and attention sinks.

A weight is the factor on a value, whatever the norm of that value. If a value is short, a weight of 0.9 may carry 2 %
of the output (Kobayashi et al. 2020): the head attends there to do nothing (Xiao et al. 2024, "attention sinks"). This
leaves out the sum of the heads, the output bias, and the effect on later layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from headlight.analysis.residual_stream import per_head_output
from headlight.array_types import Float
from headlight.attention_groups import attention_groups
from headlight.errors import ConfigError
from headlight.nn.attention import Attention, repeat_key_values
from headlight.nn.transformer import Transformer, attention_at
from headlight.tracing.trace import Trace

KEEP = ("*.weights", "*.self.v", "*.cross.v")
SINK_WEIGHT = 0.3  # of the attention on one key, on average (Gu et al. 2025, "When Attention Sink Emerges")
SINK_SHARE = 1 / 3  # of its weight: a sink's share of the output is below this
CANCELLED = 0.01  # of the sum of the lengths: a shorter output is what is left of values that cancel
HeadCells = Float[np.ndarray, "head query key"]


@dataclass(frozen=True)
class MovedValues:
    """The weights of an attention's heads, and for each the share of the head's output that it carries.

    `length` is the share by the length of the weighted, projected value, ||a_ij v_j W_O|| over its sum in the row;
    `direction` is the part of the output that it makes, (a_ij v_j W_O) . o_i / ||o_i||^2, which may be negative and
    sums to 1 in a row. A row of zeros has shares of 0. If the values of a row cancel (CANCELLED), `direction` is NaN.
    """

    weights: HeadCells
    length: HeadCells
    direction: HeadCells


@dataclass(frozen=True)
class Sink:
    """A key that a head attends to without taking much from it: the mean weight, and the mean share of its output."""

    path: str
    head: int
    key: int
    weight: float
    share: float


@torch.inference_mode()
def moved_values(model: Transformer, trace: Trace, path: str) -> MovedValues:
    """The values moved by the weights of the attention at `path` (`decoder.3.self`); the trace must contain KEEP.

    Raises EditError for an attention that does not exist, or for a trace with missing values.
    """
    weights, outputs = value_outputs(model, trace, path)
    lengths = weights.abs() * outputs.norm(dim=-1)[:, None]
    moved = weights @ outputs  # head query d_model
    along = weights * (moved @ outputs.transpose(1, 2))
    total = moved.square().sum(-1, keepdim=True)
    along[(total.sqrt() < CANCELLED * lengths.sum(-1, keepdim=True)).expand_as(along)] = torch.nan
    shares = [
        each / whole.clamp(min=1e-30) for each, whole in ((lengths, lengths.sum(-1, keepdim=True)), (along, total))
    ]
    return MovedValues(*(np.asarray(each.cpu()) for each in (weights, *shares)))


def value_outputs(
    model: Transformer, trace: Trace, path: str
) -> tuple[Float[torch.Tensor, "head query key"], Float[torch.Tensor, "head key d_model"]]:
    """The weights of the attention at `path`, and each head's projected values; the trace must contain KEEP."""
    attention, _ = attention_at(model, path)
    require_no_gate(attention)
    values = torch.from_numpy(trace[f"{path}.v"].astype(np.float32))[None].to(attention.output.weight.device)
    outputs = per_head_output(attention, repeat_key_values(values, attention.group_size)[0])
    return torch.from_numpy(trace[f"{path}.weights"].astype(np.float32)).to(outputs), outputs


def attention_sinks(model: Transformer, trace: Trace) -> tuple[Sink, ...]:
    """The sinks of all heads of a text, heaviest first: much of the attention (SINK_WEIGHT), little of the output.

    Means over the queries after the key, or over all other queries in an attention without order. The trace must
    contain KEEP. Raises as `moved_values`.
    """
    paths = [group.path(layer) for group in attention_groups(trace.config) for layer in range(group.layers)]
    found = [sink for path in paths for sink in _sinks(path, moved_values(model, trace, path))]
    return tuple(sorted(found, key=lambda sink: -sink.weight))


def _sinks(path: str, moved: MovedValues) -> Iterator[Sink]:
    queries, keys = moved.weights.shape[1:]
    rows = np.broadcast_to((moved.weights != 0).any(-1, keepdims=True), moved.weights.shape)
    if ".self" in path:
        later = np.tri(queries, keys, -1, dtype=bool)
        is_causal = not (moved.weights * later.T).any()
        rows = rows & (later if is_causal else ~np.eye(queries, keys, dtype=bool))
    counts = np.maximum(rows.sum(1), 1)
    weight, share = ((each * rows).sum(1) / counts for each in (moved.weights, moved.length))
    for head, key in np.argwhere((weight >= SINK_WEIGHT) & (share < SINK_SHARE * weight) & (rows.sum(1) > 1)):
        yield Sink(path, int(head), int(key), float(weight[head, key]), float(share[head, key]))


def require_no_gate(attention: Attention) -> None:
    """Raise ConfigError for an attention whose output has a gate, which changes what a weight moves."""
    if attention.gate is not None:
        raise ConfigError("A gate changes what the heads of this model move, so only their weights can be shown.")
