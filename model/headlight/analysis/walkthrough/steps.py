"""The steps of a walkthrough: the name, explanation and values of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from headlight.array_types import Shaped
from headlight.registry import Registry
from headlight.tracing.interventions import Intervention
from headlight.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class StepValue:
    """A vector or a number: its symbol in the formulas, and the meaning of its axis.

    `axis` is "d_model", "embedding_dim", "head_dim", "value_head_dim", "d_ff", "layer_channel", "expert",
    "key" or "answer", or empty for one number.
    """

    symbol: str
    array: Shaped[np.ndarray, " *along"]
    axis: str = ""


@dataclass(frozen=True)
class StepDescription:
    """The name of a step, and its effect in plain words.

    The explanation may name the {width} of a vector and the tokens {query} and {key}.
    """

    title: str
    explanation: str
    part: Literal["head", "network", "prediction"] = "head"


STEPS: Registry[StepDescription] = Registry(
    "step",
    {
        "input": StepDescription(
            "Input",
            "Each token is a list of {width} numbers. Here “{query}” asks (i), and “{key}” is looked at (j). "
            "h is the list after the earlier layers, x is the input of attention.",
        ),
        "project": StepDescription(
            "Query, key, value", "Three linear maps: what i looks for, how j can be found, and what j passes on."
        ),
        "rotate": StepDescription(
            "Rotary embedding",
            "Each pair of channels is rotated by an angle that grows with its position: the product sees the distance.",
        ),
        "feature-map": StepDescription(
            "Feature map", "Makes the numbers positive, so that scores become weights without a softmax."
        ),
        "multiply": StepDescription(
            "Elementwise product",
            "If query and key have the same sign, the channel speaks for a match; else against it.",
        ),
        "sum": StepDescription("Dot product", "How well query and key match, in one number."),
        "scale": StepDescription(
            "Scaled", "More channels make larger sums; the scale compensates for this before scores become weights."
        ),
        "bias": StepDescription(
            "Position bias", "The positional encoding's contribution for this pair of positions, whatever the tokens."
        ),
        "soft-cap": StepDescription("Soft cap", "Very large scores are bounded smoothly."),
        "mask": StepDescription("Masked", "Keys that the query may not attend to lose their score."),
        "weights": StepDescription(
            "Weights", "The scores of all keys become weights that sum to one: how much each is attended to."
        ),
        "weighted-sum": StepDescription(
            "Weighted values", "Each value is multiplied by its weight, and all of them are summed."
        ),
        "output": StepDescription(
            "Output projection", "The output projection turns the head's sum into its change of the residual stream."
        ),
        "feed-forward": StepDescription(
            "Feed-forward network",
            "Attention brought in information from other tokens; the network now works on each token separately. It "
            "reads the token with all that the heads added, activates some of its neurons, and adds their output "
            "vectors.",
            "network",
        ),
        "layer-embedding": StepDescription(
            "Layer embedding",
            "Each token has its own vector for this layer. A gate, computed from the residual stream, lets part of it "
            "through.",
            "network",
        ),
        "last-layer": StepDescription(
            "After the last layer",
            "Heads and networks have added their changes. This is the token's vector after all layers.",
            "prediction",
        ),
        "final-norm": StepDescription(
            "Final norm", "The vector is normed once more: the output head was trained on normed vectors.", "prediction"
        ),
        "project-out": StepDescription(
            "Back to the embedding's width", "The embedding has fewer channels than the layers.", "prediction"
        ),
        "pool": StepDescription(
            "Pooled", "The label belongs to the whole text, so the vectors of its tokens become one.", "prediction"
        ),
        "transform": StepDescription(
            "Prepared", "The output head transforms the vector before comparing it with answers.", "prediction"
        ),
        "compare": StepDescription(
            "Compared with an answer",
            "Each possible answer has its own vector, a row of the matrix W. If it and the token's vector have the "
            "same sign, the channel speaks for the answer; else against it.",
            "prediction",
        ),
        "logits": StepDescription(
            "Logits",
            "The sum over the channels says how well an answer fits: one number for each answer.",
            "prediction",
        ),
        "logit-soft-cap": StepDescription("Soft cap", "Very large logits are bounded smoothly.", "prediction"),
        "probabilities": StepDescription(
            "Probabilities",
            "Softmax: every logit becomes a positive number, and each is divided by the sum of all. Only the likeliest "
            "answers are shown; the sum includes all answers.",
            "prediction",
        ),
        "sigmoid": StepDescription(
            "Probabilities",
            "Sigmoid: each logit becomes a probability by itself, because several labels may be true, or none.",
            "prediction",
        ),
    },
)


@dataclass(frozen=True, eq=False)
class WalkthroughStep:
    """One step of the computation, a key of STEPS: `values` are its inputs, then its result.

    `paths` are the values of the trace that the step computes; `edited` says whether an edit replaced the numbers that
    the formula gives.
    """

    name: str
    formula: str
    values: tuple[StepValue, ...]
    paths: tuple[str, ...] = ()
    edited: bool = False

    @property
    def description(self) -> StepDescription:
        """The step's row of STEPS."""
        return STEPS[self.name]


def is_edited(trace: Trace, *paths: str) -> bool:
    """Whether an edit of the trace reaches one of these values."""
    edits = [Intervention.parse(edit) for edit in trace.interventions]
    return any(edit.matches(path) for edit in edits for path in paths)
