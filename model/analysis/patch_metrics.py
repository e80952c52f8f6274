"""Where patches lie on their picture: which are beside each other, and how far apart two of them are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model.array_types import Float
from model.vision.patches import Patched

Cells = NDArray[np.bool_]  # query key


def steps(text: Patched) -> tuple[np.ndarray, np.ndarray]:
    """How many rows and how many columns each key lies from each query, [query key]; NaN where one is no patch."""
    first = len(text.ids) - text.rows * text.columns
    places = np.full((2, len(text.ids)), np.nan)
    places[:, first:] = np.indices((text.rows, text.columns)).reshape(2, -1)
    apart = np.abs(places[:, :, None] - places[:, None, :])
    return apart[0], apart[1]


def around(text: Patched) -> Cells:
    """The up to eight patches that touch the query's own."""
    rows, columns = steps(text)
    touching: Cells = np.maximum(rows, columns) == 1
    return touching


def same_row(text: Patched) -> Cells:
    """Other patches of the query's row."""
    rows, columns = steps(text)
    cells: Cells = (rows == 0) & (columns > 0)
    return cells


def same_column(text: Patched) -> Cells:
    """Other patches of the query's column."""
    rows, columns = steps(text)
    cells: Cells = (columns == 0) & (rows > 0)
    return cells


def patch_distance(weights: Float[np.ndarray, "*shape query key"], text: Patched) -> Float[np.ndarray, "*shape"]:
    """How far patches look on average, in patches (Dosovitskiy et al. 2021, section 4.5); tokens take no part.

    NaN where no patch looks at any.
    """
    apart = np.hypot(*steps(text))
    patches = np.isfinite(apart)
    seen = (weights * patches).sum(-1)
    total = (weights * np.where(patches, apart, 0.0).astype(weights.dtype)).sum(-1)
    each = np.divide(total, seen, out=np.zeros_like(total), where=seen > 0)
    none = np.full(each.shape[:-1], np.nan, dtype=np.float32)
    mean: np.ndarray = np.divide(each.sum(-1), (seen > 0).sum(-1), out=none, where=(seen > 0).any(-1))
    return mean
