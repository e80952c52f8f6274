"""Tasks at the end of chapters: find a head on the page Explore, and switch it off there."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from headlight.analysis.head_metrics import HEAD_METRICS, HeadNumbers, compute_head_metrics, head_metrics
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import sentence_batch, target_loss
from headlight.errors import InputError
from headlight.questions.asking import ask_cell
from headlight.questions.kinds import Question
from headlight.tracing.interventions import InterventionHook, parse_interventions
from headlight.tracing.run import run
from headlight.views.forms import bars
from headlight.views.kinds import HeatMapView
from headlight.views.rows import row
from headlight.views.words import percent, signed

STORY = "Once upon a time there was a little dog. The little dog ran to the park, and the dog was happy."


def find_head(metric: str, model: Checkpoint, text: str) -> ScreenRows:
    """The head to find, a comparison of all heads, and the loss on the sentence without it."""
    network, stack = model.model, model.model.config.stacks[-1]
    shares = head_metrics(run(network, model.tokenizer, text, keep=("*.weights", "*.mask")))[metric]
    if not np.isfinite(shares).any():
        raise InputError(f"No token of this text can look at {HEAD_METRICS[metric].description}. Type another text.")
    layer, head = (int(at) for at in np.unravel_index(np.nanargmax(shares), shares.shape))
    _, batch = sentence_batch(model, text)
    edit = f"{stack}.{layer}.self.weights[{head}]=set:0"
    whole, without = (
        target_loss(network, batch),
        target_loss(network, batch, InterventionHook(parse_interventions((edit,)))),
    )
    layers, heads = _names(shares)
    return (
        row(
            HeatMapView(
                f"How much of its attention each head gives to {HEAD_METRICS[metric].description}",
                torch.tensor(np.nan_to_num(shares)),
                rows=layers,
                columns=heads,
                column_axis="head",
                colours="sequential",
            ),
            bars(
                "Loss on this sentence (nats for each token predicted)",
                ("with all heads", f"without head {head} of layer {layer}"),
                [whole, without],
                digits=3,
            ),
            question=_question(metric, shares, (layer, head)),
        ),
        f"Head {head} of layer {layer} gives {percent(shares[layer, head], 0)} to {HEAD_METRICS[metric].description}. "
        f"Without it the loss changes by {signed(without - whole)} nats. Other heads often do the same work, so a "
        "small change does not show that a head is useless.",
    )


def _names(shares: HeadNumbers) -> tuple[tuple[str, ...], tuple[str, ...]]:
    layers, heads = shares.shape
    return tuple(f"layer {at}" for at in range(layers)), tuple(map(str, range(heads)))


def _question(metric: str, shares: HeadNumbers, answer: tuple[int, int]) -> Question:
    wanted = HEAD_METRICS[metric].description
    says = [
        ((layer, head), f"Layer {layer}, head {head} gives {percent(share, 0)} to {wanted}; another head gives more.")
        for (layer, head), share in np.ndenumerate(np.nan_to_num(shares))
    ]
    return ask_cell(
        f"Which head looks most at {wanted}? Find it in Explore, switch it off there, and point at it here: rows are "
        "layers, columns are heads.",
        *_names(shares),
        answer,
        *says,
        hints=(f"In Explore, order the heads by “{HEAD_METRICS[metric].title}”.",),
    )


def explore_task(metric: str, model: str, text: str = STORY) -> Screen:
    """The task of finding the head with the highest value of a metric."""
    wanted = HEAD_METRICS[metric].description
    return Screen(
        title=f"Task: find the head that looks at {wanted}",
        lesson="Continue in Explore with this sentence. All heads are drawn there: find the one that looks most at "
        f"{wanted}, switch it off, and watch how the prediction changes. Then come back and point at it.",
        controls={
            "model": ModelControl(default=model, needs="predicts-tokens"),
            "text": TextControl("Sentence", text),
        },
        compute=partial(find_head, metric),
        code=(find_head, compute_head_metrics),
        explore=link("model", "text", fixed={"layer": "0", "head": "0"}),
    )


TASKS = {
    "tokens": explore_task("same-word", "stories-causal"),
    "positions": explore_task("previous", "positions-decoder-rope"),
    "attention": explore_task("first", "stories-causal"),
    "heads": explore_task("previous", "stories-causal"),
    "masks": explore_task("next", "stories-masked"),
    "block": explore_task("current", "ladder-7-depth"),
    "architectures": explore_task("special", "stories-masked"),
    "variants": explore_task("punctuation", "stories-causal"),
    "training": explore_task("induction", "induction", "hat map toy bee van oak sea hat map toy"),
}
