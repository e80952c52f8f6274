"""Feed-forward networks: plain and gated, and their activation functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float
from headlight.config import Config
from headlight.nn.hooks import Hook
from headlight.registry import Registry

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


class MLP(nn.Module):
    """Two linear maps with an activation between them (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = activation
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.has_bias("up"))
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.has_bias("down"))

    def forward(self, x: Float[Tensor, "batch pos d_model"], hook: Hook) -> Float[Tensor, "batch pos d_model"]:
        """down(activation(up(x)))."""
        neurons = hook("neurons", self.activation(self.up(hook("input", x))))
        return hook("output", self.down(neurons))


class GatedMLP(nn.Module):
    """Gated feed-forward network: activation(gate) times a linear map (GLU variants; Shazeer 2020, equation 6)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = activation
        self.gate = nn.Linear(config.d_model, config.d_ff, bias=config.has_bias("gate"))
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.has_bias("up"))
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.has_bias("down"))

    def forward(self, x: Float[Tensor, "batch pos d_model"], hook: Hook) -> Float[Tensor, "batch pos d_model"]:
        """down(activation(gate(x)) * up(x))."""
        x = hook("input", x)
        neurons = hook("neurons", self.activation(self.gate(x)) * self.up(x))
        return hook("output", self.down(neurons))


@dataclass(frozen=True)
class FeedForward:
    """A kind of feed-forward network: its title, and what makes it from a config (None: blocks without one)."""

    title: str
    make: Callable[[Config], nn.Module | None]


def _mlp(title: str, activation: str) -> FeedForward:
    return FeedForward(title, partial(MLP, activation=ACTIVATIONS[activation]))


def _gated_mlp(title: str, activation: str) -> FeedForward:
    return FeedForward(title, partial(GatedMLP, activation=ACTIVATIONS[activation]))


FEED_FORWARDS: Registry[FeedForward] = Registry(
    "feed-forward",
    {
        "none": FeedForward("None (attention only)", lambda config: None),
        "relu": _mlp("ReLU", "relu"),
        "squared-relu": _mlp("Squared ReLU", "squared-relu"),
        "gelu": _mlp("GELU", "gelu"),
        "gelu-tanh": _mlp("GELU (tanh)", "gelu-tanh"),
        "gelu-sigmoid": _mlp("GELU (sigmoid)", "gelu-sigmoid"),
        "silu": _mlp("SiLU", "silu"),
        "tanh": _mlp("Tanh", "tanh"),
        "sigmoid": _mlp("Sigmoid", "sigmoid"),
        "linear": _mlp("Linear", "linear"),
        "swiglu": _gated_mlp("SwiGLU", "silu"),
        "geglu": _gated_mlp("GEGLU", "gelu"),
        "geglu-tanh": _gated_mlp("GEGLU (tanh)", "gelu-tanh"),
        "geglu-sigmoid": _gated_mlp("GEGLU (sigmoid)", "gelu-sigmoid"),
        "reglu": _gated_mlp("ReGLU", "relu"),
        "glu": _gated_mlp("GLU", "sigmoid"),
        "bilinear": _gated_mlp("Bilinear GLU", "linear"),
    },
)
