"""Layers besides attention: norms over the channels, feed-forward networks with their activations, patch embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float
from headlight.config import Config
from headlight.errors import ImageError
from headlight.nn.hooks import Hook
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
        "nonparametric-rmsnorm": Norm(
            "RMSNorm without weights", lambda dim, eps, bias: nn.RMSNorm(dim, eps, elementwise_affine=False)
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
    """A kind of feed-forward network: its title, and what makes it from a config (None: blocks without one).

    `gate_activation` is that of a gated network.
    """

    title: str
    make: Callable[[Config], nn.Module | None]
    gate_activation: Callable[[Tensor], Tensor] | None = None


def _mlp(title: str, activation: str) -> FeedForward:
    return FeedForward(title, partial(MLP, activation=ACTIVATIONS[activation]))


def _gated_mlp(title: str, activation: str) -> FeedForward:
    return FeedForward(title, partial(GatedMLP, activation=ACTIVATIONS[activation]), ACTIVATIONS[activation])


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


class PatchEmbedding(nn.Module):
    """An image cut into patches, each mapped to a vector (Dosovitskiy et al. 2021, section 3.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        image = config.image
        self.image_shape = (image.channels, image.height, image.width)
        self.num_patches = image.patch_rows * image.patch_columns
        size = (image.patch_height, image.patch_width)
        self.projection = nn.Conv2d(image.channels, config.embedding_dim, size, stride=size, bias=image.patch_bias)

    def forward(
        self, pixels: Float[Tensor, "batch color_channel pixel_row pixel_column"]
    ) -> Float[Tensor, "batch patch embedding_dim"]:
        """The embedding of each patch, row by row. Raises ImageError for an image of another size."""
        if pixels.shape[1:] != self.image_shape:
            given, wanted = (" x ".join(map(str, shape)) for shape in (pixels.shape[1:], self.image_shape))
            raise ImageError(f"The image is {given} (channels, height, width); this model reads {wanted}.")
        vectors: Tensor = self.projection(pixels.to(self.projection.weight.dtype))
        return vectors.flatten(2).transpose(1, 2)
