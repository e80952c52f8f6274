"""Diagnoses of wrong answers, including patterns that no changed step of attention explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rung = Literal[1, 2, 3]


@dataclass(frozen=True, kw_only=True)
class Hints:
    """A ladder of three rungs: a nudge, the concrete step, and the code."""

    nudge: str
    concrete: str
    show_me: str


@dataclass(frozen=True)
class Diagnosis:
    """The likely mistake behind a wrong answer (a sentence that follows "It looks as if"), and hints to correct it."""

    looks_like: str
    hints: Hints


def diagnosis(looks_like: str, *, nudge: str, concrete: str, show_me: str) -> Diagnosis:
    """A diagnosis with its three hints."""
    return Diagnosis(looks_like, Hints(nudge=nudge, concrete=concrete, show_me=show_me))


class CheckFailed(Exception):
    """A solution that is not right: its inputs and wrong results, and the diagnoses of the likely mistakes, if any."""

    def __init__(self, given: str, *diagnoses: Diagnosis) -> None:
        super().__init__(given)
        self.given, self.diagnoses = given, diagnoses


class NothingToCheck(CheckFailed):
    """A solution that is not written yet or cannot be built, so that further checks would fail in the same way."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of one check of one exercise. `note` is a remark on a solution that passed."""

    exercise: str
    check: str
    passed: bool
    note: str = ""
    given: str = ""
    diagnoses: tuple[Diagnosis, ...] = ()


MASK_NEEDS_AXES = diagnosis(
    "the function expects a mask that already has the axes of the scores, as in many libraries. Here a mask is "
    "(batch, key) or (batch, query, key).",
    nudge="Print the shapes of the scores and of the mask.",
    concrete="Give the mask an axis of length 1 for each axis that only the scores have: queries, heads.",
    show_me="mask = mask[:, None, :] if mask.dim() == 2 else mask\nmask = mask[:, None] if scores.dim() == 4 else mask",
)
RETURNED_IN_OTHER_ORDER = diagnosis(
    "the weights are returned first and the output second.",
    nudge="Which of the two does the task name first?",
    concrete="Return the output first, then the weights.",
    show_me="return output, weights",
)
WEIGHTS_NOT_RETURNED = diagnosis(
    "the weights are not returned, so they cannot be drawn.",
    nudge="What else has your function computed that is worth seeing?",
    concrete="Return the output and the weights. F.scaled_dot_product_attention does not return weights: with an "
    "identity matrix in place of the values its output is the weights.",
    show_me="return output, weights",
)
SCORES_RETURNED = diagnosis(
    "the scores before the softmax are returned in place of the weights.",
    nudge="Does each row of what you return add up to 1?",
    concrete="Return the result of the softmax.",
    show_me="return output, weights",
)
WEIGHTS_NOT_KEPT = diagnosis(
    "the weights are not kept after the forward pass, so they cannot be drawn.",
    nudge="Where could a picture of the weights find them?",
    concrete="Keep the weights as an attribute in forward, detached from the graph; any name will do.",
    show_me="self.weights = weights.detach()",
)
INPUT_CHANGED = diagnosis(
    "an input is changed in place. Code that uses it afterwards, such as the residual connection, gets wrong numbers.",
    nudge="Look for methods that end with an underscore, and for +=, /= and the like.",
    concrete="Make a new tensor instead: x = x / 2, masked_fill, unsqueeze without the underscore.",
    show_me="scores = scores / math.sqrt(d_k)",
)
CHANGED_FOR_GRADIENT = diagnosis(
    "a tensor that the gradient still needs, such as the weights after the softmax, is changed in place.",
    nudge="Look for methods that end with an underscore, and for weights[...] = ... .",
    concrete="Make a new tensor instead: masked_fill without the underscore, and before the softmax.",
    show_me='scores = scores.masked_fill(mask == 0, float("-inf"))',
)
NO_GRADIENT = diagnosis(
    "the computation leaves PyTorch's graph (detach, .data, item, NumPy, torch.tensor), or a layer is unused.",
    nudge="Which step cuts a number off from the computation that made it?",
    concrete="Compute with the tensors as they are, and detach only the weights that are kept for a picture.",
    show_me="weights = scores.softmax(dim=-1)",
)
DROPOUT_IGNORED = diagnosis(
    "dropout has no effect.",
    nudge="Where do you use `dropout`?",
    concrete="Apply the dropout to the weights, after the softmax and before the product with the values.",
    show_me="if dropout is not None:\n    weights = dropout(weights)",
)
DROPOUT_ON_OUTPUT = diagnosis(
    "dropout is applied to the output or the values instead of the weights: it drops channels, not keys.",
    nudge="What should be dropped at random: channels, or keys?",
    concrete="Apply the dropout to the weights, before they are multiplied by the values.",
    show_me="output = dropout(weights) @ value",
)
DROPOUT_ON_SCORES = diagnosis(
    "dropout is applied to the scores, before the softmax. The softmax turns a score of 0 into e⁰ = 1, so every key "
    "keeps a weight.",
    nudge="Are some of your weights exactly 0 in training?",
    concrete="Apply the dropout after the softmax.",
    show_me="weights = dropout(scores.softmax(dim=-1))",
)
DROPOUT_NOT_RESCALED = diagnosis(
    "some weights are dropped, but the others are not scaled up. In evaluation, when none is dropped, the outputs "
    "are then too large.",
    nudge="What is the mean of a weight that is dropped half of the time?",
    concrete="Divide the remaining weights by 1 - p, as nn.Dropout does.",
    show_me="weights = nn.functional.dropout(weights, p, training)",
)
DROPOUT_ELSEWHERE = diagnosis(
    "dropout is applied to something other than the weights.",
    nudge="According to the task, what is dropped?",
    concrete="Apply the dropout to the weights, after the softmax and before the product with the values.",
    show_me="output = dropout(weights) @ value",
)
DROPOUT_IN_EVALUATION = diagnosis(
    "dropout is also active in evaluation mode, so the same text gives another answer each time.",
    nudge="What does model.eval() change in your code?",
    concrete="Call the nn.Dropout module, which knows its mode; nn.functional.dropout takes the mode as an argument.",
    show_me="weights = nn.functional.dropout(weights, dropout.p, dropout.training)",
)
