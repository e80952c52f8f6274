"""What the screens of this chapter have in common: axes, and numbers in LaTeX."""

from __future__ import annotations

import torch
from torch import Tensor

from model.array_types import Float
from model.course.controls import Axis

WORDS = ("the", "cat", "sat", "on", "a", "mat")
TOKENS = Axis("tokens", 2, 6, WORDS)
CHANNELS = Axis("channels", 2, 4)
VALUE_CHANNELS = Axis("value channels", 1, 4)


def number(value: float | Tensor, digits: int = 2) -> str:
    """A number as one writes it with a pencil: `1`, `-0.5`, `0.71`."""
    text = f"{float(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def dot(a: Float[Tensor, " channel"], b: Float[Tensor, " channel"]) -> str:
    """A dot product written out: `1 \\cdot 2 + 0 \\cdot (-1)`."""
    return " + ".join(rf"{_factor(x)} \cdot {_factor(y)}" for x, y in zip(a, b, strict=True))


def _factor(value: Tensor) -> str:
    return f"({number(value)})" if value < 0 else number(value)


def causal(count: int) -> Tensor:
    """The causal mask of some tokens."""
    return torch.ones(count, count, dtype=torch.bool).tril()
