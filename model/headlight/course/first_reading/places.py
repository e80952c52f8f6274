"""How a head knows where a token stands: without positions its stripe is gone; and the vectors of the places."""

from __future__ import annotations

import numpy as np

from headlight.analysis.head_metrics import head_metrics
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.first_reading.reading import (
    attention_path,
    head_for,
    head_title,
    largest,
    losses,
    map_of,
    read,
    token_names,
)
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.tokens.model_vectors import embedding_sum
from headlight.errors import InputError
from headlight.nn.positional_encodings import Rope, Sinusoidal
from headlight.nn.transformer import variant
from headlight.questions.asking import ask_largest, ask_nearest
from headlight.views.kinds import HeatMapView, LinesView
from headlight.views.rows import row

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
    loss, lost = losses(trace).mean(), losses(other).mean()
    name = head_title(place)
    return (
        row(
            map_of(trace, place),
            text=f"A stripe below the diagonal: {name} gives {share:.0%} of its attention to the token before.",
        ),
        row(
            map_of(other, place, "The same head without positions"),
            question=ask_nearest(
                f"The same weights read the sentence without positions. Which share does {name} then give to the token "
                "before?",
                {
                    "none": 0.0,
                    f"{evenly:.0%}, as if it looked at all tokens alike": evenly,
                    f"{share:.0%}, as now": share,
                },
                left,
                {f"{share:.0%}, as now": "Then it would know its neighbour by the words alone."},
            ),
        ),
        f"It goes from {share:.0%} to {left:.0%}; looking at all tokens alike would give {evenly:.0%}. “The one "
        "before” is nothing that a word can tell of itself: the head reads positions. The loss of the model changes "
        f"from {loss:.2f} to {lost:.2f} nats for each token.",
    )


WITHOUT_POSITIONS = Screen(
    title="How does a head find the token before?",
    lesson="Many models have a head that looks one token back. Take the positions away from it, and leave all its "
    "weights.",
    controls={"text": TEXT, "model": ModelControl(default="positions-decoder-rope", needs="causal")},
    compute=without_positions,
    formulas=(r"s_{ij} = \frac{(R_i q_i) \cdot (R_j k_j)}{\sqrt{d_k}}",),
    code=(without_positions, variant, Rope),
    explore=link("model", "text"),
)


def places(text: str, model: Checkpoint) -> ScreenRows:
    """The vectors of the places of a text, and how alike they are."""
    found = embedding_sum(model, text)
    count = len(found.text.ids)
    if not 4 <= count <= 100 or not found.position_embeddings.any():
        raise InputError(f"This text has {count} tokens; this screen takes 4 to 100. Type another one.")
    unit = found.position_embeddings / np.linalg.norm(found.position_embeddings, axis=-1, keepdims=True)
    cosines = unit[-1] @ unit.T
    names, last = token_names(found.text), count - 1
    at = sorted({0, last // 2, last - 2, last - 1} - {last})
    options = {f"place {each}": float(cosines[each]) for each in at}
    nearest = largest(cosines, range(last), 1)[0]
    return (
        row(
            HeatMapView(
                "The vector of each place",
                found.position_embeddings,
                rows=tuple(f"{each}" for each in range(count)),
                row_axis="place",
                column_axis="channel",
            ),
            text="Each token gets the vector of its place added to its own, so that the first layer reads both.",
        ),
        row(
            LinesView(
                f"How alike the vector of place {last} is to the others",
                range(count),
                {"cosine": cosines},
                "place",
                "cosine",
            ),
            question=ask_largest(
                f"“{names[last]}” stands at place {last}. Which of these places has the vector most like it?",
                options,
                {name: f"The cosine is {cosine:.2f}." for name, cosine in options.items()},
                f"The cosine is {max(options.values()):.2f}.",
            ),
        ),
        f"Of all places before, {nearest} is the nearest, with a cosine of {cosines[nearest]:.2f}; place 0 has "
        f"{cosines[0]:.2f}. A head can compare such vectors, and so find the token before, or one far away.",
    )


PLACES = Screen(
    title="How is a place written as numbers?",
    lesson="As a vector, like a word. This model adds waves of many lengths; others learn a vector for each place, or "
    "rotate queries and keys.",
    controls={"text": TEXT, "model": ModelControl(default="positions-decoder-sinusoidal", needs="adds-positions")},
    compute=places,
    formulas=(r"x_i = E_{t_i} + P_i",),
    code=(embedding_sum, Sinusoidal),
    explore=link("model", "text"),
)
