"""In a recurrent network far means many steps away, not many layers."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.block.recurrence.path_length import influence
from headlight.course.block.recurrence.recall_models import NETWORKS, RecurrentNetwork
from headlight.course.controls import NumberControl, SeedControl
from headlight.course.pictures import LinesPicture, TablePicture, row, verdict_row
from headlight.course.screen import Answer, Screen

NEAR = 2  # tokens


def reach(layers: int, distance: int, seed: int) -> Float[Tensor, " distance"]:
    """How much the last output of an untrained recurrent network changes with each token, the last one first."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        return influence(NETWORKS["recurrent"].make(layers), distance, seed)


def steps_or_layers(layers: int, distance: int, seed: int) -> Answer:
    """The influence of a token over its distance, for one layer and for several."""
    gradients = {count: reach(count, distance, seed) for count in sorted({1, 2, layers})}
    shown = range(1, distance + 1)
    one, many = gradients[1], gradients[layers]
    steps, deeper = float(one[NEAR] / one[distance]), float(one[NEAR] / many[NEAR])
    network = NETWORKS["recurrent"]
    return (
        row(
            LinesPicture(
                title="Gradient of the last output by an earlier token's vector",
                x=list(shown),
                series={f"{count} layer{'s' if count > 1 else ''}": g[1:] for count, g in gradients.items()},
                x_title="distance in tokens",
                y_title="gradient",
                log_y=True,
            ),
            TablePicture(
                title=f"A token at distance {distance}",
                columns=("layers", "steps that follow one another", "gradient"),
                rows=tuple(
                    (str(count), str(network.steps_in_a_row(distance + 1, count)), float(g[distance]))
                    for count, g in gradients.items()
                ),
            ),
        ),
        verdict_row(
            f"From distance {NEAR} to {distance} one layer's gradient falls by a factor of {steps:,.0f}: each "
            f"token between is one more step. Going from 1 to {layers} layers at distance {NEAR} changes it by a "
            f"factor of {deeper:.2g}. The way from word to word is counted in steps."
        ),
    )


RECURRENCE = Screen(
    title="Far away: in steps, or in layers?",
    lesson="That distant words can hardly act on one another in a recurrent network is sometimes put down to its "
    "layers. It is the steps: a word must pass through every word between, in each layer. Measured before training.",
    controls={
        "layers": NumberControl(title="Layers", default="4", low=2, high=4, whole=True),
        "distance": NumberControl(title="Longest distance", default="16", low=4, high=32, whole=True),
        "seed": SeedControl(),
    },
    compute=steps_or_layers,
    formulas=(r"h_t = \tanh(W h_{t-1} + U x_t)",),
    code=(reach, influence, RecurrentNetwork),
)
