"""How a model knows where a token stands: the vectors of positions, and a head whose stripe is gone without them."""

from __future__ import annotations

import numpy as np

from headlight.analysis.head_metrics import head_metrics
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.first_reading.reading import (
    attention_path,
    chance,
    head_for,
    head_title,
    largest,
    map_of,
    read,
    token_names,
)
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.tokens.model_vectors import embedding_sum
from headlight.errors import InputError
from headlight.nn.positional_encodings import Rope, Sinusoidal
from headlight.nn.transformer import variant
from headlight.questions.asking import ask_nearest, ask_whether
from headlight.views.kinds import HeatMapView, LinesView
from headlight.views.rows import row
from headlight.views.words import percent, places

ALIKE = 0.005  # a difference of two cosines that is visible
TEXT = TextControl("Sentence", "The dog saw the cat and the cat ran home.", longest=160)


def without_positions(text: str, model: Checkpoint) -> ScreenRows:
    """The head that looks one token back, with the positions of the model and without them."""
    if model.model.config.positional_encoding == "none":
        raise InputError("This model has no positions that could be left out. Choose another one.")
    trace = read(model, text)
    place, share = head_for(trace, "previous")
    other = read(model, text, network=variant(model.model, positional_encoding="none"))
    left = float(head_metrics(other)["previous"][place])
    masks = trace[f"{attention_path(trace, place[0])}.mask"]
    seen = masks[place[1] % len(masks)].sum(-1)
    evenly = float(np.mean([1 / count for count in seen[1:] if count > 1]))
    name = head_title(place)
    is_lost = min(abs(left - evenly), left) <= abs(left - share)
    told = (
        "“The one before” is nothing that a word can tell of itself: the head reads positions."
        if is_lost
        else "The head finds the token before by the words alone in this text."
    )
    return (
        row(
            map_of(trace, place),
            text=f"A stripe below the diagonal: {name} gives {percent(share, 0)} of its attention to the token before.",
        ),
        row(
            map_of(other, place, "The same head without positions"),
            question=ask_nearest(
                f"The same weights read the sentence without positions. What is nearest to the share that {name} "
                "then gives to the token before?",
                {
                    "none": 0.0,
                    f"{percent(evenly, 0)}, as if it looked at all tokens alike": evenly,
                    f"{percent(share, 0)}, as now": share,
                },
                left,
                {f"{percent(share, 0)}, as now": "Then it would know its neighbour by the words alone."},
            ),
        ),
        f"It goes from {percent(share, 0)} to {percent(left, 0)}; looking at all tokens alike would give "
        f"{percent(evenly, 0)}. {told} The right next token gets {percent(chance(trace), 0)} on average with "
        f"positions, and {percent(chance(other), 0)} without.",
    )


WITHOUT_POSITIONS = Screen(
    title="How does a head find the token before?",
    lesson="Many models have a head that looks one token back. The model that opens here knows positions because "
    "each query and key is rotated, by an angle that grows with the position. Take that away, and leave all weights.",
    controls={"text": TEXT, "model": ModelControl(default="positions-decoder-rope", needs="causal")},
    compute=without_positions,
    formulas=(r"s_{ij} = \frac{(R_i q_i) \cdot (R_j k_j)}{\sqrt{d_k}}",),
    code=(without_positions, variant, Rope),
    explore=link("model", "text"),
)


def vectors(text: str, model: Checkpoint) -> ScreenRows:
    """The vectors of the positions of a text, and how alike they are."""
    found = embedding_sum(model, text)
    count = len(found.text.ids)
    if not 4 <= count <= 100 or not found.position_embeddings.any():
        raise InputError(f"This text has {count} tokens; this screen takes 4 to 100. Type another one.")
    unit = found.position_embeddings / np.linalg.norm(found.position_embeddings, axis=-1, keepdims=True)
    cosines = unit[-1] @ unit.T
    names, last = token_names(found.text), count - 1
    nearest = largest(cosines, range(last), 1)[0]
    back = cosines[::-1]
    rises = np.flatnonzero(back - np.minimum.accumulate(back) > ALIKE)  # steps back to one that is more alike again
    falls = not rises.size
    told = "each step back makes the vector less alike" if falls else f"position {last - rises[0]} is more alike again"
    return (
        row(
            HeatMapView(
                "The vector of each position",
                found.position_embeddings,
                rows=tuple(f"{each}" for each in range(count)),
                row_axis="position",
                column_axis="channel",
            ),
            text="Each token gets the vector of its position added to its own, so that the first layer reads both.",
        ),
        row(
            LinesView(
                f"How alike the vector of position {last} is to the others",
                range(count),
                {"cosine": cosines},
                "position",
                "cosine",
            ),
            question=ask_whether(
                f"“{names[last]}” has position {last}. Go back from there, step by step, to position 0: does the "
                "vector get less alike all the way?",
                falls,
                f"Look at the curve: {told}.",
            ),
        ),
        f"Of all before, position {nearest} is the most alike, with a cosine of {places(cosines[nearest])}; position "
        f"0 has {places(cosines[0])}. A head can compare such vectors, and so find the token before, or one far away.",
    )


VECTORS = Screen(
    title="How is a position written as numbers?",
    lesson="As a vector, like a word. The model that opens here adds waves of many lengths; others learn a vector "
    "for each position, or rotate queries and keys.",
    controls={"text": TEXT, "model": ModelControl(default="positions-decoder-sinusoidal", needs="adds-positions")},
    compute=vectors,
    formulas=(r"x_i = E_{t_i} + P_i",),
    code=(embedding_sum, Sinusoidal),
    explore=link("model", "text"),
)
