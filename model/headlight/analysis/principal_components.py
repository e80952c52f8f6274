"""Projection of vectors to a plane by principal component analysis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headlight.array_types import Float
from headlight.tracing.trace import Trace, require_head


def project_to_plane(
    vectors: Float[np.ndarray, "vector channel"],
) -> tuple[Float[np.ndarray, "vector axis"], tuple[float, float]]:
    """The first two principal components of vectors, and each axis's share of the variance, 0 to 1.

    The sign of an axis makes the farthest vector positive.
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


@dataclass(frozen=True, eq=False)
class QKProjection:
    """Queries and keys of one head in a plane; `explained_variance` is each axis's share of the variance, 0 to 1."""

    queries: Float[np.ndarray, "query axis"]
    keys: Float[np.ndarray, "key axis"]
    explained_variance: tuple[float, float]


def qk_projection(trace: Trace, path: str, head: int) -> QKProjection:
    """The first two principal components of a head's queries and keys together (as in Yeh et al. 2023, section 4).

    With rotary embeddings applied; the trace must hold `rotated_q` and `rotated_k` of the attention at `path`. The sign
    of an axis makes the farthest vector positive. Raises EditError for a head that does not exist.
    """
    q, keys = trace[f"{path}.rotated_q"], trace[f"{path}.rotated_k"]
    require_head(head, len(q))
    k = keys[head * len(keys) // len(q)]
    coordinates, explained_variance = project_to_plane(np.concatenate([q[head], k]))
    return QKProjection(coordinates[: len(q[head])], coordinates[len(q[head]) :], explained_variance)
