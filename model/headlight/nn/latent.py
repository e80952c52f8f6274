"""Latent attention: queries, keys and values are computed from compressed vectors (DeepSeek-AI 2024, section 2.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from headlight.array_types import Float
from headlight.config import Config
from headlight.nn.layers import Linear, RMSNorm

NORM_EPSILON = 1e-6


class Compression(nn.Module):
    """A linear map down to a few channels, all normed except the last `unnormed`."""

    def __init__(self, d_model: int, channels: int, unnormed: int = 0, *, bias: bool = False) -> None:
        super().__init__()
        self.channels = channels
        self.down = Linear(d_model, channels + unnormed, bias=bias)
        self.norm = RMSNorm(channels, NORM_EPSILON)

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos channel"]:
        """The compressed vectors."""
        latent, unnormed = self.split(self.down(x))
        return torch.cat((self.norm(latent), unnormed), dim=-1) if unnormed.shape[-1] else self.norm(latent)

    def split(self, compressed: Float[Tensor, "*shape channel"]) -> tuple[Tensor, Tensor]:
        """The normed channels, and the others."""
        return compressed[..., : self.channels], compressed[..., self.channels :]


def make_compressions(config: Config) -> tuple[Compression | None, Compression | None]:
    """The down-projections of queries and of keys and values; None if uncompressed."""
    latent, d_model = config.attention.latent, config.d_model
    of_queries = latent.query_channels and Compression(d_model, latent.query_channels, bias=config.has_bias("latent"))
    sizes = (latent.key_value_channels, latent.shared_key_channels)
    return of_queries or None, Compression(d_model, *sizes, bias=config.has_bias("latent")) if sizes[0] else None


def with_shared_channels(
    shared: Float[Tensor, "batch pos shared_channel"], k: Float[Tensor, "batch head pos own_channel"]
) -> Float[Tensor, "batch head pos head_dim"]:
    """Prepends the channels shared by all heads to the keys."""
    return torch.cat((shared[:, None].expand(-1, k.shape[1], -1, -1), k), dim=-1)
