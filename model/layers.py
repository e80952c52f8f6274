"""What stands around attention: norms, feed-forward networks, residual connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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


class ShiftedRMSNorm(RMSNorm):
    """RMSNorm whose trained stretch is counted from one, so that weights near 0 mean none (Gemma Team 2024)."""

    def __init__(self, width: int, epsilon: float, bias: bool) -> None:
        super().__init__(width, epsilon, bias)
        nn.init.zeros_(self.weight)

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """x / sqrt(mean of x^2 + epsilon) * (1 + weight)."""
        return functional.rms_norm(x, x.shape[-1:], 1 + self.weight, self.epsilon)


class PlainLayerNorm(nn.Module):
    """LayerNorm without anything trained (Groeneveld et al. 2024, section 2.1)."""

    def __init__(self, width: int, epsilon: float, bias: bool) -> None:
        super().__init__()
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*shape width"]) -> Float[Tensor, "*shape width"]:
        """(x - mean) / sqrt(variance + epsilon)."""
        return functional.layer_norm(x, x.shape[-1:], None, None, self.epsilon)


NORMS: Registry[Callable[[int, float, bool], nn.Module]] = Registry(
    "norm",
    {
        "layernorm": LayerNorm,
        "plain-layernorm": PlainLayerNorm,
        "rmsnorm": RMSNorm,
        "shifted-rmsnorm": ShiftedRMSNorm,
    },
)


def make_norm(config: Config, width: int) -> nn.Module:
    """The config's norm over `width` channels."""
    return NORMS[config.norm](width, config.norm_epsilon, config.has_bias("norm"))


def soft_cap(x: Tensor, cap: float) -> Tensor:
    """Numbers kept between -cap and cap without a corner: cap tanh(x / cap); a cap of 0 leaves them."""
    return cap * torch.tanh(x / cap) if cap else x


ACTIVATIONS: Registry[Callable[[Tensor], Tensor]] = Registry(
    "activation",
    {
        "relu": functional.relu,
        "squared-relu": lambda x: functional.relu(x).square(),
        "gelu": functional.gelu,
        "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh"),
        "gelu-sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
        "silu": functional.silu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "linear": lambda x: x,
    },
)


class Plain(nn.Module):
    """Two linear maps with a bend between them (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = activation
        self.rise = nn.Linear(config.width, config.inner, bias=config.has_bias("rise"))
        self.fall = nn.Linear(config.inner, config.width, bias=config.has_bias("fall"))

    def forward(self, x: Float[Tensor, "batch pos width"], tap: Tap) -> Float[Tensor, "batch pos width"]:
        """fall(activation(rise(x)))."""
        hidden = tap("hidden", self.activation(self.rise(tap("input", x))))
        return tap("output", self.fall(hidden))


class Gated(nn.Module):
    """One linear map opens and shuts the other's channels (Shazeer 2020, equation 6)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = activation
        self.gate = nn.Linear(config.width, config.inner, bias=config.has_bias("gate"))
        self.rise = nn.Linear(config.width, config.inner, bias=config.has_bias("rise"))
        self.fall = nn.Linear(config.inner, config.width, bias=config.has_bias("fall"))

    def forward(self, x: Float[Tensor, "batch pos width"], tap: Tap) -> Float[Tensor, "batch pos width"]:
        """fall(activation(gate(x)) * rise(x))."""
        x = tap("input", x)
        hidden = tap("hidden", self.activation(self.gate(x)) * self.rise(x))
        return tap("output", self.fall(hidden))


_GATES = {"swiglu": "silu", "geglu": "gelu", "geglu-tanh": "gelu-tanh", "geglu-sigmoid": "gelu-sigmoid",
          "reglu": "relu", "glu": "sigmoid", "bilinear": "linear"}  # fmt: skip

FEEDFORWARDS: Registry[Callable[[Config], nn.Module]] = Registry(
    "feed-forward",
    {name: partial(Plain, activation=activation) for name, activation in ACTIVATIONS.items()}
    | {name: partial(Gated, activation=ACTIVATIONS[bend]) for name, bend in _GATES.items()},
)

Sublayer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Placement:
    """Where norms stand: `apply` gives the stream after a sublayer that read `x` has written onto it.

    `after` says whether what is written has a norm of its own, besides or in place of the one before;
    `ends_normed` whether a stack then needs no norm at its end.
    """

    apply: Callable[[Tensor, Tensor, Sublayer, Sublayer, Sublayer], Tensor]
    before: bool = True
    after: bool = False
    ends_normed: bool = False


def _from_normed(x: Tensor, onto: Tensor, before: Sublayer, sublayer: Sublayer, after: Sublayer) -> Tensor:
    normed = before(x)
    return normed + sublayer(normed)


PLACEMENTS: Registry[Placement] = Registry(
    "norm placement",
    {
        # Xiong et al. 2020, figure 1: post-norm is the original order, pre-norm trains without warm-up.
        "pre": Placement(lambda x, onto, before, sublayer, after: onto + sublayer(before(x))),
        "post": Placement(lambda x, onto, before, sublayer, after: before(onto + sublayer(x)), ends_normed=True),
        # OLMo Team 2025, section 3.2
        "written": Placement(
            lambda x, onto, before, sublayer, after: onto + after(sublayer(x)), before=False, after=True
        ),
        # Gemma Team 2024 (Gemma 2), section 2
        "sandwich": Placement(lambda x, onto, before, sublayer, after: onto + after(sublayer(before(x))), after=True),
        # BigScience 2022, the option apply_residual_connection_post_layernorm
        "from-normed": Placement(_from_normed),
    },
)


class Residual(nn.Module):
    """A stream plus what a sublayer makes of it, with norms where the placement has them."""

    def __init__(self, config: Config, normed: bool = True) -> None:
        super().__init__()
        placement = PLACEMENTS[config.placement]
        self.apply_placed = placement.apply
        self.norm = make_norm(config, config.width) if normed and placement.before else nn.Identity()
        self.after_norm = make_norm(config, config.width) if placement.after else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch pos width"],
        sublayer: Sublayer,
        onto: Float[Tensor, "batch pos width"] | None = None,
    ) -> Float[Tensor, "batch pos width"]:
        """The stream `onto` (x itself where that is None) after the sublayer, which reads x, has written to it."""
        onto = x if onto is None else onto
        return self.apply_placed(x, onto, self.norm, lambda h: self.dropout(sublayer(h)), self.after_norm)
