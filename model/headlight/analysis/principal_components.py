"""Vectors drawn in a plane by principal component analysis."""

from __future__ import annotations

import numpy as np

from headlight.array_types import Float


def project_to_plane(
    vectors: Float[np.ndarray, "vector channel"],
) -> tuple[Float[np.ndarray, "vector axis"], tuple[float, float]]:
    """The first two principal components of vectors, and each axis's share of the variance, 0 to 1.

    An axis's sign is such that the farthest vector is positive.
    """
    centred = vectors.astype(np.float64) - vectors.astype(np.float64).mean(0)
    left_singular, singular_values, _ = np.linalg.svd(centred, full_matrices=False)
    coordinates = np.zeros((len(vectors), 2), dtype=np.float32)
    axes = min(2, len(singular_values))
    coordinates[:, :axes] = (left_singular * singular_values)[:, :axes]
    coordinates *= np.where(np.take_along_axis(coordinates, np.abs(coordinates).argmax(0)[None], 0) < 0, -1, 1)
    total = max(float((singular_values**2).sum()), np.finfo(np.float64).tiny)
    variances = np.pad(singular_values**2, (0, 2))[:2] / total
    return coordinates, (float(variances[0]), float(variances[1]))
