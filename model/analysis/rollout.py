"""Pure questions about traces: what a head does in one, and what reaches a token."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from model.array_types import Float
from model.errors import EditError
from model.tracing.trace import Trace


def attention_rollout(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "layer query key"]:
    """How much of each first token a token holds after each layer (Abnar and Zuidema 2020, section 3).

    Per layer the heads' mean and the residual stream weigh half each; layers are multiplied. Every row sums to one:
    an empty one passes on the stream alone.
    """
    identity = np.eye(weights.shape[-1], dtype=weights.dtype)
    accumulated: np.ndarray = identity
    layers = []
    for layer in 0.5 * weights.mean(axis=1) + 0.5 * identity:
        accumulated = layer / layer.sum(-1, keepdims=True) @ accumulated
        layers.append(accumulated)
    return np.stack(layers)


def value_weighted(
    trace: Trace, kind: str = "self", stack: str | None = None
) -> Float[np.ndarray, "layer head query key"]:
    """Weights times the length of the value they fetch: much attention to a short value moves little.

    Kobayashi et al. 2020, section 3, before the output projection. Rows do not sum to one.
    """
    weights = trace.attention(kind, stack)
    lengths = np.linalg.norm(trace.stack_layers("v", kind, stack), axis=-1)  # layer key_value_head key
    shared = weights.shape[1] // lengths.shape[1]
    fetched: np.ndarray = weights * np.repeat(lengths, shared, axis=1)[:, :, None, :]
    return fetched.astype(np.float32, copy=False)


def difference(before: Trace, after: Trace) -> Mapping[str, np.ndarray]:
    """after - before, for every path that both traces hold in the same shape.

    Masks, being yes or no, become -1, 0 or 1. Raises EditError where the two read texts of different length.
    """
    lengths = len(before.text.ids), len(after.text.ids)
    if lengths[0] != lengths[1]:
        told = f"these have {lengths[0]} and {lengths[1]} tokens"
        raise EditError(f"Two runs can be compared on texts of the same length only; {told}.")
    both = {path: (value, after[path]) for path, value in before.values.items() if path in after.values}
    return {path: _signed(new) - _signed(old) for path, (old, new) in both.items() if old.shape == new.shape}


def _signed(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int8) if values.dtype == bool else values
