"""Feed-forward networks: plain and gated, and their activation functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.array_types import Float
from model.config import Config
from model.nn.hooks import Tap
from model.registry import Registry

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
