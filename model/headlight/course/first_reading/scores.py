"""Where weights come from: the scores of a row, queries and keys, and the division by the square root of d_k."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np

from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl
from headlight.course.first_reading.reading import (
    MODEL,
    STORY,
    attention_path,
    head_title,
    largest,
    map_of,
    read,
    telling_row,
    token_names,
    words_of,
)
from headlight.course.screen import Screen, ScreenRows, link
from headlight.errors import InputError
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import SoftmaxAttention
from headlight.questions.asking import ask_cell, ask_number
from headlight.tracing.trace import Trace
from headlight.views.forms import bars
from headlight.views.kinds import BarsView, MatrixView
from headlight.views.rows import row
from headlight.views.words import percent, places

ROUNDING = 1e-3  # of a root that is read from a model
PLAIN = replace(MODEL, needs="plain-scores")
SHOWN, CERTAIN = 8, 0.95


def _scores(trace: Trace, layer: int, head: int) -> np.ndarray:
    """The scores of a head before its mask, of each query and key."""
    scores: np.ndarray = trace[f"{attention_path(trace, layer)}.scores"][head]
    return scores.astype(np.float64)


def softmax(text: str, model: Checkpoint) -> ScreenRows:
    """The scores of a row, and the weights that the softmax makes of them."""
    trace = read(model, text)
    layer, head, query, keys = telling_row(trace, model)
    names, scores = token_names(trace.text), _scores(trace, layer, head)[query].round(2)
    labels, weights = tuple(names[at] for at in keys), trace.attention()[layer, head, query]
    one, other = sorted(keys, key=lambda at: -scores[at])[:2]
    apart = scores[one] - scores[other]
    powers = np.exp(scores[keys] - scores[one])
    return (
        row(
            map_of(trace, (layer, head)),
            bars(f"Scores of the row of “{names[query]}”", labels, scores[keys]),
        ),
        row(
            MatrixView(
                "From scores to weights",
                np.stack((scores[keys], powers, weights[keys])),
                rows=("score", "e to the power of (score − largest)", "weight"),
                columns=labels,
                colours="none",
            ),
            question=ask_number(
                f"The scores of “{names[one]}” and “{names[other]}” are {places(scores[one])} and "
                f"{places(scores[other])}. How many times the weight of the second does the first get?",
                exp(apart),
                (apart, "That is the difference of the scores. Take e to the power of it."),
                *(
                    [(scores[one] / scores[other], "That is the ratio of the scores. Their difference counts.")]
                    * bool(scores[other])
                ),
                hints=(f"The scores differ by {places(apart)}.", f"It is e to the power of {places(apart)}."),
                because=f"The weights are {places(weights[one], 3)} and {places(weights[other], 3)}, and e to the "
                f"power of {places(apart)} is {places(exp(apart))}.",
            ),
        ),
        f"The softmax takes e to the power of each score, and divides by the sum, so that the row adds up to "
        f"{places(weights.sum())}. A score that is larger by 1 gets {places(exp(1))} times the weight.",
    )


SOFTMAX = Screen(
    title="Where do the weights come from?",
    lesson="From scores: one number for each pair of tokens, which says how well they fit. The softmax turns the "
    "scores of a row into weights.",
    controls={"text": STORY, "model": PLAIN},
    compute=softmax,
    formulas=(r"a_{ij} = \frac{e^{s_{ij}}}{\sum_{j'} e^{s_{ij'}}}",),
    code=(softmax, SoftmaxAttention.normalize),
    explore=link("model", "text"),
)


def one_sided(text: str, model: Checkpoint) -> ScreenRows:
    """The scores of a head in both directions, and the pair of tokens for which they differ most."""
    trace = read(model, text)
    layer, head, _, _ = telling_row(trace, model)
    shown = np.flatnonzero(words_of(trace.text)).tolist()[-SHOWN:]
    if len(shown) < 2:
        raise InputError("This text has fewer than two words. Type more of them.")
    names = tuple(token_names(trace.text)[at] for at in shown)
    scores = _scores(trace, layer, head)[np.ix_(shown, shown)]
    config = trace.config
    asked, key = map(int, np.unravel_index((scores - scores.T).argmax(), scores.shape))
    there, back = scores[asked, key], scores[key, asked]
    return (
        MatrixView(
            f"Scores of {head_title((layer, head))}",
            scores,
            rows=names,
            columns=names,
            row_axis="query",
            column_axis="key",
            note="This model does not let a token look at later ones: it leaves out the scores above the diagonal."
            if "causal" in config.masks
            else "",
        ),
        row(
            bars(
                "The score in both directions",
                (
                    f"query of “{names[asked]}”, key of “{names[key]}”",
                    f"query of “{names[key]}”, key of “{names[asked]}”",
                ),
                [there, back],
            ),
            question=ask_cell(
                f"“{names[asked]}” and “{names[key]}”: which of the two fits better what the other one looks for? "
                "Point at the larger score of the pair.",
                names,
                names,
                (asked, key),
                (
                    (key, asked),
                    f"That one is {places(back)}. A row is the token that looks, a column the one looked at.",
                ),
                hints=(
                    f"Compare row “{names[asked]}”, column “{names[key]}” with row “{names[key]}”, column "
                    f"“{names[asked]}”.",
                ),
                because=f"It is {places(there)}; the other way round it is {places(back)}.",
            ),
        ),
        "To look at a token is not to be looked at by it. Each token's vector is multiplied by three learned tables: "
        "one makes its query, what it looks for, one its key, what it is found by, and one its value, what is taken "
        "from it. A score is a query times a key, divided by a number to which the next screen comes."
        + (
            " The model also adds to each of the three a vector that is the same for all tokens." if config.bias else ""
        ),
    )


ONE_SIDED = Screen(
    title="If you look at me, do I look at you?",
    lesson="A score could be how alike two vectors are. Then it would be the same in both directions. Compare "
    "the two in a small model.",
    controls={"text": STORY, "model": ModelControl(default="positions-encoder-sinusoidal", needs="adds-positions")},
    compute=one_sided,
    formulas=(
        r"q_i = x_i W_Q",
        r"k_j = x_j W_K",
        r"v_j = x_j W_V",
        r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}",
    ),
    code=(one_sided, Attention.attend),
    explore=link("model", "text"),
)


def scaled(text: str, model: Checkpoint) -> ScreenRows:
    """A row of a head with its scores divided by the square root of d_k, and without that."""
    trace = read(model, text)
    layer, head, query, keys = telling_row(trace, model)
    path = attention_path(trace, layer)
    scale = float(np.broadcast_to(trace[f"{path}.scale"], trace.config.heads)[head])
    if scale >= 1:
        raise InputError("This model does not make its scores smaller. Choose another one.")
    other = read(model, text, [f"{path}.scale[{head}]=set:1"])
    names, scores = token_names(trace.text), _scores(trace, layer, head)[query, keys]
    asked = names[query]
    lines = {"divided": trace.attention()[layer, head, query, keys], "not": other.attention()[layer, head, query, keys]}
    spread, root = round(float(scores.std()), 2), 1 / scale
    channels = trace[f"{path}.q"].shape[-1]
    divisor = f"√{channels} = {places(root)}" if abs(root - channels**0.5) < ROUNDING else places(root)
    top = int(lines["divided"].argmax())
    slopes = {name: float(line[top] * (1 - line[top])) for name, line in lines.items()}
    names = tuple(names[at] for at in keys)
    shown = largest(scores, range(len(keys)))
    return (
        bars(
            f"Scores of the row of “{asked}” in {head_title((layer, head))}",
            names,
            scores,
            note=f"They spread by {places(spread)} (standard deviation).",
        ),
        row(
            map_of(trace, (layer, head), "With the division"),
            map_of(other, (layer, head), "Without it"),
            question=ask_number(
                f"Queries and keys have {channels} channels here, and their products were divided by {divisor}. The "
                f"scores spread by {places(spread)}. By how much without the division?",
                spread * root,
                (spread * root * root, "That is multiplied by d_k. Take its square root."),
                (spread / root, "That is divided once more. Without the division they are larger."),
                hints=(f"Undo the division: multiply by {places(root)}.",),
                because="All products are multiplied by the same number, and so are the distances between them.",
            ),
        ),
        BarsView(
            title=f"The row of “{asked}”",
            labels=tuple(names[at] for at in shown),
            series={name: line[shown] for name, line in lines.items()},
            high=1.0,
        ),
        f"Without the division “{names[top]}” gets {percent(lines['not'][top], 0)} instead of "
        f"{percent(lines['divided'][top], 0)}. "
        + (
            f"In training that matters: when the score of “{names[top]}” in the softmax grows by a little, its weight "
            f"grows by {places(slopes['divided'], 3)} times as much with the division and {places(slopes['not'], 3)} "
            "times without. A row that is almost certain hardly learns."
            if slopes["not"] < slopes["divided"] and lines["not"][top] > CERTAIN
            else "Here the row is not certain even so. Where almost all weight is on one token, a row hardly learns."
        ),
    )


SCALED = Screen(
    title="Why divide by √d?",
    lesson="A product of many channels can be large, and where scores lie far apart, the softmax puts nearly all "
    "weight on one token. Take the division away from one head of a trained model.",
    controls={"text": STORY, "model": PLAIN},
    compute=scaled,
    formulas=(r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}",),
    code=(scaled, Attention.scale_and_sinks),
    explore=link("model", "text"),
)
