"""Attention rollout: how much of each input token a token holds after each layer."""

from __future__ import annotations

import numpy as np

from headlight.array_types import Float


def attention_rollout(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "layer query key"]:
    """How much of each input token a token holds after each layer (Abnar and Zuidema 2020, section 3).

    In each layer the mean of the heads and the residual stream count half each; the layers' matrices are multiplied.
    Every row sums to one: where a query attends to nothing, its residual stream passes alone.
    """
    identity = np.eye(weights.shape[-1], dtype=weights.dtype)
    accumulated: np.ndarray = identity
    layers = []
    for layer in 0.5 * weights.mean(axis=1) + 0.5 * identity:
        accumulated = layer / layer.sum(-1, keepdims=True) @ accumulated
        layers.append(accumulated)
    return np.stack(layers)
