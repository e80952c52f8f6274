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
from model.nn.norms import LayerNorm, PlainLayerNorm, RMSNorm, ShiftedRMSNorm

Table = Float[Tensor, "part width"]


@singledispatch
def held(layer: nn.Module, table: Table, rest: int) -> Table:
    """The table after a layer; what belongs to no part, such as a bias, goes to the row `rest`.

    Raises ConfigError for a layer whose parts cannot be told apart.
    """
    raise ConfigError(f"What goes through a {type(layer).__name__} cannot be told apart into parts.")


@held.register
def _(layer: nn.Identity, table: Tensor, rest: int) -> Tensor:
    return table


@held.register
def _(layer: nn.Linear, table: Tensor, rest: int) -> Tensor:
    return added(table @ layer.weight.to(table).T, layer.bias, rest)


@held.register
def _(layer: PlainLayerNorm, table: Tensor, rest: int) -> Tensor:
    return _centred(table, layer.epsilon)


@held.register
def _(layer: LayerNorm, table: Tensor, rest: int) -> Tensor:
    return added(_centred(table, layer.epsilon) * layer.weight.to(table), layer.bias, rest)


@held.register
def _(layer: RMSNorm, table: Tensor, rest: int) -> Tensor:
    return _shortened(table, layer.epsilon) * layer.weight.to(table)


@held.register
def _(layer: ShiftedRMSNorm, table: Tensor, rest: int) -> Tensor:
    return _shortened(table, layer.epsilon) * (1 + layer.weight.to(table))


def bent(bend: Callable[[Tensor], Tensor], table: Table, rest: int) -> Table:
    """The table after an activation: each channel times (bend(x) - bend(0)) / x, and bend(0) to the row `rest`."""
    at = table.sum(0)
    still = bend(torch.zeros_like(at))
    slope = torch.where(at == 0, 0.0, (bend(at) - still) / torch.where(at == 0, 1.0, at))
    return added(table * slope, still, rest)


def added(table: Table, row: Tensor | None, place: int) -> Table:
    """The table with something added to one of its rows."""
    if row is None:
        return table
    table = table.clone()
    table[place] += row.to(table)
    return table


def _centred(table: Tensor, epsilon: float) -> Tensor:
    return _shortened(table - table.mean(-1, keepdim=True), epsilon)


def _shortened(table: Tensor, epsilon: float) -> Tensor:
    return table / (table.sum(0).square().mean() + epsilon).sqrt()
