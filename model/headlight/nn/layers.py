"""Layers besides attention: norms over the channels, feed-forward networks with their activations, patch embedding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float
from headlight.config import Config
from headlight.errors import ImageError
from headlight.nn.hooks import Hook
from headlight.registry import Registry

PACKED_ROWS = 32  # up to this many rows the single-threaded product of packed weights is fastest
LATENT_EPSILON = 1e-6  # of the norm of compressed channels
FEW_ROWS = 3  # for 2 to this many rows W x^T is faster than x W^T, which rearranges weights stored [out in]


@dataclass(frozen=True)
class PackedWeight:
    """A weight in half precision, packed for FBGEMM, and the parameters that it was made from.

    Copying or pickling it gives None: only this process can read it.
    """

    packed: Tensor
    added: Float[Tensor, " out"]
    weight: Tensor
    bias: Tensor | None
    versions: tuple[int, ...]

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor | None) -> PackedWeight | None:
        """The packed weight; None if the CPU does not support it or half precision would lose accuracy."""
        can_read = weight.device.type == "cpu" and torch.backends.quantized.engine in ("x86", "fbgemm")
        if not can_read or weight.dtype != torch.float32 or weight.is_inference() or not weight.numel():
            return None
        first = weight.as_strided((min(64, weight.numel()),), (1,))  # nearly always enough to tell
        if not (_fits_half_precision(first) and _fits_half_precision(weight)):
            return None
        with warnings.catch_warnings(action="ignore"):  # deprecated in torch, but 2.13 has no replacement as fast
            packed = torch.fbgemm_pack_gemm_matrix_fp16(weight.contiguous())
            added = weight.new_zeros(len(weight)) if bias is None else bias
            torch.fbgemm_linear_fp16_weight_fp32_activation(weight[:1], packed, added)  # warns at the first call
        return cls(packed, added, weight, bias, _versions(weight, bias))

    def shared_by(self, weight: Tensor, bias: Tensor | None) -> PackedWeight | None:
        """The same packed weight for other parameters that share its memory; None if these do not."""
        is_same = self.is_of(self.weight, self.bias) and weight.data_ptr() == self.weight.data_ptr()
        return replace(self, weight=weight, bias=bias, versions=_versions(weight, bias)) if is_same else None

    def is_of(self, weight: Tensor, bias: Tensor | None) -> bool:
        """Whether these parameters were packed and have not changed since."""
        return weight is self.weight and bias is self.bias and _versions(weight, bias) == self.versions

    def product(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape out"]:
        """x W^T + b; sums are in single precision."""
        product: Tensor = torch.fbgemm_linear_fp16_weight_fp32_activation(x, self.packed, self.added)
        return product

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


def _versions(weight: Tensor, bias: Tensor | None) -> tuple[int, ...]:
    return (weight._version,) if bias is None else (weight._version, bias._version)


def _fits_half_precision(weight: Tensor) -> bool:
    """Whether rounding the weight to half precision changes it less than a single-precision product rounds."""
    limit, row = torch.finfo(torch.float32).eps, weight[0].numel()
    chunks = torch.split(weight, max(1, (1 << 17) // row))  # small enough for the CPU cache
    return all(bool((rows.half().float() - rows).norm() <= limit * rows.norm()) for rows in chunks)


class Linear(nn.Linear):
    """x W^T + b, also fast for few rows (after a typed letter), where reading the weights takes most of the time.

    Packed weights take half as many bytes: 0.2 to 0.5 of the time for one to twenty rows. Torch rearranges other
    weights for x W^T. Two or three rows are multiplied as W x^T, which needs no rearranging if the weights are stored
    [out in].
    """

    packed: PackedWeight | None = None

    def forward(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape out"]:
        """The linear map of x."""
        weight, bias, rows = self.weight, self.bias, x.numel() // self.in_features
        # A compiled or exported graph is for any number of rows.
        if torch.compiler.is_compiling() or not 0 < rows <= PACKED_ROWS or x.dim() == 1 or not x.is_cpu:
            return functional.linear(x, weight, bias)
        packed = self.packed
        if packed and x.dtype == torch.float32 and not torch.is_grad_enabled() and packed.is_of(weight, bias):
            return packed.product(x)
        if not 1 < rows <= FEW_ROWS or weight.stride(1) != 1:
            return functional.linear(x, weight, bias)
        product = (weight @ x.reshape(rows, -1).t()).t().contiguous()
        return (product if bias is None else product + bias).view(*x.shape[:-1], -1)


class RMSNorm(nn.RMSNorm):
    """x / sqrt(mean of x^2 + eps) * weight (Zhang and Sennrich 2019, equation 4), for mixed precision as well."""

    def forward(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape dim"]:
        """RMS norm of x, in the precision of x."""
        # With a weight of another precision torch would not use its fused kernel.
        return functional.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


class GemmaRMSNorm(nn.RMSNorm):
    """x / sqrt(mean of x^2 + eps) * (1 + weight), with weights initialized to 0 (Gemma Team 2024)."""

    def reset_parameters(self) -> None:
        """Sets the weights to 0."""
        nn.init.zeros_(self.weight)

    def forward(self, x: Float[Tensor, "*shape dim"]) -> Float[Tensor, "*shape dim"]:
        """Normalizes, then scales by 1 + weight."""
        return functional.rms_norm(x, self.normalized_shape, 1 + self.weight, self.eps)


class Compression(nn.Module):
    """A linear map down to a few channels, all normed except the last `unnormed`.

    Latent attention computes queries, keys and values from them (DeepSeek-AI 2024, section 2.1).
    """

    def __init__(self, d_model: int, channels: int, unnormed: int = 0, *, bias: bool = False) -> None:
        super().__init__()
        self.channels = channels
        self.down = Linear(d_model, channels + unnormed, bias=bias)
        self.norm = RMSNorm(channels, LATENT_EPSILON)

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos channel"]:
        """The compressed vectors."""
        latent, unnormed = self.split(self.down(x))
        return torch.cat((self.norm(latent), unnormed), dim=-1) if unnormed.shape[-1] else self.norm(latent)

    def split(self, compressed: Float[Tensor, "*shape channel"]) -> tuple[Tensor, Tensor]:
        """The normed channels, and the others."""
        return compressed[..., : self.channels], compressed[..., self.channels :]


@dataclass(frozen=True)
class Norm:
    """A kind of norm: its title, and its factory, which takes the channel count, epsilon, and whether it has a bias."""

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
    """Smoothly limit x to (-cap, cap): cap tanh(x / cap); x itself if `cap` is 0 (Gemma Team 2024, section 2)."""
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


def sparse(activation: Callable[[Tensor], Tensor], share: float) -> Callable[[Tensor], Tensor]:
    """activation(relu(x - cutoff)), where about `share` of a token's inputs lie below the cutoff.

    The cutoff comes from their mean and standard deviation, as if they were normally distributed (You et al. 2025,
    "Spark Transformer", statistical top-k). A share of 0 leaves the activation unchanged.
    """
    if not share:
        return activation
    deviations = NormalDist().inv_cdf(share)

    def of_the_largest(x: Tensor) -> Tensor:
        cutoff = x.mean(-1, keepdim=True) + deviations * x.std(-1, keepdim=True, unbiased=False)
        return activation(functional.relu(x - cutoff))

    return of_the_largest


class MLP(nn.Module):
    """Two linear maps with an activation between them (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = sparse(activation, config.activation_sparsity)
        self.up = Linear(config.d_model, config.d_ff, bias=config.has_bias("up"))
        self.down = Linear(config.d_ff, config.d_model, bias=config.has_bias("down"))

    def forward(self, x: Float[Tensor, "batch pos d_model"], hook: Hook) -> Float[Tensor, "batch pos d_model"]:
        """down(activation(up(x)))."""
        neurons = hook("neurons", self.activation(self.up(hook("input", x))))
        return hook("output", self.down(neurons))


class GatedMLP(nn.Module):
    """Gated feed-forward network: activation(gate) times a linear map (GLU variants; Shazeer 2020, equation 6)."""

    def __init__(self, config: Config, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = sparse(activation, config.activation_sparsity)
        self.gate = Linear(config.d_model, config.d_ff, bias=config.has_bias("gate"))
        self.up = Linear(config.d_model, config.d_ff, bias=config.has_bias("up"))
        self.down = Linear(config.d_ff, config.d_model, bias=config.has_bias("down"))

    def forward(self, x: Float[Tensor, "batch pos d_model"], hook: Hook) -> Float[Tensor, "batch pos d_model"]:
        """down(activation(gate(x)) * up(x))."""
        x = hook("input", x)
        neurons = hook("neurons", self.activation(self.gate(x)) * self.up(x))
        return hook("output", self.down(neurons))


@dataclass(frozen=True)
class FeedForward:
    """A kind of feed-forward network: its title, and its factory, which takes a config (None: no network).

    `gate_activation` is the activation of a gated network's gate.
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
        """The embedding of each patch, row by row. Raises ImageError for an image of the wrong size."""
        if pixels.shape[1:] != self.image_shape:
            given, wanted = (" x ".join(map(str, shape)) for shape in (pixels.shape[1:], self.image_shape))
            raise ImageError(f"The image is {given} (channels, height, width); this model reads {wanted}.")
        vectors: Tensor = self.projection(pixels.to(self.projection.weight.dtype))
        return vectors.flatten(2).transpose(1, 2)
