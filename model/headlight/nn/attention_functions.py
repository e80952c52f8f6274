"""Attention functions: from queries and keys to scores, and from scores to weights.

Each has three visible steps: `score` (query x key, with the bias), `mask` (forbidden cells get minus infinity, or 0)
and `normalize` (each row sums to 1). A row without any allowed key has weights of 0, never NaN. Within `score`,
`feature_map` maps queries and keys before they are multiplied, and `add_bias` applies the bias.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Bool, Float
from headlight.config import Config
from headlight.registry import Registry


@dataclass(frozen=True)
class StepFormulas:
    """The steps as plain text, with indices as `_{ij}`; an empty `feature_map` is the identity."""

    feature_map: str
    add_bias: str
    mask: str
    normalize: str


_SCALE = r" / \sqrt{d}"
Scores = Float[Tensor, "batch head query key"]
Allowed = Bool[Tensor, "#batch #head query key"]
BatchedScores = Float[Tensor, "*batch head query key"]
Bias = Float[Tensor, "*#batch #head #query #key"]


def has_empty_rows(allowed: Allowed) -> bool:
    """Whether some query has no key that it may attend to.

    A compiled graph cannot branch on data and need not: it fuses the extra pass with an earlier one. The meta device
    has no data to branch on.
    """
    return torch.compiler.is_compiling() or allowed.is_meta or not bool(allowed.any(dim=-1).all())


class AttentionFunction(ABC):
    """A row of ATTENTION_FUNCTIONS: the steps of a function (the usual ones by default), and its description.

    `is_fused`: F.scaled_dot_product_attention computes the same. `has_temperature`: a factor on the scores makes rows
    sharper or flatter. `formula` is the formula of the weights, `score_formula` the right side of the formula of the
    scores, both in LaTeX; `step_formulas` are the formulas of a walkthrough's steps.
    """

    title: str
    description: str
    formula: str
    score_formula = rf"q_i \cdot k_j{_SCALE} + b_{{ij}}"
    is_fused = False
    has_temperature = False
    step_formulas: StepFormulas

    def feature_map(self, x: Float[Tensor, "*shape head_dim"]) -> Float[Tensor, "*shape head_dim"]:
        """The identity: queries and keys are multiplied unchanged."""
        return x

    def add_bias(self, scores: BatchedScores, bias: Bias) -> BatchedScores:
        """Adds the bias."""
        return scores + bias

    def score(
        self,
        q: Float[Tensor, "batch head query head_dim"],
        k: Float[Tensor, "batch head key head_dim"],
        scale: float | Float[Tensor, "#batch #head 1 1"],
        bias: Bias,
    ) -> Scores:
        """The scaled dot product of the feature maps of each query and each key, with the bias."""
        # Scaling q touches query x channel numbers, scaling the product query x key numbers: equal, and cheaper.
        return self.add_bias((self.feature_map(q) * scale).to(q.dtype) @ self.feature_map(k).transpose(-2, -1), bias)

    def mask(self, scores: Scores, allowed: Allowed) -> Scores:
        """Forbidden cells get the most negative finite number instead of minus infinity: an empty row stays finite."""
        return torch.where(allowed, scores, torch.finfo(scores.dtype).min)

    @abstractmethod
    def normalize(self, masked: Scores, allowed: Allowed | None) -> Scores:
        """The weights: each row sums to 1, or to 0 if it has no allowed key; without `allowed`, every row has one."""

    def normalize_with_sink(
        self, masked: Scores, allowed: Allowed | None, sinks: Float[Tensor, "#batch head"] | None
    ) -> Scores:
        """The weights; with sinks (a key without a token in each head), a row sums to 1 minus the sink's share."""
        if sinks is None:
            return self.normalize(masked, allowed)
        column = self.sink_score(sinks)[:, :, None, None].to(masked.dtype).expand(*masked.shape[:-1], 1)
        return self.normalize(torch.cat((masked, column), dim=-1), None)[..., :-1]

    def sink_score(self, sinks: Float[Tensor, "#batch head"]) -> Float[Tensor, "#batch head"]:
        """The sinks as scores of this function."""
        return sinks


