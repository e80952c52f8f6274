"""A goal to reach by designing Q, K and V, and the same task learned by gradient."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import HeadValues, attend
from headlight.course.attention_by_hand.words import WORDS
from headlight.course.controls import Axis, ChoiceControl, MatrixControl, NumberControl, SeedControl
from headlight.course.fitting import fit
from headlight.course.pictures import LinesPicture, MatrixPicture, row, verdict_row
from headlight.course.screen import Answer, Screen
from headlight.nn.attention import Attention

COUNT = 3
TOLERANCE = 0.05  # by which an output may miss the goal
TOKENS = Axis("tokens", COUNT, COUNT, WORDS[:COUNT])
CHANNELS = Axis("channels", 1, 4)
GOAL_CHANNELS = Axis("value channels", COUNT, COUNT)
NAMES = TOKENS.label_all(COUNT)
IDENTITY = "1,0,0;0,1,0;0,0,1"


@dataclass(frozen=True)
class Goal:
    """What the output has to be: the weights that lead there with the identity as values."""

    title: str
    weights: tuple[tuple[float, ...], ...]

    @property
    def output(self) -> Float[Tensor, "query channel"]:
        """The output to reach: a channel for each token."""
        return torch.tensor(self.weights)


GOALS = {
    "reversed": Goal("The tokens in reverse order", ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))),
    "previous": Goal("Each token gets the one before it", ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
    "first": Goal("All tokens get the first", ((1.0, 0.0, 0.0),) * COUNT),
    "mean": Goal("All tokens get the mean", ((1 / COUNT,) * COUNT,) * COUNT),
    "pair": Goal("The outer two get each other's mean", ((0.5, 0.0, 0.5), (0.0, 1.0, 0.0), (0.5, 0.0, 0.5))),
}
GOAL_OPTIONS = {name: goal.title for name, goal in GOALS.items()}


def check_design(
    goal: str,
    q: Float[Tensor, "query query_channel"],
    k: Float[Tensor, "key key_channel"],
    v: Float[Tensor, "value value_channel"],
) -> Answer:
    """The output of a design beside the goal, with what is wrong with it."""
    wanted = GOALS[goal].output
    head = attend(q, k, v)
    difference = head.output - wanted
    reached = float(difference.abs().max()) <= TOLERANCE
    return (
        row(
            MatrixPicture(title="Your weights", values=head.weights, rows=NAMES, columns=NAMES, colours="weights"),
            MatrixPicture(title="Your output", before="→", values=head.output, rows=NAMES),
            MatrixPicture(title="The goal", values=wanted, rows=NAMES),
            MatrixPicture(title="Output − goal", values=difference, rows=NAMES),
        ),
        verdict_row(_advice(head, v, wanted, reached), good=reached),
    )


def _advice(head: HeadValues, v: Tensor, wanted: Tensor, reached: bool) -> str:
    """What a design lacks, found by computing what it would give with the fault mended."""
    if reached:
        return f"Reached: no number is off by more than {TOLERANCE}."
    worst = float((head.output - wanted).abs().max())
    start = f"The largest difference is {worst:.2f}; at most {TOLERANCE} will do. "
    if _misses(head.weights.T @ v, wanted) <= 2 * TOLERANCE:
        return f"{start}Rows and columns are exchanged: swap Q and K."
    sharp = torch.softmax(100 * head.scores, dim=-1)
    if _misses(sharp @ v, wanted) <= TOLERANCE:
        return f"{start}The right tokens have the largest scores, but not by enough: make Q or K larger."
    if _misses(head.weights @ torch.eye(COUNT), wanted) <= TOLERANCE:
        return f"{start}The weights are right, and V is not: each token should give itself."
    return f"{start}Look at the rows that are off: which key should the query of that token fit?"


def _misses(output: Tensor, wanted: Tensor) -> float:
    return float((output - wanted).abs().max())


DESIGN = Screen(
    title="Your turn: design Q, K and V",
    lesson=(
        "Choose a goal and write queries, keys and values that reach it. A way that always works: keys that are "
        "orthogonal, and queries that are large where they want to look."
    ),
    controls={
        "goal": ChoiceControl(title="Goal", default="reversed", options=GOAL_OPTIONS),
        "q": MatrixControl(title="Q", default="0,0,1;0,1,0;1,0,0", rows=TOKENS, columns=CHANNELS),
        "k": MatrixControl(title="K", default=IDENTITY, rows=TOKENS, columns=CHANNELS),
        "v": MatrixControl(title="V", default=IDENTITY, rows=TOKENS, columns=GOAL_CHANNELS),
    },
    compute=check_design,
    formulas=(r"\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V = \text{goal}",),
    code=(check_design, attend, Attention.weighted_sum),
)


def learn_design(goal: str, width: int, steps: int, rate: float, seed: int) -> Answer:
    """Q, K and V found by gradient descent on the distance to the goal, from small random numbers."""
    torch.manual_seed(seed)
    wanted = GOALS[goal].output
    q, k, v = (torch.randn(COUNT, size).mul(0.3).requires_grad_() for size in (width, width, COUNT))
    optimizer = torch.optim.Adam((q, k, v), lr=rate)
    losses = fit(optimizer, lambda: (attend(q, k, v).output - wanted).square().mean(), steps)
    head = attend(q.detach(), k.detach(), v.detach())
    missed = _misses(head.output, wanted)
    return (
        row(
            LinesPicture(
                title="Mean squared distance to the goal",
                x=list(range(steps)),
                series={"distance": losses},
                x_title="step",
                y_title="loss",
            ),
            MatrixPicture(title="Learned weights", values=head.weights, rows=NAMES, columns=NAMES, colours="weights"),
            MatrixPicture(title="Learned output", values=head.output, rows=NAMES),
        ),
        row(
            MatrixPicture(title="Learned Q", values=q.detach(), rows=NAMES),
            MatrixPicture(title="Learned K", values=k.detach(), rows=NAMES),
            MatrixPicture(title="Learned V", values=v.detach(), rows=NAMES),
        ),
        verdict_row(
            f"After {steps} steps the output is off by at most {missed:.2f}. Another seed finds other "
            "matrices: many designs reach the same goal, and learned ones are seldom as tidy as yours.",
            good=missed <= TOLERANCE,
        ),
    )


LEARNED = Screen(
    title="The same goal, learned",
    lesson=(
        "The matrices of a trained model are not designed: gradient descent finds them. Here it gets the same goal, "
        "and starts from small random numbers. Compare what it finds with your own design."
    ),
    controls={
        "goal": ChoiceControl(title="Goal", default="reversed", options=GOAL_OPTIONS),
        "width": NumberControl(title="Channels of Q and K", default="3", low=1, high=4, whole=True),
        "steps": NumberControl(title="Steps", default="80", low=1, high=200, whole=True),
        "rate": NumberControl(title="Learning rate", default="0.1", low=0.01, high=0.5, step=0.01),
        "seed": SeedControl(),
    },
    compute=learn_design,
    formulas=(r"\theta \leftarrow \theta - \eta\, \nabla_\theta L,\quad \theta = (Q, K, V)",),
    code=(learn_design, fit, attend, Attention.weighted_sum),
)
