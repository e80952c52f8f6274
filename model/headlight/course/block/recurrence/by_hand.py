"""A recurrent network on typed numbers: its states, step after step, and its gradient, unrolled."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention_by_hand.words import TOKENS, dot, number
from headlight.course.controls import Axis, ChoiceControl, MatrixControl
from headlight.course.screen import Screen, ScreenRows
from headlight.course.sentences import require_width
from headlight.questions.asking import ask_number
from headlight.questions.kinds import Question
from headlight.views.forms import agreement, bars
from headlight.views.kinds import Equations, MatrixView
from headlight.views.rows import row
from headlight.views.words import three_digits

INPUTS, STATES = Axis("inputs", 1, 3), Axis("states", 1, 3)
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"sigmoid": torch.sigmoid, "tanh": torch.tanh}
SIGNS = {"sigmoid": r"\sigma", "tanh": r"\tanh"}


def run_states(
    x: Float[Tensor, "pos input"],
    u: Float[Tensor, "u_in state"],
    w: Float[Tensor, "w_in w_out"],
    activation: str,
    first: Float[Tensor, " state"] | None = None,
) -> list[Float[Tensor, " state"]]:
    """The state before the first token, by default 0, and after each: h_t = f(x_t U + h_{t-1} W)."""
    states = [torch.zeros(len(w)) if first is None else first]
    for token in x:
        states.append(ACTIVATIONS[activation](token @ u + states[-1] @ w))
    return states


def unrolled(
    states: list[Float[Tensor, " state"]], w: Float[Tensor, "w_in w_out"], activation: str
) -> list[Float[Tensor, "then now"]]:
    """The derivative of the last state by the state after each token: a product of one matrix for each later step."""
    product, found = torch.eye(len(w)), [torch.eye(len(w))]
    for state in reversed(states[2:]):
        slope = state * (1 - state) if activation == "sigmoid" else 1 - state.square()
        product = (w * slope) @ product
        found.insert(0, product)
    return found


def recurrence(x: Tensor, u: Tensor, w: Tensor, activation: str) -> ScreenRows:
    """Every state, one of them written out, and the influence of each token on the last one."""
    require_width(x.shape[1], {"rows of U": len(u)}, "inputs")
    require_width(u.shape[1], {"rows of W": len(w), "columns of W": w.shape[1]}, "states")
    states, names = run_states(x, u, w, activation), TOKENS.label_all(len(x))
    products = unrolled(states, w, activation)
    lengths = [float(each.norm()) for each in products]
    error = max(
        float((product - _by_torch(at, states, x, u, w, activation)).abs().max()) for at, product in enumerate(products)
    )
    last, before, sign = x[-1], states[-2], SIGNS[activation]
    return (
        row(
            MatrixView("x", x, rows=names, column_axis="input"),
            MatrixView("States h", torch.stack(states[1:]), rows=names, column_axis="state", before="→"),
            question=_question(x, u, w, states, activation),
        ),
        row(
            Equations(
                title=f"The first number after “{names[-1]}”, written out",
                lines=(rf"h = {sign}({dot(last, u[:, 0])} + {dot(before, w[:, 0])}) = {number(states[-1][0])}",),
            ),
            bars(
                "How much the last state changes with the state after each token",
                names,
                lengths,
                digits=4,
                note="The length (Frobenius norm) of a product of matrices, one for each later step.",
            ),
        ),
        agreement(
            f"From “{names[-1]}” back to “{names[0]}” the gradient passes {len(x) - 1} steps, and each multiplies it "
            f"by W and by the slope of the activation: {three_digits(lengths[0])} of {three_digits(lengths[-1])} is "
            "left. The product by hand and torch's gradient are equal, up to rounding.",
            error,
            max(lengths),
        ),
    )


def _by_torch(at: int, states: list[Tensor], x: Tensor, u: Tensor, w: Tensor, activation: str) -> Tensor:
    """The derivative of the last state by the state after one token, from torch's gradients."""
    found: Tensor = torch.autograd.functional.jacobian(  # type: ignore[no-untyped-call]
        lambda state: run_states(x[at + 1 :], u, w, activation, state)[-1], states[at + 1]
    )
    return found.T


def _question(x: Tensor, u: Tensor, w: Tensor, states: list[Tensor], activation: str) -> Question:
    apply, sums = ACTIVATIONS[activation], x[-1] @ u + states[-2] @ w
    return ask_number(
        f"What is the first number of the state after “{TOKENS.label(len(x) - 1)}”?",
        float(states[-1][0]),
        (float(sums[0]), "That is the input of the activation: take its output."),
        (float(apply(x[-1] @ u)[0]), "The previous state is missing: add it, times W."),
        (float(apply(x[-1] @ u + w @ states[-2])[0]), "Take the first column of W, not its first row."),
        hints=(
            f"The previous state is ({', '.join(number(each) for each in states[-2])}).",
            f"The input of the activation is {number(sums[0])}.",
        ),
    )


RECURRENCE = Screen(
    title="A recurrent network, by hand",
    lesson="One state is carried from token to token: W mixes it, U adds the new token, and an activation keeps the "
    "numbers small. The influence of the first token on the last state passes through every step between, and so does "
    "its gradient. Make W larger or smaller, and see the gradient explode or vanish.",
    controls={
        "x": MatrixControl("x: a row for each token", "1,0;0,1;1,1;0,0", rows=TOKENS, columns=INPUTS),
        "u": MatrixControl("U", "1,-1;0.5,1", rows=INPUTS, columns=STATES),
        "w": MatrixControl("W", "0.8,0.3;-0.4,0.6", rows=STATES, columns=STATES),
        "activation": ChoiceControl("Activation", "sigmoid", {"sigmoid": "Sigmoid σ", "tanh": "tanh"}),
    },
    compute=recurrence,
    formulas=(
        r"h_t = \sigma(W h_{t-1} + U x_t)",
        r"\frac{\partial h_T}{\partial h_t} = \prod_{s=t+1}^{T} W\, \mathrm{diag}(\sigma'_s)",
    ),
    code=(run_states, unrolled),
)
