"""Rope scalings: changes of rotary frequencies for texts longer than those that a model was trained on.

Each takes the RopeConfig, the number of rotated channels, and `get_length`, which returns the sequence length as a
tensor without axes, and returns one frequency (radians per token) for each pair of channels. Only dynamic and longrope
call `get_length`; their frequencies are on its device.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.config import RopeConfig
from headlight.registry import Registry

GetLength = Callable[[], Tensor]
RopeScaling = Callable[[RopeConfig, int, GetLength], Tensor]


def unscaled(rope: RopeConfig, rotary_dim: int, get_length: GetLength) -> Float[Tensor, " pair"]:
    """theta^(-2j/d) for pair j (Su et al. 2021, equation 15)."""
    frequencies: Tensor = 1.0 / rope.theta ** (torch.arange(0, rotary_dim, 2) / max(rotary_dim, 1))
    return frequencies


def linear(rope: RopeConfig, rotary_dim: int, get_length: GetLength) -> Float[Tensor, " pair"]:
    """All frequencies divided by `factor` (position interpolation; Chen et al. 2023, equation 4)."""
    return unscaled(rope, rotary_dim, get_length) / rope.factor


def dynamic(rope: RopeConfig, rotary_dim: int, get_length: GetLength) -> Float[Tensor, " pair"]:
    """`theta` grows past the original context (NTK-aware; Peng et al. 2024, section 3.1 and appendix B.1)."""
    length = get_length().clamp(min=rope.original_context_length).double()
    ntk_scale = rope.factor * length / rope.original_context_length - (rope.factor - 1)
    theta = rope.theta * ntk_scale ** (rotary_dim / max(rotary_dim - 2, 1))
    frequencies: Tensor = 1.0 / theta ** (torch.arange(0, rotary_dim, 2, device=length.device) / rotary_dim)
    return frequencies


def llama3(rope: RopeConfig, rotary_dim: int, get_length: GetLength) -> Float[Tensor, " pair"]:
    """Low frequencies divided by `factor`, high ones kept, those between interpolated (Grattafiori et al. 2024)."""
    unscaled_frequencies = unscaled(rope, rotary_dim, get_length)
    rotations = (
        rope.original_context_length * unscaled_frequencies / (2 * math.pi)
    )  # full rotations within the original context
    unscaled_share = ((rotations - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor)).clamp(0, 1)
    return unscaled_frequencies * unscaled_share + unscaled_frequencies / rope.factor * (1 - unscaled_share)


def yarn(rope: RopeConfig, rotary_dim: int, get_length: GetLength) -> Float[Tensor, " pair"]:
    """Like llama3, interpolated along the pairs instead of the wavelengths (YaRN; Peng et al. 2024, section 3.2)."""

    def pair_at(rotations: float) -> float:
        """The pair that makes this many rotations within the original context."""
        return (
            rotary_dim * math.log(rope.original_context_length / (rotations * 2 * math.pi)) / (2 * math.log(rope.theta))
        )

    first, last = pair_at(rope.high_freq_factor), pair_at(rope.low_freq_factor)
    if rope.truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, rotary_dim - 1)
    unscaled_frequencies = unscaled(rope, rotary_dim, get_length)
    scaled_share = ((torch.arange(len(unscaled_frequencies)) - first) / ((last - first) or 0.001)).clamp(0, 1)
    return unscaled_frequencies * (1 - scaled_share) + unscaled_frequencies / rope.factor * scaled_share


def longrope(rope: RopeConfig, rotary_dim: int, get_length: GetLength) -> Float[Tensor, " pair"]:
    """Each pair divided by its own factor; other factors past the original context (Ding et al. 2024)."""
    length = get_length()
    long, short = (torch.tensor(each, device=length.device) for each in (rope.long_factor, rope.short_factor))
    divisors = torch.where(length > rope.original_context_length, long, short)
    return unscaled(rope, rotary_dim, get_length).to(length.device) / divisors


def proportional(rope: RopeConfig, rotary_dim: int, get_length: GetLength) -> Float[Tensor, " pair"]:
    """Only the fastest `rotated_share` of all pairs rotates; all frequencies are divided by `factor` (Gemma 4)."""
    frequencies = unscaled(rope, rotary_dim, get_length) / rope.factor
    return frequencies * (torch.arange(len(frequencies)) < int(rope.rotated_share * rotary_dim // 2))


ROPE_SCALINGS: Registry[RopeScaling] = Registry(
    "rope scaling",
    {
        "none": unscaled,
        "linear": linear,
        "dynamic": dynamic,
        "llama3": llama3,
        "yarn": yarn,
        "longrope": longrope,
        "proportional": proportional,
    },
)
