"""Shared by the screens of this chapter: axes, and numbers in LaTeX."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.controls import Axis
from headlight.views.words import equals

WORDS = ("the", "cat", "sat", "on", "a", "mat")
TOKENS = Axis("tokens", 2, 6, WORDS)
CHANNELS = Axis("channels", 2, 4)
VALUE_CHANNELS = Axis("value channels", 1, 4)


def number(value: float | Tensor, digits: int = 2) -> str:
    """A number as in handwriting: `1`, `-0.5`, `0.71`."""
    text = f"{float(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def dot(a: Float[Tensor, " channel"], b: Float[Tensor, " channel"]) -> str:
    """A dot product written out, in LaTeX: `1 \\cdot 2 + 0 \\cdot (-1)`."""
    return " + ".join(rf"{_factor(x)} \cdot {_factor(y)}" for x, y in zip(a, b, strict=True))


def dot_result(a: Float[Tensor, " channel"], b: Float[Tensor, " channel"]) -> str:
    """A dot product written out, and its result, in LaTeX."""
    return f"{dot(a, b)} {equals(as_written(a) @ as_written(b), a @ b, number)} {number(a @ b)}"


def in_sentence(formula: str) -> str:
    """Such a formula in a sentence: `1·2 + 0·(−1)`."""
    return formula.replace(r" \cdot ", "·").replace("-", "−")


def as_written(values: float | Tensor) -> Tensor:
    """Numbers in the digits that `number` writes."""
    return torch.as_tensor(values).double().round(decimals=2)


def _factor(value: Tensor) -> str:
    return f"({number(value)})" if value < 0 else number(value)
