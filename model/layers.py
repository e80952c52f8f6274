"""What stands around attention: norms, feed-forward networks, residual connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.config import Config
from model.registry import Registry
from model.shapes import Float
from model.trace import Tap


class LayerNorm(nn.Module):
    """Mean 0 and variance 1 over the channels, then a trained stretch and shift (Ba et al. 2016, equation 4)."""

    def __init__(self, width: int, epsilon: float, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """(x - mean) / sqrt(variance + epsilon) * weight + bias."""
        return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.epsilon)


class RMSNorm(nn.Module):
    """Root mean square 1 over the channels, then a trained stretch (Zhang and Sennrich 2019, equation 4)."""

    def __init__(self, width: int, epsilon: float, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """x / sqrt(mean of x^2 + epsilon) * weight."""
        return functional.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.epsilon)


NORMS: Registry[Callable[[int, float, bool], nn.Module]] = Registry(
    "norm", {"layernorm": LayerNorm, "rmsnorm": RMSNorm}
)


class Plain(nn.Module):
    """Two linear maps with a bend between them (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = activation
        self.rise = nn.Linear(config.width, config.inner, bias=config.bias)
        self.fall = nn.Linear(config.inner, config.width, bias=config.bias)

    def forward(self, x: Float[Tensor, "batch pos width"], tap: Tap) -> Float[Tensor, "batch pos width"]:
        """fall(activation(rise(x)))."""
        hidden = tap("hidden", self.activation(self.rise(tap("input", x))))
        return tap("output", self.fall(hidden))


class Gated(nn.Module):
    """One linear map opens and shuts the other's channels (Shazeer 2020, equation 6)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = activation
        self.gate = nn.Linear(config.width, config.inner, bias=config.bias)
        self.rise = nn.Linear(config.width, config.inner, bias=config.bias)
        self.fall = nn.Linear(config.inner, config.width, bias=config.bias)

    def forward(self, x: Float[Tensor, "batch pos width"], tap: Tap) -> Float[Tensor, "batch pos width"]:
        """fall(activation(gate(x)) * rise(x))."""
        x = tap("input", x)
        hidden = tap("hidden", self.activation(self.gate(x)) * self.rise(x))
        return tap("output", self.fall(hidden))


FEEDFORWARDS: Registry[Callable[[Config], nn.Module]] = Registry(
    "feed-forward",
    {
        "relu": lambda config: Plain(config, functional.relu),
        "gelu": lambda config: Plain(config, functional.gelu),
        "swiglu": lambda config: Gated(config, functional.silu),
        "geglu": lambda config: Gated(config, functional.gelu),
    },
)

Sublayer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Placement:
    """Where the norm stands; `ends_normed` says whether a stack then needs a norm at its end."""

    apply: Callable[[Tensor, Sublayer, Sublayer], Tensor]
    ends_normed: bool


PLACEMENTS: Registry[Placement] = Registry(
    "norm placement",
    {
        # Xiong et al. 2020, figure 1: post-norm is the original order, pre-norm trains without warm-up.
        "pre": Placement(lambda x, norm, sublayer: x + sublayer(norm(x)), ends_normed=False),
        "post": Placement(lambda x, norm, sublayer: norm(x + sublayer(x)), ends_normed=True),
    },
)


class Residual(nn.Module):
    """x plus what a sublayer makes of it, with the norm before or after."""

    def __init__(self, config: Config, normed: bool = True) -> None:
        super().__init__()
        self.norm = NORMS[config.norm](config.width, config.norm_epsilon, config.bias) if normed else nn.Identity()
        self.apply_placed = PLACEMENTS[config.placement].apply
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Float[Tensor, "batch pos width"], sublayer: Sublayer) -> Float[Tensor, "batch pos width"]:
        """The stream after the sublayer has written to it."""
        return self.apply_placed(x, self.norm, lambda h: self.dropout(sublayer(h)))
