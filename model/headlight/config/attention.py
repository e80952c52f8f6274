"""AttentionConfig: how an attention computes queries, keys, values and scores."""

from __future__ import annotations

from dataclasses import dataclass

from headlight.config.bounds import LARGEST_LIMIT, MAX_TOKENS, MAX_WIDTH
from headlight.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class LatentConfig:
    """Latent attention (MLA): queries, or keys and values, come from a compressed, normed vector of a token.

    DeepSeek-AI 2024, section 2.1.
    """

    query_channels: int = 0  # of the vector that queries come from; 0: not compressed
    key_value_channels: int = 0  # of the vector that keys and values come from; 0: not compressed
    shared_key_channels: int = 0  # of every key, the same in all heads, computed from the token directly

    def check(self, head_dim: int) -> None:
        """Raise ConfigError unless keys of `head_dim` channels can be computed in this way."""
        sizes = {"query_channels": self.query_channels, "key_value_channels": self.key_value_channels}
        for name, size in sizes.items():
            if not 0 <= size <= MAX_WIDTH:
                raise ConfigError(f"attention.latent.{name} is {size}; it must be from 0 to {MAX_WIDTH:,}.")
        if not 0 <= self.shared_key_channels < head_dim or (self.shared_key_channels and not self.key_value_channels):
            raise ConfigError(
                f"attention.latent.shared_key_channels is {self.shared_key_channels}; a key has {head_dim} channels, "
                "some of them its head's own, and they are shared where keys are compressed."
            )


@dataclass(frozen=True, kw_only=True)
class AttentionConfig:
    """How an attention differs from softmax(q k^T / sqrt(head_dim)) v."""

    scale: bool = True  # multiply scores by 1 / sqrt(head_dim), or by `per_layer.score_scales` if there are any
    score_soft_cap: float = 0.0  # limit scores smoothly: cap * tanh(score / cap) (Gemma 2); 0: no limit
    qkv_limit: float = 0.0  # clip each number of queries, keys and values to [-limit, limit] (OLMo); 0: no limit
    sinks: bool = False  # a sink in each head takes a share of every row and belongs to no token (gpt-oss)
    latent: LatentConfig = LatentConfig()
    qk_norm: str = "none"  # key of QK_NORMS: norm of queries and keys before their product (Henry et al. 2020)
    value_norm: bool = False  # divide the values of each head by their root mean square (Gemma 4)
    # Queries of layers without positional encoding grow with their position: times 1 + temperature_growth *
    # log(1 + floor((position + 1) / temperature_length)) (Nakanishi 2025; Llama 4); a length of 0: they do not.
    temperature_length: int = 0
    temperature_growth: float = 0.1
    output_gate: bool = False  # sigmoids of a linear map of the input multiply the weighted values (Qiu et al. 2025)
    keys_as_values: bool = False  # the key projection also makes the values (Gemma 4)

    def check(self, head_dim: int, value_head_dim: int) -> None:
        """Raise ConfigError unless heads with so many channels in keys and in values can be computed in this way."""
        for name in ("score_soft_cap", "qkv_limit"):
            if not 0.0 <= getattr(self, name) <= LARGEST_LIMIT:
                raise ConfigError(f"attention.{name} is {getattr(self, name)}; it must be from 0 (no limit) to 1e30.")
        if self.keys_as_values and (self.latent != LatentConfig() or value_head_dim != head_dim):
            raise ConfigError(
                "attention.keys_as_values needs values of as many channels as keys, and none that are compressed."
            )
        if not 0 <= self.temperature_length <= MAX_TOKENS or not abs(self.temperature_growth) <= LARGEST_LIMIT:
            raise ConfigError(
                f"attention.temperature_length is {self.temperature_length} and attention.temperature_growth "
                f"{self.temperature_growth}; the length must be from 0 to {MAX_TOKENS:,}, the growth within 1e30."
            )
        self.latent.check(head_dim)
