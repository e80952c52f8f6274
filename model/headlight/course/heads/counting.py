"""Attention modules run on random numbers, and what they cost: weights, multiply-adds, shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from headlight.config import Config
from headlight.nn.attention import Attention, AttentionContext
from headlight.nn.masks import QueryKeyPositions
from headlight.nn.positional_encodings import PositionalEncoding

_MATRIX_PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__, functional.linear)


@dataclass(frozen=True, eq=False)
class AttentionRun:
    """One forward pass of one attention: each value by its hook point, without the batch, and what it took."""

    values: Mapping[str, Tensor]
    parameters: int
    multiply_adds: int


class MultiplyAdds(TorchFunctionMode):
    """Counts the multiply-adds of the matrix products that are computed within it."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Every number of a product is a sum over the last axis of what is multiplied."""
        result = func(*args, **(kwargs or {}))
        if func in _MATRIX_PRODUCTS:
            self.count += result.numel() * args[0].shape[-1]
        return result


def run_attention(
    d_model: int, heads: int, length: int, *, head_dim: int = 0, value_head_dim: int = 0, seed: int = 0
) -> AttentionRun:
    """Attention of random weights over random tokens, each of which sees all.

    Sizes of 0 are d_model / heads. Raises ConfigError where the sizes do not go together.
    """
    config = Config(
        vocabulary_size=1, context_length=1, layers=1, d_model=d_model, heads=heads, head_dim=head_dim,
        value_head_dim=value_head_dim, positional_encoding="none", masks=(),
    )  # fmt: skip
    positions, values = torch.arange(length), dict[str, Tensor]()
    context = AttentionContext(
        PositionalEncoding(config), QueryKeyPositions(positions, positions), torch.ones(1, 1, length, length).bool()
    )

    def record(name: str, value: Tensor) -> Tensor:
        values[name] = value[0]
        return value

    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        attention, x = Attention(config).eval(), torch.randn(1, length, d_model)
        with MultiplyAdds() as counter:
            attention(x, None, context, record)
    return AttentionRun(values, sum(weight.numel() for weight in attention.parameters()), counter.count)
