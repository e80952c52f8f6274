"""Designing Q, K and V for a goal, beside W_Q, W_K and W_V that are learned for the same goal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import HeadValues, attend, context_without_positions, head_config
from headlight.course.attention_by_hand.words import WORDS
from headlight.course.controls import Axis, ChoiceControl, CountControl, MatrixControl, SeedControl
from headlight.course.fitting import fit
from headlight.course.screen import Screen, ScreenRows
from headlight.nn.attention import Attention, AttentionInputs
from headlight.nn.hooks import no_hook
from headlight.questions.asking import ask_design
from headlight.tracing.recording import RecordingHook
from headlight.views.kinds import LinesView, MatrixView, Verdict
from headlight.views.rows import row

COUNT = 3
TOLERANCE = 0.05  # allowed distance of an output from the goal
EXAMPLES, LEARNING_RATE = 64, 0.1
CONFIG = head_config(COUNT, COUNT).replace(d_model=2 * COUNT, head_dim=COUNT)
EVERY_TOKEN = torch.ones(COUNT, COUNT, dtype=torch.bool)
TOKENS = Axis("tokens", COUNT, COUNT, WORDS[:COUNT])
CHANNELS = Axis("channels", 1, 4)
GOAL_CHANNELS = Axis("value channels", COUNT, COUNT)
NAMES = TOKENS.label_all(COUNT)
IDENTITY = "1,0,0;0,1,0;0,0,1"


@dataclass(frozen=True)
class Goal:
    """The output to reach, given by the weights that reach it with the identity as values."""

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
    steps: int,
    seed: int,
) -> ScreenRows:
    """The output of a design beside the goal, advice on its fault, and the solution of gradient descent."""
    wanted = GOALS[goal].output
    head = attend(q, k, v)
    difference = head.output - wanted
    reached = float(difference.abs().max()) <= TOLERANCE
    return (
        row(
            MatrixView("Your weights", head.weights, rows=NAMES, columns=NAMES, colours="weights"),
            MatrixView("Your output", head.output, before="→", rows=NAMES),
            MatrixView("The goal", wanted, rows=NAMES),
            MatrixView("Output − goal", difference, rows=NAMES),
            question=ask_design(
                f"Write Q, K and V until the output is the goal: {GOALS[goal].title.lower()}.",
                reached,
                _advice(head, v, wanted, reached),
                solution={"q": _solution(wanted), "k": IDENTITY, "v": IDENTITY},
                hints=(
                    f"With V as the identity, {int((wanted == 0).sum())} of the {COUNT**2} weights have to be 0.",
                    "A row of the weights says which tokens one token gets its output from.",
                    "Leave K and V as the identity. Each row of Q is then the row of the goal, times 10.",
                ),
                because="With orthogonal keys, it is enough that each query is large in the channels of the tokens "
                "that it wants.",
            ),
        ),
        Verdict(_advice(head, v, wanted, reached), good=reached),
        *_learned_rows(goal, head, steps, seed),
    )


def _solution(wanted: Tensor) -> str:
    """Queries that reach a goal, with the identity as keys and values."""
    return ";".join(",".join(f"{10 * weight:g}" for weight in row) for row in wanted.tolist())


def _advice(head: HeadValues, v: Tensor, wanted: Tensor, reached: bool) -> str:
    """The fault of a design, found by computing its output with each fault mended."""
    if reached:
        return f"Reached: no number is off by more than {TOLERANCE}."
    worst = float((head.output - wanted).abs().max())
    start = f"The largest difference is {worst:.2f}; at most {TOLERANCE} will do. "
    if _misses(head.weights.T @ v, wanted) <= 2 * TOLERANCE:
        return f"{start}Rows and columns are swapped: swap Q and K."
    sharp = torch.softmax(100 * head.scores, dim=-1)
    if _misses(sharp @ v, wanted) <= TOLERANCE:
        return f"{start}The right tokens have the largest scores, but not by enough: make Q or K larger."
    if _misses(head.weights @ torch.eye(COUNT), wanted) <= TOLERANCE:
        return f"{start}The weights are right, but V is not: each token should give itself."
    return f"{start}Look at the rows that are wrong: which key should the query of that token fit?"


def _misses(output: Tensor, wanted: Tensor) -> float:
    return float((output - wanted).abs().max())


@dataclass(frozen=True, eq=False)
class Learned:
    """The result of gradient descent: the loss of each step, a head's values on one-hot words, and its matrices."""

    losses: list[float]
    values: dict[str, Tensor]
    matrices: dict[str, Float[Tensor, "channel head_dim"]]
    missed: float


