"""Why several heads, and how they become one vector again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from headlight.analysis.moved_values import require_no_gate
from headlight.analysis.residual_stream import per_head_output
from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.course.controls import PartControl
from headlight.course.first_reading.reading import (
    MODEL,
    STORY,
    STREAM_MODEL,
    attention_path,
    chance,
    head_for,
    head_title,
    largest,
    map_of,
    read,
    token_names,
    without_head,
)
from headlight.course.requirements import require_part
from headlight.course.screen import Screen, ScreenRows, link
from headlight.errors import InputError
from headlight.nn.attention import Attention
from headlight.nn.transformer import attention_at
from headlight.questions.asking import ask_largest, ask_number
from headlight.questions.kinds import Question
from headlight.tracing.trace import Trace
from headlight.views.forms import bars
from headlight.views.kinds import BarsView, HeatMapView
from headlight.views.rows import row
from headlight.views.words import percent, places


def two_heads(text: str, model: Checkpoint) -> ScreenRows:
    """Two heads of a layer with different maps, the row in which they differ most, and the model without each."""
    trace = read(model, text)
    (layer, head), _ = head_for(trace, "previous")
    weights = trace.attention()[layer]
    if len(weights) < 2:
        raise InputError("This model has one head in each layer. Choose another one.")
    other = int(np.abs(weights - weights[head]).sum((-2, -1)).argmax())
    both, places = weights[[head, other]], ((layer, head), (layer, other))
    query = int(np.abs(both[0] - both[1]).sum(-1).argmax())
    rows = both[:, query]
    key = int((rows[0] - rows[1]).argmax())
    tokens, names = token_names(trace.text), [head_title(place) for place in places]
    shown = largest(rows.max(0), range(len(tokens)))
    whole = chance(trace)
    without = [chance(read(model, text, [without_head(trace, place)])) for place in places]
    overlap = float(np.minimum(*both).sum(-1).mean())
    return (
        row(
            *(map_of(trace, place) for place in places),
            BarsView(
                title=f"The row of “{tokens[query]}” in both",
                labels=tuple(tokens[at] for at in shown),
                series={f"head {place[1]}": line[shown] for place, line in zip(places, rows, strict=True)},
                high=1.0,
            ),
            text="Two heads of one layer read the same vectors.",
        ),
        row(
            BarsView(
                title="Probability of the right next token, on average",
                labels=("with all heads", *(f"without {name}" for name in names)),
                series={"": [whole, *without]},
                as_percent=True,
            ),
            question=_ask_half((tokens[query], tokens[key]), rows[:, key], names),
        ),
        f"On average the two share {percent(overlap, 0)} of a row: the weights that both give to the same tokens. A "
        "row adds up to 1, so a head that did the work of both would find half of each. Without "
        f"{names[0]} the right next token gets {percent(without[0])} instead of {percent(whole)}, without {names[1]} "
        f"{percent(without[1])}. Other heads often do part of the same work, so a small change does not show that a "
        "head is useless.",
    )


def _ask_half(pair: tuple[str, str], weights: np.ndarray, names: list[str]) -> Question:
    """Which share one head could give that spends half of its row as each of two heads does."""
    query, key = pair
    one, other = (round(100 * float(weight)) for weight in weights)
    mistakes: dict[float, str] = {
        one + other: "That is the sum. A row adds up to 100 %, so each of the two gets half of it."
    }
    mistakes[one] = f"That is what {names[0]} gives alone. Here only half of the row is left for its work."
    mistakes.pop((one + other) / 2, None)
    return ask_number(
        f"“{query}” gives “{key}” {one} % in {names[0]} and {other} % in {names[1]}. One head has to do the work of "
        "both, with half of its row for each. How much, in percent, does it give?",
        (one + other) / 2,
        *mistakes.items(),
        hints=("Take half of each share, and add them.",),
        because=f"Half of {one} and half of {other}" + f": that is less than {names[0]} gives" * (one > other) + ".",
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


def side_by_side(text: str, model: Checkpoint, layer: int, head: int) -> ScreenRows:
    """The outputs of the heads of a layer for the last token, what W_O makes of each, and one switched off."""
    trace = read(model, text)
    off, layer = require_part(trace.config, "head", head), require_part(trace.config, "layer", layer)
    z, written, lengths, written_lengths = _outputs(model, trace, layer)
    names = tuple(f"head {number}" for number in range(len(z)))
    longest, best, whole = int(lengths.argmax()), int(written_lengths.argmax()), written.sum(0)
    asked = sorted({*largest(written_lengths, range(len(z)), 4), longest})
    options = {names[each]: float(written_lengths[each]) for each in asked}
    says = {name: f"Without it the vector differs by {places(length)}." for name, length in options.items()}
    says[names[longest]] = f"Its z is the longest, {places(lengths[longest])}. {says[names[longest]]}"
    token = token_names(trace.text)[-1]
    return (
        row(
            HeatMapView(f"What the heads of layer {layer} found for “{token}”", z, rows=names, column_axis="channel"),
            bars(
                f"What the heads add together to “{token}”",
                {
                    "length with all heads": float(np.linalg.norm(whole)),
                    f"length without head {off}": float(np.linalg.norm(whole - written[off])),
                    "length of the difference": float(written_lengths[off]),
                },
            ),
            text=f"{len(z)} vectors of {z.shape[1]} numbers. Side by side they are one of {z.size}, which is "
            "multiplied by the table W_O.",
        ),
        row(
            bars("Length of each z", names, lengths),
            bars("Length of what each head adds to the token", names, written_lengths),
            question=ask_largest(
                f"Switch off each head by itself. Which one changes most what the heads add together to “{token}”?",
                options,
                says,
                f"Without it the vector differs by {places(written_lengths[best])}.",
            ),
        ),
        f"Each head has rows of W_O of its own, so what the heads add is a sum of one vector each: {len(z)} vectors, "
        f"{places(np.linalg.norm(whole))} long together. They point in different directions: one after the other they "
        f"would be {places(written_lengths.sum())} long.",
    )


SIDE_BY_SIDE = Screen(
    title="How do the heads become one?",
    lesson="What the heads found is put side by side, and a learned table mixes it into one vector, which is added to "
    "the token's own.",
    controls={
        "text": STORY,
        "model": STREAM_MODEL,
        "layer": PartControl(title="Layer", default="2", part="layer"),
        "head": PartControl(title="Head that is switched off", default="0", part="head"),
    },
    compute=side_by_side,
    formulas=(r"o = [z_0, \ldots, z_{h-1}] W_O = \sum_n z_n W^O_n",),
    code=(side_by_side, per_head_output),
    explore=link("model", "text", "layer", "head"),
)
