"""Operations on attention maps: rollout through layers, largest cells, rows summing to one, one map of all heads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headlight.array_types import Bool, Float
from headlight.registry import Registry


def attention_rollout(
    weights: Float[np.ndarray, "layer head query key"], residual: bool = True
) -> Float[np.ndarray, "layer query key"]:
    """The share of each input token in each token after every layer (Abnar and Zuidema 2020, section 3).

    In each layer the mean of the heads and the residual stream count half each, or only the heads in a model without a
    `residual` connection; the layers' matrices are multiplied. Every row sums to one, and negative weights, which only
    an edit can cause, count as 0. If a query attends to nothing, only its residual stream counts; without a residual
    connection its row is empty.
    """
    identity = np.eye(weights.shape[-1], dtype=weights.dtype)
    heads = np.maximum(weights, 0).mean(axis=1)
    accumulated: np.ndarray = identity
    layers = []
    for layer in 0.5 * heads + 0.5 * identity if residual else heads:
        accumulated = renormalize_rows(layer) @ accumulated
        layers.append(accumulated)
    return np.stack(layers)


def renormalize_rows(weights: Float[np.ndarray, "*shape query key"]) -> Float[np.ndarray, "*shape query key"]:
    """Rows that sum to one again after keys were hidden; an empty row stays empty."""
    total = np.einsum("...k->...", weights)[..., None]  # faster than sum() of short rows
    rows: np.ndarray = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return rows


def top_mass_mask(values: Float[np.ndarray, "*shape query key"], mass: float) -> Bool[np.ndarray, "*shape query key"]:
    """The fewest cells of each row that hold at least the fraction `mass` (0 to 1) of the sum of its absolute values.

    Among equal cells the earlier come first; cells of zero are never included.
    """
    sizes = np.abs(values).astype(np.float64)
    order = np.argsort(-sizes, axis=-1, kind="stable")
    ranked = np.take_along_axis(sizes, order, -1)
    mass_before = ranked.cumsum(-1) - ranked
    total = ranked.sum(-1, keepdims=True)
    # A rounding error in the last cell's sum must not add another cell.
    needed = (mass_before < mass * total * (1 - 1e-9)) & (ranked > 0)
    kept = np.zeros(values.shape, dtype=bool)
    np.put_along_axis(kept, order, needed, -1)
    return kept


def _mean_of_heads(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    total = np.where(counted, values, 0).sum(0, dtype=np.float64)
    mean: np.ndarray = np.divide(total, counted.sum(0), out=np.full(total.shape, np.nan), where=counted.any(0))
    return mean


def _largest_of_heads(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    head = np.where(counted, np.abs(values), -1).argmax(0)
    return np.where(counted.any(0), np.take_along_axis(values, head[None], 0)[0], np.nan)


HEAD_REDUCTIONS: Registry[Callable[[np.ndarray, np.ndarray], np.ndarray]] = Registry(
    "head reduction", {"mean": _mean_of_heads, "max": _largest_of_heads}
)


def combine_heads(
    values: Float[np.ndarray, "head row column"], counted: Bool[np.ndarray, "head row column"], reduction: str
) -> Float[np.ndarray, "row column"]:
    """One map of several heads; a cell includes only the heads for which it is `counted`, and is NaN if there are none.

    In forbidden cells, weights and values computed from them count as 0; scores do not count.
    """
    return HEAD_REDUCTIONS[reduction](values, counted).astype(np.float32)