def learn(goal: str, steps: int, seed: int) -> Learned:
    """W_Q, W_K and W_V learned from many examples X: random words, each with its one-hot position."""
    torch.manual_seed(seed)
    attention = Attention(CONFIG)
    projections = dict(zip(("W_Q", "W_K", "W_V"), attention.projections, strict=True))
    examples, others = torch.randn(2, EXAMPLES, COUNT, COUNT)
    losses = fit(
        torch.optim.Adam([each.weight for each in projections.values()], lr=LEARNING_RATE),
        lambda: (_run(attention, examples)["weighted_values"][:, 0] - GOALS[goal].output @ examples).square().mean(),
        steps,
    )
    with torch.no_grad():
        new = _run(attention, others)["weighted_values"][:, 0] - GOALS[goal].output @ others
        values = {name: value[0] for name, value in _run(attention, torch.eye(COUNT)[None]).items()}
    matrices = {name: each.weight.detach().T for name, each in projections.items()}
    return Learned(losses, values, matrices, float(new.abs().mean()))


def _run(attention: Attention, words: Float[Tensor, "text pos channel"]) -> dict[str, Tensor]:
    """The values of the head on X, which has the channels of words and then those of positions."""
    x = torch.cat((words, torch.eye(COUNT).expand(len(words), -1, -1)), -1)
    recorder = RecordingHook(no_hook, None)
    attention(x, AttentionInputs(context_without_positions(CONFIG, EVERY_TOKEN)), recorder)
    return recorder.values


def _learned_rows(goal: str, own: HeadValues, steps: int, seed: int) -> ScreenRows:
    """The learned weights beside the learner's own, and the learned matrices."""
    found = learn(goal, steps, seed)
    weights = partial(MatrixView, rows=NAMES, columns=NAMES, colours="weights")
    channels = (*(f"word {at}" for at in range(COUNT)), *(f"position {at}" for at in range(COUNT)))
    return (
        row(
            weights(title="Your weights", values=own.weights),
            weights(title="Learned weights", values=found.values["weights"][0]),
            LinesView(
                "Mean squared distance to the goal",
                range(1, steps + 1),
                {"distance": found.losses},
                "step",
                "loss",
            ),
            title="The same goal, learned",
            text=f"W_Q, W_K and W_V are learned from X: {EXAMPLES} texts of {COUNT} random words, each with its "
            "position. X times these matrices gives queries, keys and values, which you write directly.",
        ),
        row(*(MatrixView(name, each, rows=channels) for name, each in found.matrices.items())),
        Verdict(
            f"After {steps} steps the outputs for {EXAMPLES} new texts miss the goal by {found.missed:.2f} on average. "
            "Another seed finds other matrices: many designs reach a goal, and learned ones are seldom tidy.",
            good=found.missed <= TOLERANCE,
        ),
    )


DESIGN = Screen(
    title="Your turn: design Q, K and V",
    lesson="Choose a goal and write queries, keys and values that reach it. One way always works: use orthogonal keys, "
    "and queries that are large in the channels of the tokens to look at. Below, gradient descent gets the same goal.",
    controls={
        "goal": ChoiceControl("Goal", "reversed", GOAL_OPTIONS),
        "q": MatrixControl("Q", "0,0,1;0,1,0;1,0,0", rows=TOKENS, columns=CHANNELS),
        "k": MatrixControl("K", IDENTITY, rows=TOKENS, columns=CHANNELS),
        "v": MatrixControl("V", IDENTITY, rows=TOKENS, columns=GOAL_CHANNELS),
        "steps": CountControl("Steps of learning", "150", 1, 300),
        "seed": SeedControl(),
    },
    compute=check_design,
    formulas=(
        r"\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V = \text{goal}",
        r"\theta \leftarrow \theta - \eta\, \nabla_\theta L,\quad \theta = (W_Q, W_K, W_V)",
    ),
    code=(check_design, learn, fit, Attention.weighted_sum),
)
