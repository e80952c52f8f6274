"""Operations that turn a checkpoint's tensor into a parameter: transpose, split a fused QKV, skip rows.

An operation takes a tensor (a weight [out in] or a bias [out]) and the config of its stack, and returns a tensor.
"""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.checkpoints.weight_mapping import WeightOp
from headlight.config import Config


def transpose(tensor: Tensor, config: Config) -> Tensor:
    """A weight stored as [in out]; a bias stays as it is."""
    return tensor.t() if tensor.dim() == 2 else tensor


def chunk(index: int, chunks: int) -> WeightOp:
    """One of several equal blocks of rows."""
    return lambda tensor, config: tensor.chunk(chunks, dim=0)[index]


def skip_rows(offset: int) -> WeightOp:
    """All but the first `offset` rows, which no position uses."""
    return lambda tensor, config: tensor[offset:]


def last_positions(tensor: Tensor, config: Config) -> Tensor:
    """The last rows, one for each position of the context; the rows before them are padding."""
    return tensor[-config.context_length :]


def per_head_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) of a fused weight that is ordered by head."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        return _unflatten_rows(tensor, config.heads, 3, config.head_dim)[:, index].flatten(0, 1)

    return step


def grouped_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) of a fused weight where each key/value head follows its group of queries."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        group_size = config.heads // config.key_value_heads
        grouped = _unflatten_rows(tensor, config.key_value_heads, group_size + 2, config.head_dim)
        chosen = grouped[:, :group_size] if index == 0 else grouped[:, group_size + index - 1]
        return chosen.reshape(-1, *tensor.shape[1:])

    return step


def stacked_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) of a fused weight that holds all queries, then all keys, then all values."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        keys, values = (config.key_value_heads * width for width in (config.head_dim, config.value_head_dim))
        sizes = [config.heads * config.head_dim, keys, values]
        return torch.split(tensor, sizes)[index]

    return step


def flatten(tensor: Tensor, config: Config) -> Tensor:
    """A bias that is stored as a matrix of one row."""
    return tensor.flatten()


def _unflatten_rows(tensor: Tensor, *sizes: int) -> Tensor:
    """The row axis of a tensor split into several axes."""
    return tensor.reshape(*sizes, *tensor.shape[1:])
