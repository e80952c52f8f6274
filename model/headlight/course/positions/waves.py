"""The sinusoidal encoding by its numbers: wavelengths, distances of positions, rotations, bands of frequencies.

The waves are those of `nn.positional_encodings.sinusoids`, in 64 bits where a claim is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import tau

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float
from headlight.nn.positional_encodings import sinusoids


@dataclass(frozen=True)
class NearestPositions:
    """The two different positions whose vectors are nearest to each other, and how far apart these are."""

    position: int
    other: int
    distance: float


@dataclass(frozen=True, eq=False)
class Rotation:
    """PE(p) rotated by k positions, beside PE(p + k); `error` is the largest difference of their channels.

    `matrices` are the 2 x 2 matrices that turn each pair (sin, cos); they depend on k and not on p.
    """

    start: Float[Tensor, " channel"]
    rotated: Float[Tensor, " channel"]
    target: Float[Tensor, " channel"]
    matrices: Float[Tensor, "pair 2 2"]
    error: float


def wavelengths(dim: int, base: float) -> Float[Tensor, " pair"]:
    """After how many positions the wave of each pair of channels begins again: 2 pi base^(2i/d)."""
    return tau * base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def waves(length: int, dim: int, base: float) -> Float[Tensor, "pos d_model"]:
    """The encodings of the positions 0 to `length` - 1."""
    return sinusoids(torch.arange(length, dtype=torch.float64), dim, base)


def nearest_positions(encodings: Float[Tensor, "pos d_model"]) -> NearestPositions:
    """Which two positions are hardest to tell apart; their distance is above 0 where every position has its own "
    "vector."""
    # Squared differences summed channel by channel: a product would lose small distances to rounding.
    distances = torch.cdist(encodings, encodings, compute_mode="donot_use_mm_for_euclid_dist")
    distances.fill_diagonal_(torch.inf)
    position, other = divmod(int(distances.argmin()), len(distances))
    return NearestPositions(position, other, float(distances[position, other]))


def rotate(position: int, offset: int, dim: int, base: float) -> Rotation:
    """PE(position + offset) as a linear map of PE(position) (Vaswani et al. 2017, section 3.5)."""
    ids = torch.tensor([position, position + offset, offset], dtype=torch.float64)
    start, target, turn = sinusoids(ids, dim, base)
    sines, cosines = turn[0::2], turn[1::2]  # of the angles to turn by, which are the encoding of the offset itself
    matrices = torch.stack((torch.stack((cosines, sines), -1), torch.stack((-sines, cosines), -1)), -2)
    rotated = (matrices @ start.view(-1, 2, 1)).flatten()
    return Rotation(start, rotated, target, matrices, float((rotated - target).abs().max()))


def similarity_without_band(
    encodings: Float[Tensor, "pos d_model"], position: int, dropped: slice
) -> Float[Tensor, " pos"]:
    """The cosine of one position's encoding with every other's, after a band of channels was set to 0."""
    kept = encodings.clone()
    kept[:, dropped] = 0
    return functional.cosine_similarity(kept, kept[position][None], dim=-1)
