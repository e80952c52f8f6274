"""How tensors of other families are cut into ours: steps for the rows of their weights tables.

A step takes a tensor (a weight [out in] or a bias [out]) and the config of its stack, and gives a tensor.
"""

from __future__ import annotations

import torch
from torch import Tensor

from model.checkpoints.weight_mapping import Step
from model.config import Config


def transposed(tensor: Tensor, config: Config) -> Tensor:
    """A weight kept as [in out]; a bias stays."""
    return tensor.t() if tensor.dim() == 2 else tensor


def part(number: int, of: int) -> Step:
    """One of several equal parts that lie one below the other."""
    return lambda tensor, config: tensor.chunk(of, dim=0)[number]


def after(offset: int) -> Step:
    """Without the first rows, which no token uses."""
    return lambda tensor, config: tensor[offset:]


def last(tensor: Tensor, config: Config) -> Tensor:
    """The last rows, one for each position of the context; those before them stand for no position."""
    return tensor[-config.context :]


def heads(number: int) -> Step:
    """Query (0), key (1) or value (2) where each head has the three one below the other."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        return _split(tensor, config.heads, 3, config.head_width)[:, number].flatten(0, 1)

    return step


def groups(number: int) -> Step:
    """Query (0), key (1) or value (2) where each key/value head follows the queries it serves."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        served = config.heads // config.key_value_heads
        grouped = _split(tensor, config.key_value_heads, served + 2, config.head_width)
        chosen = grouped[:, :served] if number == 0 else grouped[:, served + number - 1]
        return chosen.reshape(-1, *tensor.shape[1:])

    return step


def stacked(number: int) -> Step:
    """All queries (0), then all keys (1), then all values (2)."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        keys, values = (config.key_value_heads * width for width in (config.head_width, config.value_width))
        sizes = [config.heads * config.head_width, keys, values]
        return torch.split(tensor, sizes)[number]

    return step


def flat(tensor: Tensor, config: Config) -> Tensor:
    """A bias that was kept as one row."""
    return tensor.flatten()


def _split(tensor: Tensor, *sizes: int) -> Tensor:
    """The rows of a tensor counted along several axes."""
    return tensor.reshape(*sizes, *tensor.shape[1:])