class SoftmaxAttention(AttentionFunction):
    """weights = softmax(scale q k^T + bias) (Vaswani et al. 2017, equation 1)."""

    title = "Softmax"
    description = "Every allowed key gets a positive weight; weights grow exponentially with the scores."
    formula = r"a_{ij} = \mathrm{softmax}_j(s_{ij}) = e^{s_{ij}} / \textstyle\sum_j e^{s_{ij}}"
    is_fused = True
    has_temperature = True
    step_formulas = StepFormulas("", "s_{ij} + b_{ij}", "−∞ where j is forbidden", "exp(s_{ij}) / Σ_{j} exp(s_{ij})")

    def normalize(self, masked: Scores, allowed: Allowed | None) -> Scores:
        """Softmax over the keys."""
        weights = torch.softmax(masked, dim=-1)
        # If a row has an allowed key, softmax gives its forbidden cells 0; only rows without one need another pass.
        if allowed is None or not has_empty_rows(allowed):
            return weights
        return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


class HardmaxAttention(AttentionFunction):
    """All weight on the best key; equal scores share it evenly (the limit of softmax at temperature 0)."""

    title = "Hard (argmax)"
    description = "All weight goes to the key with the largest score; keys with equal scores share it evenly."
    formula = r"a_{ij} = [\,j \in B_i\,] / |B_i|,\quad B_i = \arg\max_j s_{ij}"
    step_formulas = replace(SoftmaxAttention.step_formulas, normalize="1 / number of best keys, on each of them")

    def normalize(self, masked: Scores, allowed: Allowed | None) -> Scores:
        """One over the number of best keys, on each of them."""
        # Not ==: a matrix product rounds equal keys differently, depending on their column.
        best = torch.isclose(masked, masked.amax(dim=-1, keepdim=True), rtol=1e-5, atol=1e-6)
        if allowed is not None:
            best = best & allowed.any(dim=-1, keepdim=True)
        return best.to(masked.dtype) / best.sum(dim=-1, keepdim=True).clamp(min=1)


class LinearAttention(AttentionFunction):
    """weights proportional to phi(q) phi(k)^T, phi = elu + 1 (Katharopoulos et al. 2020, equations 5 and 7).

    Scores are factors, not exponents: a bias is a factor exp(bias), a mask a factor 0. The scale is a common factor of
    a row, so the division by the row's sum cancels it.
    """

    title = "Linear (elu + 1)"
    description = "Weights are proportional to a product of positive features of query and key, without an exponential."
    formula = r"a_{ij} = s_{ij} / \textstyle\sum_j s_{ij}"
    score_formula = (
        rf"\varphi(q_i) \cdot \varphi(k_j)\, e^{{b_{{ij}}}}{_SCALE},\quad \varphi(x) = \mathrm{{elu}}(x) + 1"
    )
    step_formulas = StepFormulas(
        "φ(x) = elu(x) + 1", "s_{ij} · exp(b_{ij})", "0 where j is forbidden", "s_{ij} / Σ_{j} s_{ij}"
    )

    def feature_map(self, x: Float[Tensor, "*shape head_dim"]) -> Float[Tensor, "*shape head_dim"]:
        """phi(x) = elu(x) + 1, which is positive."""
        return functional.elu(x) + 1

    def add_bias(self, scores: BatchedScores, bias: Bias) -> BatchedScores:
        """Multiplies by exp(bias)."""
        return scores * bias.exp()

    def sink_score(self, sinks: Float[Tensor, "#batch head"]) -> Float[Tensor, "#batch head"]:
        """The sinks as factors, like all scores."""
        return sinks.exp()

    def mask(self, scores: Scores, allowed: Allowed) -> Scores:
        """Forbidden cells get 0."""
        return torch.where(allowed, scores, 0.0)

    def normalize(self, masked: Scores, allowed: Allowed | None) -> Scores:
        """Divides each row by its sum."""
        return masked / masked.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(masked.dtype).tiny)


ATTENTION_FUNCTIONS: Registry[AttentionFunction] = Registry(
    "attention function", {"softmax": SoftmaxAttention(), "hardmax": HardmaxAttention(), "linear": LinearAttention()}
)


def score_formula(config: Config) -> str:
    """The formula (LaTeX) of a model's scores, with its scale and its soft cap."""
    formula, comma, definition = ATTENTION_FUNCTIONS[config.attention_function].score_formula.partition(r",\quad")
    if not config.attention.scale or config.per_layer.score_scales:
        formula = formula.replace(_SCALE, r" \cdot c_\ell" if config.attention.scale else "")
    if cap := config.attention.score_soft_cap:
        formula = rf"{cap:g} \tanh\left(\frac{{{formula}}}{{{cap:g}}}\right)"
    return f"s_{{ij}} = {formula}{comma}{definition}"
