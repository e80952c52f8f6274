"""What stands around attention: norms, feed-forward networks, residual connections."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.array_types import Float
from model.config import Config
from model.registry import Registry


class LayerNorm(nn.Module):
    """Mean 0 and variance 1 over the channels, then a trained stretch and shift (Ba et al. 2016, equation 4)."""

    def __init__(self, dim: int, epsilon: float, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim)) if bias else None
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """(x - mean) / sqrt(variance + epsilon) * weight + bias."""
        return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.epsilon)


class RMSNorm(nn.Module):
    """Root mean square 1 over the channels, then a trained stretch (Zhang and Sennrich 2019, equation 4)."""

    def __init__(self, dim: int, epsilon: float, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """x / sqrt(mean of x^2 + epsilon) * weight."""
        return functional.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.epsilon)


class GemmaRMSNorm(RMSNorm):
    """RMSNorm whose trained stretch is counted from one, so that weights near 0 mean none (Gemma Team 2024)."""

    def __init__(self, dim: int, epsilon: float, bias: bool) -> None:
        super().__init__(dim, epsilon, bias)
        nn.init.zeros_(self.weight)

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """x / sqrt(mean of x^2 + epsilon) * (1 + weight)."""
        return functional.rms_norm(x, x.shape[-1:], 1 + self.weight, self.epsilon)


class NonparametricLayerNorm(nn.Module):
    """LayerNorm without anything trained (Groeneveld et al. 2024, section 2.1)."""

    def __init__(self, dim: int, epsilon: float, bias: bool) -> None:
        super().__init__()
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """(x - mean) / sqrt(variance + epsilon)."""
        return functional.layer_norm(x, x.shape[-1:], None, None, self.epsilon)


NORMS: Registry[Callable[[int, float, bool], nn.Module]] = Registry(
    "norm",
    {
        "layernorm": LayerNorm,
        "nonparametric-layernorm": NonparametricLayerNorm,
        "rmsnorm": RMSNorm,
        "gemma-rmsnorm": GemmaRMSNorm,
    },
)


def make_norm(config: Config, dim: int) -> nn.Module:
    """The config's norm over `width` channels."""
    return NORMS[config.norm](dim, config.norm_epsilon, config.has_bias("norm"))


def soft_cap(x: Tensor, cap: float) -> Tensor:
    """Numbers kept between -cap and cap without a corner: cap tanh(x / cap); a cap of 0 leaves them."""
    return cap * torch.tanh(x / cap) if cap else x
