"""Options of the positional encodings."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

from headlight.errors import ConfigError

SCALED_FROM_A_CONTEXT = ("dynamic", "llama3", "yarn")  # whose formulas need `original_context_length`


@dataclass(frozen=True, kw_only=True)
class RopeConfig:
    """Rotary position embedding (Su et al. 2021): pairs of channels of queries and keys turn with the position."""

    theta: float = 10_000.0  # pair j turns by theta^(-2j / rotary_dim) radians per token
    rotary_dim: int = 0  # channels of each head that are rotated; 0: all
    interleaved: bool = False  # pair a channel with its neighbour, instead of the one rotary_dim / 2 further on
    scaling: str = "none"  # key of ROPE_SCALINGS: how a longer context is made possible
    factor: float = 1.0  # by which the context grows
    original_context_length: int = 0  # tokens, before it grew
    low_freq_factor: float = 1.0  # pairs with fewer turns in the original context are scaled fully (Llama 3, YaRN)
    high_freq_factor: float = 1.0  # pairs with more turns are not scaled
    truncate: bool = True  # YaRN: round these two bounds to whole pairs
    attention_factor: float = 1.0  # multiplies cos and sin (YaRN, LongRoPE)
    rotated_share: float = 1.0  # of the pairs, with proportional scaling (Gemma 4)
    short_factor: tuple[float, ...] = ()  # divides each pair's frequency in texts up to the original context (LongRoPE)
    long_factor: tuple[float, ...] = ()  # the same beyond the original context

    def check(self, head_dim: int) -> None:
        """Raise ConfigError unless heads of `head_dim` channels can be rotated in this way."""
        if self.rotary_dim + self.rotary_dim % 2 > head_dim:
            raise ConfigError(f"rope.rotary_dim is {self.rotary_dim}, but a head has only {head_dim} channels.")
        if not 0.0 < self.theta < inf:
            raise ConfigError(f"rope.theta is {self.theta}; it must be a number above 0.")
        if not 0.0 <= self.rotated_share <= 1.0:
            raise ConfigError(f"rope.rotated_share is {self.rotated_share}; it must be from 0 to 1.")

    def check_scaling(self, head_dim: int) -> None:
        """Raise ConfigError if frequencies cannot be scaled by these numbers, for heads of `head_dim` channels."""
        if not 0.0 < self.factor < inf:
            raise ConfigError(f"rope.factor is {self.factor}; it must be a number above 0.")
        if self.scaling in SCALED_FROM_A_CONTEXT and self.original_context_length < 1:
            context = f"rope.original_context_length is {self.original_context_length}"
            raise ConfigError(f"{context}; for {self.scaling} it must be above 0.")
        if self.scaling == "yarn":
            self._check_yarn()
        low, high = self.low_freq_factor, self.high_freq_factor
        if self.scaling == "llama3" and not low < high:
            raise ConfigError(f"rope.high_freq_factor is {high}; for llama3 it must be above {low}, low_freq_factor.")
        if self.scaling == "longrope":
            self._check_factors(head_dim)

    def _check_yarn(self) -> None:
        if self.theta <= 1.0:
            raise ConfigError(f"rope.theta is {self.theta}; for yarn it must be above 1.")
        for name in ("low_freq_factor", "high_freq_factor"):
            if not 0.0 < getattr(self, name) < inf:
                raise ConfigError(f"rope.{name} is {getattr(self, name)}; for yarn it must be a number above 0.")

    def _check_factors(self, head_dim: int) -> None:
        """Raise ConfigError unless each rotated pair of channels can be divided by a factor of LongRoPE."""
        pairs = ((self.rotary_dim or head_dim // 2 * 2) + 1) // 2
        counts = {len(self.short_factor), len(self.long_factor)}
        if counts != {pairs}:
            raise ConfigError(f"rope has {max(counts)} factors for {pairs} rotated pairs of channels.")
        if any(not factor or isnan(factor) for factor in (*self.short_factor, *self.long_factor)):
            raise ConfigError("A factor of rope.short_factor or rope.long_factor is 0 or not a number.")


@dataclass(frozen=True, kw_only=True)
class SinusoidalConfig:
    """Options of "sinusoidal-halves": all sines before all cosines (Vaswani et al. 2018, Tensor2Tensor)."""

    first_position: int = 0  # the number of a text's first position
    reaches_base: bool = False  # the longest wavelength is 2 pi * 10,000; otherwise it is one step shorter


@dataclass(frozen=True, kw_only=True)
class RelativePositionConfig:
    """Relative positions: distances in buckets (T5; Raffel et al. 2020), or disentangled (DeBERTa; He et al. 2021)."""

    buckets: int = 32  # of distances
    max_distance: int = 128  # tokens; all distances from here on share the last bucket
    content_to_position: bool = True  # disentangled: scores of queries with embeddings of distances
    position_to_content: bool = True  # disentangled: scores of keys with embeddings of distances
    normalized: bool = False  # disentangled: a norm of the embeddings of distances
    exact_distances: bool = False  # disentangled: an embedding for every distance up to `buckets`
    absolute_positions: bool = False  # learned absolute positions besides (MPNet)
    each_layer: bool = False  # learned biases in each layer, instead of the same in all


@dataclass(frozen=True, kw_only=True)
class AlibiConfig:
    """ALiBi: a bias of each head that falls with the distance (Press et al. 2022)."""

    scale: float = 1.0  # multiplies the bias
    bfloat16: bool = False  # compute the bias in bfloat16 (Falcon)
