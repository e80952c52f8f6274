"""What each head writes to the residual stream."""

from __future__ import annotations

import torch
from torch import Tensor

from model.analysis.linearize import Table, held
from model.array_types import Float
from model.nn.attention import Attention
from model.nn.block import Residual


def moved(attention: Attention, mixed: Float[Tensor, "head *row channel"]) -> Float[Tensor, "head *row width"]:
    """What each head writes to the stream: its weighted values times its own columns of the output projection."""
    weight = attention.output.weight.to(mixed)
    columns = weight.view(len(weight), attention.heads, -1)
    return torch.einsum("h...c,whc->h...w", mixed, columns)


def through(residual: Residual, table: Table, written: Table, rest: int, onto: Table | None = None) -> Table:
    """The parts of the stream after a sublayer wrote to it, wherever the norms stand; `onto` may be another stream."""
    return residual.apply_placed(
        table,
        table if onto is None else onto,
        lambda rows: held(residual.norm, rows, rest),
        lambda rows: written,
        lambda rows: held(residual.after_norm, rows, rest),
    )
