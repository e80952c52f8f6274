"""What the screens of this chapter share: axes, rows of pictures, and numbers in LaTeX."""

from __future__ import annotations

from torch import Tensor

from headlight.array_types import Float
from headlight.course.controls import Axis, MatrixControl
from headlight.course.pictures import MatrixPicture, Question, Row, row

WORDS = ("the", "cat", "sat", "on", "a", "mat")
TOKENS = Axis("tokens", 2, 6, WORDS)
CHANNELS = Axis("channels", 2, 4)
HEAD_CHANNELS, VALUE_CHANNELS = Axis("head channels", 1, 4), Axis("value channels", 1, 4)
PROJECTED = r"Q = {} W_Q,\quad K = X W_K,\quad V = X W_V"  # a formula; the gap is the sequence that asks
HEAD_VALUES = ("q", "k", "v", "scores", "weights", "weighted_values")


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


def weight_controls(channels: Axis, w_q: str, w_k: str) -> dict[str, MatrixControl]:
    """W_Q, W_K and W_V, which take vectors of `channels`; W_V begins as the identity."""
    return {
        "w_q": MatrixControl(title="W_Q", default=w_q, rows=channels, columns=HEAD_CHANNELS),
        "w_k": MatrixControl(title="W_K", default=w_k, rows=channels, columns=HEAD_CHANNELS),
        "w_v": MatrixControl(title="W_V", default="1,0;0,1", rows=channels, columns=VALUE_CHANNELS),
    }


def projection_rows(
    values: dict[str, Tensor],
    asking: str,
    queries: tuple[str, ...],
    keys: tuple[str, ...],
    titles: tuple[str, str],
    question: Question | None = None,
) -> tuple[Row, Row]:
    """What a head computes (the values of `attend_with_weights`): Q, K and V, then scores, weights and output."""
    q, k, v, scores, weights, output = (values[name][0, 0] for name in HEAD_VALUES)
    return (
        row(
            MatrixPicture(title=f"Q = {asking} W_Q", values=q, rows=queries),
            MatrixPicture(title="K = X W_K", values=k, rows=keys),
            MatrixPicture(title="V = X W_V", values=v, rows=keys),
            title=titles[0],
        ),
        row(
            MatrixPicture(title="scores Q Kᵀ / √d", values=scores, rows=queries, columns=keys),
            MatrixPicture(
                title="weights", before="→", values=weights, rows=queries, columns=keys, colours="weights",
                row_sums=True,
            ),
            MatrixPicture(title="output", before="→", values=output, rows=queries),
            title=titles[1],
            question=question,
        ),
    )  # fmt: skip
