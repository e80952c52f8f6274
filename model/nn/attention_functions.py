"""Kernels: how queries and keys become scores, and scores become weights.

Each kernel has three steps, so that each can be seen: `score` (query x key, bias added), `mask` (forbidden
cells lose their score) and `weigh` (each row becomes shares of one). A row without any allowed key has no weights
at all: zeros, never NaN. Within `score`, `feature` is what is multiplied, and `place` brings the bias in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from model.array_types import Bool, Float
from model.registry import Registry


@dataclass(frozen=True)
class Formulas:
    """How a kernel's steps are written: `_{ij}` is an index below. An empty `feature` leaves its input as it is."""

    feature_map: str
    add_bias: str
    mask: str
    normalize: str


class AttentionFunction(Protocol):
    """What attention asks of a kernel; shapes as in the methods of `Softmax`.

    `fused` says whether it is what F.scaled_dot_product_attention computes.
    """

    @property
    def is_fused(self) -> bool: ...

    @property
    def formulas(self) -> Formulas: ...

    def feature_map(self, x: Tensor) -> Tensor: ...

    def add_bias(self, scores: Tensor, bias: Tensor) -> Tensor: ...

    def score(self, q: Tensor, k: Tensor, scale: float | Tensor, bias: Tensor) -> Tensor: ...

    def mask(self, scores: Tensor, allowed: Tensor) -> Tensor: ...

    def normalize(self, masked: Tensor, allowed: Tensor) -> Tensor: ...


class SoftmaxAttention:
    """weights = softmax(scale q k^T + bias) (Vaswani et al. 2017, equation 1)."""

    is_fused = True

    formulas = Formulas("", "s_{ij} + b_{ij}", "−∞ where j is forbidden", "exp(s_{ij}) / Σ_{j} exp(s_{ij})")

    def feature_map(self, x: Float[Tensor, "*shape channel"]) -> Float[Tensor, "*shape channel"]:
        """What is multiplied: queries and keys as they are."""
        return x

    def add_bias(
        self, scores: Float[Tensor, "*batch head query key"], bias: Float[Tensor, "*#batch #head #query #key"]
    ) -> Float[Tensor, "*batch head query key"]:
        """The bias is added."""
        return scores + bias

    def score(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch head key channel"],
        scale: float | Float[Tensor, "#batch #head 1 1"],
        bias: Float[Tensor, "*#batch #head #query #key"],
    ) -> Float[Tensor, "batch head query key"]:
        """How well each query matches each key."""
        # Scaling q touches query x channel numbers, scaling the product query x key: the same, and cheaper.
        return self.add_bias((self.feature_map(q) * scale).to(q.dtype) @ self.feature_map(k).transpose(-2, -1), bias)

    def mask(
        self, scores: Float[Tensor, "batch head query key"], allowed: Bool[Tensor, "#batch #head query key"]
    ) -> Float[Tensor, "batch head query key"]:
        """Forbidden cells get minus infinity: here the most negative finite number, so an empty row stays finite."""
        return torch.where(allowed, scores, torch.finfo(scores.dtype).min)

    def normalize(
        self, masked: Float[Tensor, "batch head query key"], allowed: Bool[Tensor, "#batch #head query key"]
    ) -> Float[Tensor, "batch head query key"]:
        """Rows become positive shares that sum to one."""
        weights = torch.softmax(masked, dim=-1)
        # exp(-inf) is 0 already wherever a row has an allowed key; a pass over all weights is for the others only.
        # A compiled graph cannot ask, and has no need to: there the pass is part of another one.
        empty_rows = ~allowed.any(dim=-1, keepdim=True)
        any_empty = torch.compiler.is_compiling() or bool(empty_rows.any())
        return weights.masked_fill(empty_rows, 0.0) if any_empty else weights


class HardmaxAttention(SoftmaxAttention):
    """All weight on the best key; equal scores share it evenly (the limit of softmax at temperature 0)."""

    is_fused = False

    formulas = Formulas("", "s_{ij} + b_{ij}", "−∞ where j is forbidden", "1 / number of best keys, on each of them")

    def normalize(
        self, masked: Float[Tensor, "batch head query key"], allowed: Bool[Tensor, "#batch #head query key"]
    ) -> Float[Tensor, "batch head query key"]:
        """One over the number of best keys, on each of them."""
        # Not ==: a matrix product rounds equal keys differently, depending on the column they stand in.
        best = torch.isclose(masked, masked.amax(dim=-1, keepdim=True), rtol=1e-5, atol=1e-6)
        best = best & allowed.any(dim=-1, keepdim=True)
        return best.to(masked.dtype) / best.sum(dim=-1, keepdim=True).clamp(min=1)


class LinearAttention:
    """weights proportional to phi(q) phi(k)^T, phi = elu + 1 (Katharopoulos et al. 2020, equations 5 and 7).

    Scores are factors here and no exponents: a bias is a factor exp(bias), a mask a factor 0. The scale is
    a common factor of a row, which the division by the row's sum cancels.
    """

    formulas = Formulas("φ(x) = elu(x) + 1", "s_{ij} · exp(b_{ij})", "0 where j is forbidden", "s_{ij} / Σ_{j} s_{ij}")

    def feature_map(self, x: Float[Tensor, "*shape channel"]) -> Float[Tensor, "*shape channel"]:
        """phi(x) = elu(x) + 1, which is above zero."""
        return functional.elu(x) + 1

    def add_bias(
        self, scores: Float[Tensor, "*batch head query key"], bias: Float[Tensor, "*#batch #head #query #key"]
    ) -> Float[Tensor, "*batch head query key"]:
        """The bias is a factor."""
        return scores * bias.exp()

    is_fused = False

    def score(
        self,
        q: Float[Tensor, "batch head query channel"],
        k: Float[Tensor, "batch head key channel"],
        scale: float | Float[Tensor, "#batch #head 1 1"],
        bias: Float[Tensor, "*#batch #head #query #key"],
    ) -> Float[Tensor, "batch head query key"]:
        """How well each query matches each key; never negative."""
        return self.add_bias((self.feature_map(q) * scale).to(q.dtype) @ self.feature_map(k).transpose(-2, -1), bias)

    def mask(
        self, scores: Float[Tensor, "batch head query key"], allowed: Bool[Tensor, "#batch #head query key"]
    ) -> Float[Tensor, "batch head query key"]:
        """Forbidden cells get 0."""
        return torch.where(allowed, scores, 0.0)

    def normalize(
        self, masked: Float[Tensor, "batch head query key"], allowed: Bool[Tensor, "#batch #head query key"]
    ) -> Float[Tensor, "batch head query key"]:
        """Each row divided by its sum."""
        return masked / masked.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(masked.dtype).tiny)


ATTENTION_FUNCTIONS: Registry[AttentionFunction] = Registry(
    "attention function", {"softmax": SoftmaxAttention(), "hardmax": HardmaxAttention(), "linear": LinearAttention()}
)
