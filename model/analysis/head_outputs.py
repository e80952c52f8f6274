"""What each head adds to the residual stream."""

from __future__ import annotations

import torch
from torch import Tensor

from model.analysis.linearize import Decomposition, linearize
from model.array_types import Float
from model.nn.attention import Attention
from model.nn.block import ResidualConnection


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
