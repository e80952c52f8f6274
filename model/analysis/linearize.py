"""Layers with all that is not linear in them held where a text put it, so that the parts of a sum stay parts of a sum.

A table has one row for each part; its rows add up to what a layer really reads. `held` gives a table whose rows add
up to what the layer really gives. A norm divides every part by the length that the whole has; a bend multiplies it by
the slope from the origin to where the whole stands. This is a convention, not a law: a part taken away would change
that length and that slope (Elhage et al. 2021, "Handling layer normalization").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import torch
from torch import Tensor, nn

from model.array_types import Float
from model.errors import ConfigError
from model.nn.norms import GemmaRMSNorm, RMSNorm

Decomposition = Float[Tensor, "part width"]


@singledispatch
def linearize(layer: nn.Module, table: Decomposition, bias_row: int) -> Decomposition:
    """The table after a layer; what belongs to no part, such as a bias, goes to the row `rest`.

    Raises ConfigError for a layer whose parts cannot be told apart.
    """
    raise ConfigError(f"What goes through a {type(layer).__name__} cannot be told apart into parts.")


@linearize.register
def _(layer: nn.Identity, table: Tensor, rest: int) -> Tensor:
    return table


@linearize.register
def _(layer: nn.Linear, table: Tensor, rest: int) -> Tensor:
    return add_to_row(table @ layer.weight.to(table).T, layer.bias, rest)


@linearize.register
def _(layer: nn.LayerNorm, table: Tensor, rest: int) -> Tensor:
    normed = _divide_by_rms(table - table.mean(-1, keepdim=True), layer.eps)
    return add_to_row(normed * layer.weight.to(table), layer.bias, rest) if layer.elementwise_affine else normed


@linearize.register
def _(layer: RMSNorm, table: Tensor, rest: int) -> Tensor:
    return _divide_by_rms(table, layer.eps) * layer.weight.to(table)


@linearize.register
def _(layer: GemmaRMSNorm, table: Tensor, rest: int) -> Tensor:
    return _divide_by_rms(table, layer.eps) * (1 + layer.weight.to(table))


def linearize_activation(activation: Callable[[Tensor], Tensor], table: Decomposition, bias_row: int) -> Decomposition:
    """The table after an activation: each channel times (bend(x) - bend(0)) / x, and bend(0) to the row `rest`."""
    total = table.sum(0)
    at_zero = activation(torch.zeros_like(total))
    slope = torch.where(total == 0, 0.0, (activation(total) - at_zero) / torch.where(total == 0, 1.0, total))
    return add_to_row(table * slope, at_zero, bias_row)


def add_to_row(table: Decomposition, value: Tensor | None, row: int) -> Decomposition:
    """The table with something added to one of its rows."""
    if value is None:
        return table
    table = table.clone()
    table[row] += value.to(table)
    return table


def _divide_by_rms(table: Tensor, eps: float | None) -> Tensor:
    return table / (table.sum(0).square().mean() + (eps or 0.0)).sqrt()
