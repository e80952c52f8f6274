"""Self-attention as one movement: from a token's vector to queries, keys and values, and on to the output."""

from __future__ import annotations

import torch

from headlight.array_types import Float
from headlight.course.attention import attend_with_weights
from headlight.course.attention_by_hand.words import TOKENS, number
from headlight.course.controls import Axis, MatrixControl, NumberControl
from headlight.course.pictures import BarsPicture, MovingPointsPicture, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen
from headlight.errors import InputError, numbered
from headlight.nn.attention import Attention

PLANE = Axis("channels", 2, 2, ("x", "y"))
STEPS = 12  # frames of each of the two movements
KINDS = ("query", "key", "value", "output")


def move(
    x: Float[torch.Tensor, "pos channel"],
    w_q: Float[torch.Tensor, "q_in q_out"],
    w_k: Float[torch.Tensor, "k_in k_out"],
    w_v: Float[torch.Tensor, "v_in v_out"],
    query: int,
) -> Answer:
    """The points of one query, of all keys and values, and of the output, in every frame; and the weights."""
    if query >= len(x):
        raise InputError(f"There is no token {query}: X has {numbered('token', len(x))}.")
    values = attend_with_weights(x, None, w_q, w_k, w_v)
    q, k, v, weights, output = (values[name][0, 0] for name in ("q", "k", "v", "weights", "weighted_values"))
    names = TOKENS.label_all(len(x))
    begin = torch.cat((x[[query]], x, x, x[[query]]))
    projected = torch.cat((q[[query]], k, v, v[[query]]))
    end = torch.cat((projected[:-1], output[[query]]))
    labels = (f"q {names[query]}", *(f"k {name}" for name in names), *(f"v {name}" for name in names), "output")
    groups = (0, *[1] * len(x), *[2] * len(x), 3)
    written = " + ".join(f"{number(w)} · v {name}" for w, name in zip(weights[query], names, strict=True))
    return (
        row(
            MovingPointsPicture(
                title=f"“{names[query]}” asks",
                labels=labels,
                groups=groups,
                group_titles=KINDS,
                frames=torch.cat((_between(begin, projected), _between(projected, end)[1:])),
                names=_frame_names(),
            ),
            BarsPicture(
                title=f"Weights of “{names[query]}”: how well each key fits the query, after the softmax",
                labels=names,
                series={"": weights[query]},
                high=1.0,
            ),
            question=ask_largest(
                f"At whose key will “{names[query]}” look most?", dict(zip(names, weights[query].tolist(), strict=True))
            ),
        ),
        verdict_row(f"The output is {written}."),
    )


def _between(
    begin: Float[torch.Tensor, "point 2"], end: Float[torch.Tensor, "point 2"]
) -> Float[torch.Tensor, "frame point 2"]:
    """Straight ways from where points are to where they go."""
    share = torch.linspace(0, 1, STEPS + 1)[:, None, None]
    return begin + share * (end - begin)


def _frame_names() -> tuple[str, ...]:
    projecting = [f"X times W_Q, W_K, W_V: {step / STEPS:.0%} of the way" for step in range(1, STEPS)]
    averaging = [f"to the weighted mean of the values: {step / STEPS:.0%} of the way" for step in range(1, STEPS)]
    return ("X: the tokens as they are", *projecting, "Q, K and V", *averaging, "the output")


MOVING = Screen(
    title="Self-attention, moving",
    lesson="Every token begins as one point. Three matrices move it to three places: to its query, its key and its "
    "value. Then the output leaves the value of the token that asks, and goes to the mean of all values, weighted by "
    "how well their keys fit the query.",
    controls={
        "x": MatrixControl(title="X: the tokens", default="2,0.4;0.5,2;-1.6,1", rows=TOKENS, columns=PLANE),
        "w_q": MatrixControl(title="W_Q", default="0,0.6;0.6,-0.2", rows=PLANE, columns=PLANE),
        "w_k": MatrixControl(title="W_K", default="1,-0.5;0.3,1.4", rows=PLANE, columns=PLANE),
        "w_v": MatrixControl(title="W_V", default="1,-1;-0.8,-0.6", rows=PLANE, columns=PLANE),
        "query": NumberControl(title="Token that asks (0 is the first)", default="0", low=0, high=5, whole=True),
    },
    compute=move,
    formulas=(
        r"q_i = x_i W_Q,\quad k_j = x_j W_K,\quad v_j = x_j W_V",
        r"o_i = \sum_j \mathrm{softmax}_j\left(q_i \cdot k_j / \sqrt{d}\right) v_j",
    ),
    code=(Attention.project, Attention.weighted_sum, move),
)
