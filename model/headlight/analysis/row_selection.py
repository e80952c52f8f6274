"""Selection of the cells of a row that hold a given mass; rows renormalized after keys were hidden."""

from __future__ import annotations

import numpy as np

from headlight.array_types import Bool, Float


def renormalize_rows(weights: Float[np.ndarray, "*shape query key"]) -> Float[np.ndarray, "*shape query key"]:
    """Rows that sum to one again after keys were hidden; an empty row stays empty."""
    total = weights.sum(-1, keepdims=True)
    rows: np.ndarray = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return rows


def top_mass_mask(values: Float[np.ndarray, "*shape query key"], mass: float) -> Bool[np.ndarray, "*shape query key"]:
    """The fewest cells in each row whose absolute values sum to at least `mass` (0 to 1) of the row's.

    Of equal cells the earlier come first; cells of zero are never included.
    """
    sizes = np.abs(values).astype(np.float64)
    order = np.argsort(-sizes, axis=-1, kind="stable")
    ranked = np.take_along_axis(sizes, order, -1)
    mass_before = ranked.cumsum(-1) - ranked
    total = ranked.sum(-1, keepdims=True)
    # A rounding error in the last cell's sum must not include one more.
    needed = (mass_before < mass * total * (1 - 1e-9)) & (ranked > 0)
    kept = np.zeros(values.shape, dtype=bool)
    np.put_along_axis(kept, order, needed, -1)
    return kept
