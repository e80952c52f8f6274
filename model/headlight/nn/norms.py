"""Norms over the channels: LayerNorm and RMSNorm, as torch has them, and their variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float
from headlight.config import Config
from headlight.registry import Registry


class RMSNorm(nn.RMSNorm):
    """x / sqrt(mean of x^2 + eps) * weight (Zhang and Sennrich 2019, equation 4), for mixed precision as well."""

    def forward(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape dim"]:
        """RMS norm of x, in the precision of x."""
        # With a weight of another precision torch would leave its fused kernel.
        return functional.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


class GemmaRMSNorm(nn.RMSNorm):
    """x / sqrt(mean of x^2 + eps) * (1 + weight), with weights that begin at 0 (Gemma Team 2024)."""

    def reset_parameters(self) -> None:
        """Weights of 0."""
        nn.init.zeros_(self.weight)

    def forward(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape dim"]:
        """Normalized, then scaled by 1 + weight."""
        return functional.rms_norm(x, self.normalized_shape, 1 + self.weight, self.eps)


@dataclass(frozen=True)
class Norm:
    """A kind of norm: its title, and what makes it from the number of channels, epsilon, and whether it has a bias."""

    title: str
    make: Callable[[int, float, bool], nn.Module]


NORMS: Registry[Norm] = Registry(
    "norm",
    {
        # Ba et al. 2016, equation 4
        "layernorm": Norm("LayerNorm", lambda dim, eps, bias: nn.LayerNorm(dim, eps, bias=bias)),
        # without weight and bias: Groeneveld et al. 2024 (OLMo), section 2.1
        "nonparametric-layernorm": Norm(
            "LayerNorm without weights", lambda dim, eps, bias: nn.LayerNorm(dim, eps, elementwise_affine=False)
        ),
        "rmsnorm": Norm("RMSNorm", lambda dim, eps, bias: RMSNorm(dim, eps)),
        "gemma-rmsnorm": Norm("RMSNorm (Gemma)", lambda dim, eps, bias: GemmaRMSNorm(dim, eps)),
    },
)


def make_norm(config: Config, dim: int) -> nn.Module:
    """The config's norm over `dim` channels."""
    return NORMS[config.norm].make(dim, config.norm_epsilon, config.has_bias("norm"))


def soft_cap(x: Tensor, cap: float) -> Tensor:
    """Smoothly limit x to (-cap, cap): cap tanh(x / cap); x itself where `cap` is 0 (Gemma Team 2024, section 2)."""
    return cap * torch.tanh(x / cap) if cap else x
