"""Problem types: what a model's logits mean, and how they become the numbers that people read.

The names are those of a checkpoint's `problem_type`. All code that shows or compares answers reads these rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float
from headlight.config import Config
from headlight.config.output import ProblemTypeName
from headlight.registry import Registry
from headlight.tasks import task_of

Numbers = Float[np.ndarray, "*shape answer"]


def softmax(logits: Numbers) -> Numbers:
    """Probabilities of answers of which exactly one is true: exp(logit) / the sum of all exp(logit)."""
    exponentials = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True), dtype=np.float32)


def sigmoid(logits: Numbers) -> Numbers:
    """The probability of each answer, independent of all others: 1 / (1 + exp(-logit))."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -logits.astype(np.float64))), dtype=np.float32)


def scores(logits: Numbers) -> Numbers:
    """The logits as they are."""
    return logits.astype(np.float32, copy=False)


def _log_odds_of_one(logits: Numbers) -> Numbers:
    """log(p / (1 - p)) of each answer of a softmax: its logit - log of the sum of all other exp(logit).

    For the likeliest answer this sum is computed directly, because 1 - p would lose all digits near certainty.
    """
    wide = logits.astype(np.float64)
    likeliest = wide.argmax(-1, keepdims=True)
    log_probabilities = wide - np.logaddexp.reduce(wide, axis=-1, keepdims=True)
    others = wide.copy()
    np.put_along_axis(others, likeliest, -np.inf, axis=-1)
    odds = np.take_along_axis(wide, likeliest, axis=-1) - np.logaddexp.reduce(others, axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):  # of the likeliest answer, which is replaced
        found = log_probabilities - np.log1p(-np.exp(log_probabilities))
    np.put_along_axis(found, likeliest, odds, axis=-1)
    return found


@dataclass(frozen=True)
class ProblemType:
    """A meaning of logits.

    `values` are the numbers that people read, probabilities or scores; `compared` are those that analyses add and
    subtract (nats of a log-probability, or the score itself); `log_odds` are log(p / (1 - p)), computed from the logits
    and therefore exact for probabilities near 0 and 1, or the score itself. `is_probability` says whether the values
    are probabilities, `has_scores` whether a logit says something by itself, without the logits of other answers.
    `lesson` is shown below the answers; of tokens, and of labels that exclude each other, nothing needs to be said.
    """

    title: str
    values: Callable[[Numbers], Numbers]
    compared: Callable[[Tensor], Tensor]
    log_odds: Callable[[Numbers], Numbers]
    is_probability: bool = True
    has_scores: bool = True
    lesson: str = ""


PROBLEM_TYPES: Registry[ProblemType] = Registry(
    "problem type",
    {
        "single-label": ProblemType(
            "One answer is true", softmax, lambda logits: logits.log_softmax(-1), _log_odds_of_one, has_scores=False
        ),
        "multi-label": ProblemType(
            "Each answer is true or not",
            sigmoid,
            functional.logsigmoid,
            scores,
            lesson="Each label is true or not by itself: its probability is the sigmoid of its score.",
        ),
        "regression": ProblemType(
            "Each answer is a score",
            scores,
            lambda logits: logits,
            scores,
            is_probability=False,
            lesson="A score is what the model was trained to give. It is no probability, and it may be negative.",
        ),
    },
)


def problem_type_name(config: Config) -> ProblemTypeName:
    """The name of a model's problem type.

    Tokens exclude each other, so a model of tokens has one true answer. A single label can only be true or not: a
    softmax over one logit would always give 1.
    """
    if not task_of(config).predicts_labels:
        return "single-label"
    name = config.output_head_config.problem_type
    return "multi-label" if name == "single-label" and len(config.labels) == 1 else name


def problem_type_of(config: Config) -> ProblemType:
    """The problem type of a model."""
    return PROBLEM_TYPES[problem_type_name(config)]
