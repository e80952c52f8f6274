"""Why several heads, and how they become one vector again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from headlight.analysis.moved_values import require_no_gate
from headlight.analysis.residual_stream import per_head_output
from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.course.first_reading.reading import (
    MODEL,
    STORY,
    attention_path,
    head_for,
    head_title,
    largest,
    losses,
    map_of,
    read,
    token_names,
    without_head,
)
from headlight.course.screen import Screen, ScreenRows, link
from headlight.errors import InputError
from headlight.nn.attention import Attention
from headlight.nn.transformer import attention_at
from headlight.questions.asking import ask_largest, choose
from headlight.tracing.trace import Trace
from headlight.views.forms import bars
from headlight.views.kinds import HeatMapView
from headlight.views.rows import row

NOTABLE = 0.005  # nats between two losses


def two_heads(text: str, model: Checkpoint) -> ScreenRows:
    """Two heads of a layer with different maps, and the loss without each of them."""
    trace = read(model, text)
    (layer, head), _ = head_for(trace, "previous")
    weights = trace.attention()[layer]
    if len(weights) < 2:
        raise InputError("This model has one head in each layer. Choose another one.")
    other = int(np.abs(weights - weights[head]).sum((-2, -1)).argmax())
    places = ((layer, head), (layer, other))
    whole = float(losses(trace).mean())
    without = [float(losses(read(model, text, [without_head(trace, place)])).mean()) for place in places]
    names = [head_title(place) for place in places]
    apart = without[0] - without[1]
    alike = f"nearly the same, within {NOTABLE} nats"
    says = {name: f"Without it the loss is {loss:.3f} nats." for name, loss in zip(names, without, strict=True)}
    says[alike] = f"The losses without them are {without[0]:.3f} and {without[1]:.3f} nats."
    overlap = float(np.minimum(weights[head], weights[other]).sum(-1).mean())
    return (
        row(*(map_of(trace, place) for place in places), text="Two heads of one layer read the same vectors."),
        row(
            bars(
                "Loss (nats for each token)",
                ("with all heads", *(f"without {name}" for name in names)),
                [whole, *without],
                digits=3,
            ),
            question=choose(
                "Switch one of them off. Without which does the model predict your sentence worse?",
                (*names, alike),
                2 if abs(apart) < NOTABLE else int(apart < 0),
                says,
                f"With all heads the loss is {whole:.3f} nats, without them {without[0]:.3f} and {without[1]:.3f}.",
            ),
        ),
        f"On average the two share {overlap:.0%} of a row: the weights that both give to the same tokens. A row adds "
        "up to 1, so one head cannot look at the token before and far back with all its weight. Two heads can.",
    )


TWO_HEADS = Screen(
    title="Why many heads?",
    lesson="A row of weights can be spent only once. A layer has several heads, each with queries, keys and values of "
    "its own.",
    controls={"text": STORY, "model": MODEL},
    compute=two_heads,
    formulas=(r"z_n = \mathrm{softmax}\left(\frac{Q_n K_n^\top}{\sqrt{d_k}} + M\right) V_n",),
    code=(two_heads, Attention.attend),
    explore=link("model", "text"),
)


class Outputs(NamedTuple):
    """What the heads of a layer found for the last token, what W_O makes of each, and the lengths of both."""

    z: Float[np.ndarray, "head channel"]
    written: Float[np.ndarray, "head d_model"]
    lengths: Float[np.ndarray, " head"]
    written_lengths: Float[np.ndarray, " head"]


def _outputs(model: Checkpoint, trace: Trace, layer: int) -> Outputs:
    path = attention_path(trace, layer)
    attention, _ = attention_at(model.model, path)
    require_no_gate(attention)
    z = trace[f"{path}.weighted_values"][:, -1].astype(np.float32)
    with torch.inference_mode():
        written = per_head_output(attention, torch.from_numpy(z)).numpy()
    return Outputs(z, written, np.linalg.norm(z, axis=-1), np.linalg.norm(written, axis=-1))


def side_by_side(text: str, model: Checkpoint) -> ScreenRows:
    """The outputs of a layer's heads for the last token, and what W_O makes of each."""
    trace = read(model, text)
    layers = [_outputs(model, trace, layer) for layer in range(len(trace.attention()))]
    apart = [layer for layer, each in enumerate(layers) if each.lengths.argmax() != each.written_lengths.argmax()]
    layer = next(iter(apart), 0)  # where the longest output is not the one that adds most, if there is such a layer
    z, written, lengths, written_lengths = layers[layer]
    names = tuple(f"head {head}" for head in range(len(z)))
    longest = int(lengths.argmax())
    asked = sorted({*largest(written_lengths, range(len(z)), 4), longest})
    options = {names[head]: float(written_lengths[head]) for head in asked}
    says = {name: f"After W_O it is {length:.2f} long." for name, length in options.items()}
    says[names[longest]] = (
        f"Its z is the longest, {lengths[longest]:.2f}, but after W_O it is {options[names[longest]]:.2f} long."
    )
    best, whole = int(written_lengths.argmax()), written.sum(0)
    token = token_names(trace.text)[-1]
    return (
        row(
            HeatMapView(f"What the heads of layer {layer} found for “{token}”", z, rows=names, column_axis="channel"),
            bars("Length of each z", names, lengths),
            text=f"{len(z)} vectors of {z.shape[1]} numbers. Side by side they are one of {z.size}, which is "
            "multiplied by the table W_O.",
        ),
        row(
            bars("Length of what each head adds to the token", names, written_lengths),
            question=ask_largest(
                f"Which head adds the longest vector to “{token}”, after W_O?",
                options,
                says,
                f"It is {written_lengths[best]:.2f} long.",
            ),
        ),
        f"Each head has rows of W_O of its own, so what a layer adds is a sum of its heads: {len(z)} vectors, "
        f"{np.linalg.norm(whole):.2f} long together. They point in different directions: one after the other they "
        f"would be {written_lengths.sum():.2f} long.",
    )


SIDE_BY_SIDE = Screen(
    title="How do the heads become one?",
    lesson="What the heads found is put side by side, and a learned table mixes it into one vector, which is added to "
    "the token's own.",
    controls={"text": STORY, "model": MODEL},
    compute=side_by_side,
    formulas=(r"o = [z_0, \ldots, z_{h-1}] W_O = \sum_n z_n W^O_n",),
    code=(side_by_side, per_head_output),
    explore=link("model", "text"),
)
