"""How tensors of other families are cut into ours: steps for the rows of their weights tables.

A step takes a tensor (a weight [out in] or a bias [out]) and the config of its stack, and gives a tensor.
"""

from __future__ import annotations

import torch
from torch import Tensor

from model.checkpoints.weight_mapping import WeightOp
from model.config import Config


def transpose(tensor: Tensor, config: Config) -> Tensor:
    """A weight kept as [in out]; a bias stays."""
    return tensor.t() if tensor.dim() == 2 else tensor


def chunk(index: int, chunks: int) -> WeightOp:
    """One of several equal parts that lie one below the other."""
    return lambda tensor, config: tensor.chunk(chunks, dim=0)[index]


def skip_rows(offset: int) -> WeightOp:
    """Without the first rows, which no token uses."""
    return lambda tensor, config: tensor[offset:]


def last_positions(tensor: Tensor, config: Config) -> Tensor:
    """The last rows, one for each position of the context; those before them stand for no position."""
    return tensor[-config.context_length :]


def per_head_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) where each head has the three one below the other."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        return _unflatten_rows(tensor, config.heads, 3, config.head_dim)[:, index].flatten(0, 1)

    return step


def grouped_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) where each key/value head follows the queries it serves."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        group_size = config.heads // config.key_value_heads
        grouped = _unflatten_rows(tensor, config.key_value_heads, group_size + 2, config.head_dim)
        chosen = grouped[:, :group_size] if index == 0 else grouped[:, group_size + index - 1]
        return chosen.reshape(-1, *tensor.shape[1:])

    return step


def stacked_qkv(index: int) -> WeightOp:
    """All queries (0), then all keys (1), then all values (2)."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        keys, values = (config.key_value_heads * width for width in (config.head_dim, config.value_head_dim))
        sizes = [config.heads * config.head_dim, keys, values]
        return torch.split(tensor, sizes)[index]

    return step


def flatten(tensor: Tensor, config: Config) -> Tensor:
    """A bias that was kept as one row."""
    return tensor.flatten()


def _unflatten_rows(tensor: Tensor, *sizes: int) -> Tensor:
    """The rows of a tensor counted along several axes."""
    return tensor.reshape(*sizes, *tensor.shape[1:])
