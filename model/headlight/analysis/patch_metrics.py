"""Head metrics of image patches: which patches are neighbours, and how far apart two of them are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headlight.array_types import Float
from headlight.vision.patches import EncodedImage

QueryKeyMask = NDArray[np.bool_]  # query key


def patch_offsets(text: EncodedImage) -> tuple[np.ndarray, np.ndarray]:
    """How many rows and how many columns each key is from each query, [query key]; NaN where either is not a patch."""
    coordinates = np.full((2, len(text.ids)), np.nan)
    coordinates[:, text.first_patch :] = np.indices((text.patch_rows, text.patch_columns)).reshape(2, -1)
    offsets = np.abs(coordinates[:, :, None] - coordinates[:, None, :])
    return offsets[0], offsets[1]


def neighbours(text: EncodedImage) -> QueryKeyMask:
    """The up to eight patches around the query's."""
    rows, columns = patch_offsets(text)
    adjacent: QueryKeyMask = np.maximum(rows, columns) == 1
    return adjacent


def same_row(text: EncodedImage) -> QueryKeyMask:
    """Other patches of the query's row."""
    rows, columns = patch_offsets(text)
    cells: QueryKeyMask = (rows == 0) & (columns > 0)
    return cells


def same_column(text: EncodedImage) -> QueryKeyMask:
    """Other patches of the query's column."""
    rows, columns = patch_offsets(text)
    cells: QueryKeyMask = (columns == 0) & (rows > 0)
    return cells


def patch_distance(weights: Float[np.ndarray, "*shape query key"], text: EncodedImage) -> Float[np.ndarray, "*shape"]:
    """The mean attention distance between patches, in patches (Dosovitskiy et al. 2021, section 4.5).

    Only patches count; NaN where no patch attends to another.
    """
    distances = np.hypot(*patch_offsets(text))
    between_patches = np.isfinite(distances)
    patch_weight = (weights * between_patches).sum(-1)
    weighted_distance = (weights * np.where(between_patches, distances, 0.0).astype(weights.dtype)).sum(-1)
    per_query = np.divide(weighted_distance, patch_weight, out=np.zeros_like(weighted_distance), where=patch_weight > 0)
    none = np.full(per_query.shape[:-1], np.nan, dtype=np.float32)
    mean: np.ndarray = np.divide(
        per_query.sum(-1), (patch_weight > 0).sum(-1), out=none, where=(patch_weight > 0).any(-1)
    )
    return mean
