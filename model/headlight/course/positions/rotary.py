"""Rotary positions for one pair of channels, turned by the network's own module."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from headlight.array_types import Float, Int
from headlight.config import Config
from headlight.config_groups import RopeConfig
from headlight.nn.positional_encodings import Rope


def turn(
    vectors: Float[Tensor, "arrow 2"], positions: Int[Tensor, " arrow"], pair: int, dim: int, theta: float
) -> Float[Tensor, "arrow 2"]:
    """Each vector, put into one pair of a head of `dim` channels, as `Rope` turns it at its position (in 64 bits)."""
    rope = Rope(encoding_config(heads=1, d_model=dim, rope=RopeConfig(theta=theta, interleaved=True)))
    channels = slice(2 * pair, 2 * pair + 2)
    whole = torch.zeros(len(vectors), dim, dtype=torch.float64)
    whole[:, channels] = vectors.double()
    return rope.rotate(whole[None, None], positions.double())[0, 0, :, channels]


def encoding_config(heads: int, **choices: Any) -> Config:
    """The config of a positional encoding by itself."""
    sizes: dict[str, Any] = {"vocabulary_size": 1, "context_length": 1, "layers": 1, "d_model": 2 * heads}
    return Config(heads=heads, **(sizes | choices))
