"""Layers linearized at the traced input, so that a sum of components maps to a sum of components.

A decomposition has one row for each component; the rows add up to what a layer reads. `linearize` gives a decomposition
whose rows add up to what the layer gives: norms use the scale of the whole, activations the slope from the origin to
the whole. This is a convention: without a component that scale and that slope would be others (Elhage et al. 2021,
"Handling layer normalization").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import torch
from torch import Tensor, nn

from headlight.array_types import Float
from headlight.errors import ConfigError
from headlight.nn.attention import Attention
from headlight.nn.block import ResidualConnection
from headlight.nn.norms import GemmaRMSNorm, RMSNorm

Decomposition = Float[Tensor, "component dim"]


@singledispatch
def linearize(layer: nn.Module, table: Decomposition, bias_row: int) -> Decomposition:
    """The decomposition after a layer; what belongs to no component, such as a bias, goes to the row `bias_row`.

    Raises ConfigError for a layer without a linearization.
    """
    raise ConfigError(f"{type(layer).__name__} cannot be linearized, so its input cannot be split into components.")


@linearize.register
def _(layer: nn.Identity, table: Tensor, bias_row: int) -> Tensor:
    return table


@linearize.register
def _(layer: nn.Linear, table: Tensor, bias_row: int) -> Tensor:
    return add_to_row(table @ layer.weight.to(table).T, layer.bias, bias_row)


@linearize.register
def _(layer: nn.LayerNorm, table: Tensor, bias_row: int) -> Tensor:
    normed = _divide_by_rms(table - table.mean(-1, keepdim=True), layer.eps)
    return add_to_row(normed * layer.weight.to(table), layer.bias, bias_row) if layer.elementwise_affine else normed


@linearize.register
def _(layer: RMSNorm, table: Tensor, bias_row: int) -> Tensor:
    return _divide_by_rms(table, layer.eps) * layer.weight.to(table)


@linearize.register
def _(layer: GemmaRMSNorm, table: Tensor, bias_row: int) -> Tensor:
    return _divide_by_rms(table, layer.eps) * (1 + layer.weight.to(table))


def linearize_activation(activation: Callable[[Tensor], Tensor], table: Decomposition, bias_row: int) -> Decomposition:
    """The decomposition after an activation f: channels times (f(x) - f(0)) / x, and f(0) to the row `bias_row`."""
    total = table.sum(0)
    at_zero = activation(torch.zeros_like(total))
    slope = torch.where(total == 0, 0.0, (activation(total) - at_zero) / torch.where(total == 0, 1.0, total))
    return add_to_row(table * slope, at_zero, bias_row)


def add_to_row(table: Decomposition, value: Tensor | None, row: int) -> Decomposition:
    """The decomposition with something added to one of its rows."""
    if value is None:
        return table
    table = table.clone()
    table[row] += value.to(table)
    return table


def _divide_by_rms(table: Tensor, eps: float | None) -> Tensor:
    return table / (table.sum(0).square().mean() + (eps or 0.0)).sqrt()


def per_head_output(
    attention: Attention, weighted_values: Float[Tensor, "head *row value_head_dim"]
) -> Float[Tensor, "head *row d_model"]:
    """Each head's part of the attention output: its weighted values times its own columns of the output projection."""
    weight = attention.output.weight.to(weighted_values)
    head_weights = weight.view(len(weight), attention.heads, -1)
    return torch.einsum("h...c,dhc->h...d", weighted_values, head_weights)


def through_residual(
    residual: ResidualConnection,
    table: Decomposition,
    sublayer_output: Decomposition,
    bias_row: int,
    onto: Decomposition | None = None,
) -> Decomposition:
    """The components of the residual stream after a sublayer, wherever the norms stand.

    The sublayer read `table` and gave `sublayer_output`, which is added to `onto` (to `table` itself if None); what
    norms add goes to `bias_row`.
    """
    return residual.apply_placement(
        table,
        table if onto is None else onto,
        lambda rows: linearize(residual.norm, rows, bias_row),
        lambda rows: sublayer_output,
        lambda rows: linearize(residual.output_norm, rows, bias_row),
    )
