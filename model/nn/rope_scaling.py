"""Rope scalings: how the frequencies of rotary positions change so that a model reads further than it was trained to.

Each takes the group `Rotation`, the number of turning channels and a way to ask for the length of the text (most do
not, and a compiled graph would break there), and gives one frequency (radians per token) for each pair of channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from model.array_types import Float
from model.config_groups import Rotation
from model.registry import Registry

Length = Callable[[], int]
Scaling = Callable[[Rotation, int, Length], Tensor]


def plain(rotation: Rotation, channels: int, length: Length) -> Float[Tensor, " pair"]:
    """base^(-2j/d) for pair j (Su et al. 2021, equation 15)."""
    frequencies: Tensor = 1.0 / rotation.base ** (torch.arange(0, channels, 2) / max(channels, 1))
    return frequencies


def linear(rotation: Rotation, channels: int, length: Length) -> Float[Tensor, " pair"]:
    """Every pair turns `factor` times slower (Chen et al. 2023, equation 4)."""
    return plain(rotation, channels, length) / rotation.factor


def dynamic(rotation: Rotation, channels: int, length: Length) -> Float[Tensor, " pair"]:
    """The base grows with texts longer than `original` (NTK-aware; Peng et al. 2024, section 3.1 and appendix B.1)."""
    stretch = rotation.factor * max(length(), rotation.original) / rotation.original - (rotation.factor - 1)
    base = rotation.base * stretch ** (channels / max(channels - 2, 1))
    frequencies: Tensor = 1.0 / base ** (torch.arange(0, channels, 2) / channels)
    return frequencies


def banded(rotation: Rotation, channels: int, length: Length) -> Float[Tensor, " pair"]:
    """Wavelengths beyond original/low are stretched, those below original/high kept (Grattafiori et al. 2024)."""
    kept = plain(rotation, channels, length)
    turns = rotation.original * kept / (2 * math.pi)  # how often a pair turns within the original context
    share = ((turns - rotation.low) / (rotation.high - rotation.low)).clamp(0, 1)
    return kept * share + kept / rotation.factor * (1 - share)


def yarn(rotation: Rotation, channels: int, length: Length) -> Float[Tensor, " pair"]:
    """Pairs that turn fewer than `low` times are stretched, more than `high` kept (Peng et al. 2024, section 3.2)."""

    def pair(turns: float) -> float:
        """Which pair turns so often within the original context."""
        return channels * math.log(rotation.original / (turns * 2 * math.pi)) / (2 * math.log(rotation.base))

    first, last = pair(rotation.high), pair(rotation.low)
    if rotation.whole:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, channels - 1)
    kept = plain(rotation, channels, length)
    stretched = ((torch.arange(len(kept)) - first) / ((last - first) or 0.001)).clamp(0, 1)
    return kept * (1 - stretched) + kept / rotation.factor * stretched


def longrope(rotation: Rotation, channels: int, length: Length) -> Float[Tensor, " pair"]:
    """Each pair has a divisor of its own, another set of them for long texts (Ding et al. 2024)."""
    divisors = rotation.long if length() > rotation.original else rotation.short
    return plain(rotation, channels, length) / torch.tensor(divisors)


SCALINGS: Registry[Scaling] = Registry(
    "rope scaling",
    {"none": plain, "linear": linear, "dynamic": dynamic, "banded": banded, "yarn": yarn, "longrope": longrope},
)
