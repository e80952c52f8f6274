"""Shared by the screens of this chapter: axes, and numbers in LaTeX."""

from __future__ import annotations

from torch import Tensor

from headlight.array_types import Float
from headlight.course.controls import Axis

WORDS = ("the", "cat", "sat", "on", "a", "mat")
TOKENS = Axis("tokens", 2, 6, WORDS)
CHANNELS = Axis("channels", 2, 4)
HALF_DIGIT = 0.005 + 1e-6  # of a number with two decimal places, and what a sum of them may err
VALUE_CHANNELS = Axis("value channels", 1, 4)


def number(value: float | Tensor, digits: int = 2) -> str:
    """A number as in handwriting: `1`, `-0.5`, `0.71`."""
    text = f"{float(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def dot(a: Float[Tensor, " channel"], b: Float[Tensor, " channel"], times: str = r" \cdot ") -> str:
    """A dot product written out, in LaTeX: `1 \\cdot 2 + 0 \\cdot (-1)`; or with another sign."""
    return " + ".join(f"{_factor(x)}{times}{_factor(y)}" for x, y in zip(a, b, strict=True))


def dot_result(a: Float[Tensor, " channel"], b: Float[Tensor, " channel"], times: str = r" \cdot ") -> str:
    """A dot product written out, and its result."""
    return f"{dot(a, b, times)} {equals(as_written(a) @ as_written(b), a @ b)} {number(a @ b)}"


def as_written(values: Tensor) -> Tensor:
    """Numbers in the digits that `number` writes."""
    return values.double().round(decimals=2)


def equals(written: float | Tensor, result: float | Tensor) -> str:
    """The sign before a result: “=” if the written numbers give it in its own digits, or “≈” if they are too short."""
    return "=" if abs(float(written) - float(number(result))) < HALF_DIGIT else "≈"


def _factor(value: Tensor) -> str:
    return f"({number(value)})" if value < 0 else number(value)
