"""Attention, number by number: scores, scale, mask, weights, output."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.config import Config
from headlight.course.attention import HeadValues, attend, head_config
from headlight.course.attention_by_hand.words import CHANNELS, TOKENS, VALUE_CHANNELS, dot, number
from headlight.course.attention_by_hand.worksheet import worksheet
from headlight.course.controls import ChoiceControl, MatrixControl, NumberControl, SeedControl
from headlight.course.pictures import Arrow, ArrowsPicture, Equations, FilePicture, MatrixPicture, Row, row
from headlight.course.question_kinds import Question
from headlight.course.questions import ask_number
from headlight.course.screen import Answer, Screen
from headlight.errors import InputError, numbered
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS, AttentionFunction, SoftmaxAttention, score_formula
from headlight.nn.masks import MASKS, QueryKeyPositions, combine_masks

MASK_OPTIONS = {"none": "None", "causal": MASKS["causal"].title, "window:2": f"{MASKS['window'].title} (2)"}


def attention_steps(
    q: Float[Tensor, "query query_channel"],
    k: Float[Tensor, "key key_channel"],
    v: Float[Tensor, "value value_channel"],
    scale: str,
    mask: str,
    query: int,
    sheet: int,
) -> Answer:
    """Every step of one head, and one query of it written out."""
    positions = QueryKeyPositions(torch.arange(len(q)), torch.arange(len(k)))
    allowed = combine_masks([] if mask == "none" else [mask], positions)[0, 0]
    head = attend(q, k, v, allowed=allowed, scale=scale == "on")
    if query >= len(q):
        raise InputError(f"There is no query {query} to write out: there are {numbered('token', len(q))}.")
    names = TOKENS.label_all(len(q))
    question = _question(head, q, k, names)
    return (
        _matrix_form(head, names, question),
        _scalar_form(head, q, k, v, query),
        *_plane(q, k, head, query),
        row(
            FilePicture(file_name=f"attention-{sheet}.pdf", media_type="application/pdf", text=worksheet(sheet)),
            title="With a pencil",
            text="Two exercises in small whole numbers to print, and their answers on a second page.",
        ),
    )


def _question(head: HeadValues, q: Tensor, k: Tensor, names: tuple[str, ...]) -> Question:
    """One score, and what it is with the mistakes that are made most."""
    asks, product = len(q) - 1, float(q[-1] @ k[0])
    plain, width = dot(q[-1], k[0], "·"), q.shape[1]
    scaled = f"{plain} = {number(product)}" + (f", divided by √{width}" if head.scale != 1 else "")
    return ask_number(
        f"“{names[asks]}” asks, “{names[0]}” answers. What is the score that goes into the softmax?",
        float(head.scores[asks, 0]),
        (product, f"{plain} = {number(product)} is the dot product: it has still to be divided by √{width}."),
        (product / width, f"You have divided by {width}. It is the root: √{width} = {number(width**0.5)}."),
        (float(q[0] @ k[-1]) * head.scale, "You have exchanged them: the one that asks gives q, the other one k."),
        (float(head.weights[asks, 0]), "That is the weight, after the softmax. The score comes before it."),
        hints=(
            "Take the last row of Q and the first row of K.",
            f"Their dot product is {plain}." + (f" Then divide by √{width}." if head.scale != 1 else ""),
        ),
        because=f"{scaled}.",
    )


def _matrix_form(head: HeadValues, names: tuple[str, ...], question: Question) -> Row:
    matrix = partial(MatrixPicture, rows=names, columns=names, crossed=~head.allowed)
    return row(
        matrix(title="Q Kᵀ", values=head.scores / head.scale, row_axis="query", column_axis="key", crossed=None),
        matrix(title="scaled and masked", before="→", values=head.masked_scores),
        matrix(title="weights: softmax of each row", before="→", values=head.weights, colours="weights", row_sums=True),
        MatrixPicture(title="output = weights · V", before="→", values=head.output, rows=names),
        title="All queries at once: the matrix form",
        question=question,
    )


def _scalar_form(head: HeadValues, q: Tensor, k: Tensor, v: Tensor, query: int) -> Row:
    divided = rf"\frac{{{{}}}}{{\sqrt{{{q.shape[1]}}}}}" if head.scale != 1 else "{}"
    seen = [key for key in range(len(k)) if head.allowed[query, key]]
    scores = [
        rf"s_{{{query}{key}}} = {divided.replace('{}', dot(q[query], k[key]), 1)} = {number(head.scores[query, key])}"
        for key in seen
    ]
    exponentials = [rf"e^{{{number(head.scores[query, key])}}}" for key in seen]
    weights = [
        rf"a_{{{query}{key}}} = \frac{{{one}}}{{{' + '.join(exponentials)}}} = {number(head.weights[query, key])}"
        for key, one in zip(seen, exponentials, strict=True)
    ]
    terms = [rf"{number(head.weights[query, key])}\, v_{{{key}}}" for key in seen]
    total = ",\\ ".join(number(value) for value in head.output[query])
    return row(
        Equations(title="Scores", lines=tuple(scores)),
        Equations(title="Weights", lines=tuple(weights)),
        Equations(title="Output", lines=(rf"o_{{{query}}} = {' + '.join(terms) or '0'} = ({total})",)),
        title=f"One query written out: “{TOKENS.label(query)}”",
    )


def _plane(q: Tensor, k: Tensor, head: HeadValues, query: int) -> tuple[Row, ...]:
    if q.shape[1] != 2:
        return ()
    keys = [
        Arrow(f"key {TOKENS.label(key)}", float(k[key, 0]), float(k[key, 1]), 1, float(head.weights[query, key]))
        for key in range(len(k))
    ]
    asking = Arrow(f"query {TOKENS.label(query)}", float(q[query, 0]), float(q[query, 1]))
    return (
        row(
            ArrowsPicture(
                arrows=(*keys, asking),
                groups=("query", "keys, the stronger the more weight"),
                note="With two channels a score is what one sees: long, and in the same direction.",
            ),
            title="The same query and all keys in the plane",
        ),
    )


def scores_formula() -> str:
    """The formula of the scores, as the attention function states it."""
    config: Config = head_config(2, 2)
    return score_formula(config)


STEPS = Screen(
    title="Attention, number by number",
    lesson="Each token asks with its query, answers with its key, and gives its value. A score is a dot product; the "
    "softmax turns the scores of one query into weights that add up to 1; the output is the weighted sum of the "
    "values. Change any number and check it with a pencil.",
    controls={
        "q": MatrixControl(title="Q", default="1,0;0,2;2,1", rows=TOKENS, columns=CHANNELS),
        "k": MatrixControl(title="K", default="1,1;0,1;2,0", rows=TOKENS, columns=CHANNELS),
        "v": MatrixControl(title="V", default="1,0;0,1;1,1", rows=TOKENS, columns=VALUE_CHANNELS),
        "scale": ChoiceControl(title="Scale", default="on", options={"on": "Divide by √d", "off": "As they are"}),
        "mask": ChoiceControl(title="Mask", default="none", options=MASK_OPTIONS),
        "query": NumberControl(title="Query to write out (0 is the first)", default="0", low=0, high=5, whole=True),
        "sheet": SeedControl(title="Worksheet to print"),
    },
    compute=attention_steps,
    formulas=(
        r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V",
        scores_formula(),
        ATTENTION_FUNCTIONS["softmax"].formula,
        r"o_i = \sum_j a_{ij} v_j",
    ),
    code=(Attention.weighted_sum, AttentionFunction, SoftmaxAttention, attend),
)
