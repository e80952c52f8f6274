"""From a soft look-up to attention, number by number: scores, scale, mask, weights, output."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.config import Config
from headlight.course.attention import HeadValues, attend, head_config
from headlight.course.attention_by_hand.words import (
    CHANNELS,
    TOKENS,
    VALUE_CHANNELS,
    as_written,
    dot,
    dot_result,
    in_sentence,
    number,
)
from headlight.course.attention_by_hand.worksheet import worksheet
from headlight.course.controls import Axis, ChoiceControl, CountControl, MatrixControl, NumberControl, SeedControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import (
    ATTENTION_FUNCTIONS,
    AttentionFunction,
    HardmaxAttention,
    SoftmaxAttention,
    score_formula,
)
from headlight.nn.masks import MASKS, QueryKeyPositions, combine_masks
from headlight.questions.asking import ask_number, choose
from headlight.questions.kinds import Question
from headlight.views.kinds import Arrow, ArrowsView, BarsView, Equations, FileView, MatrixView
from headlight.views.rows import Row, row
from headlight.views.words import equals, percent

ENTRIES = Axis("entries", 2, 6)
WIDTH = Axis("channels", 1, 4)


def look_up(
    query: Float[Tensor, "1 query_channel"],
    keys: Float[Tensor, "key key_channel"],
    values: Float[Tensor, "value value_channel"],
    sharpness: float,
) -> ScreenRows:
    """One query, looked up hard (argmax) and softly (softmax)."""
    names = ENTRIES.label_all(len(keys))
    hard, soft = (
        attend(sharpness * query, keys, values, scale=False, attention_function=name) for name in ("hardmax", "softmax")
    )
    best = int(soft.weights[0].argmax())
    share = float(soft.weights[0, best])
    return (
        row(
            MatrixView(
                "Scores: sharpness × query · key", soft.scores, columns=names, column_axis="entry", rows=("query",)
            ),
            BarsView(
                title="Share of each entry",
                labels=names,
                series={"hard": hard.weights[0], "soft": soft.weights[0]},
                high=1.0,
            ),
            question=_ask_of_entry(query[0], keys, sharpness, names, best),
        ),
        row(
            MatrixView("Hard look-up: the value of the best entry", hard.output, rows=("output",)),
            MatrixView("Soft look-up: all values, weighted", soft.output, rows=("output",)),
        ),
        f"Entry {names[best]} gets {percent(share, 0)} of the soft look-up. "
        + (
            "It is as good as a hard look-up."
            if share > 0.99
            else "Raise the sharpness, and the soft look-up gets ever closer to the hard one."
        ),
    )


def _ask_of_entry(query: Tensor, keys: Tensor, sharpness: float, names: tuple[str, ...], best: int) -> Question:
    scores = [
        in_sentence(
            f"{number(sharpness)} × ({dot(query, key)}) "
            f"{equals(as_written(sharpness) * (as_written(query) @ as_written(key)), score, number)} {number(score)}"
        )
        for key, score in zip(keys, sharpness * keys @ query, strict=True)
    ]
    entries = tuple(f"entry {name}" for name in names)
    return choose(
        "Which entry will get the largest share?",
        entries,
        best,
        {entry: f"Its score is {score}; another one is larger." for entry, score in zip(entries, scores, strict=True)},
        f"Its score, {scores[best]}, is the largest.",
        (
            "A score is a dot product, channel times channel, added up, times the sharpness.",
            f"The score of entry 0 is {scores[0]}.",
        ),
    )


LOOK_UP = Screen(
    title="A look-up that became soft",
    lesson="A dictionary compares a query with its keys and returns the value of the key that fits. Attention does the "
    "same with lists of numbers, but softly: every key that fits a little gives a little of its value. Because the "
    "result changes smoothly, a network can learn it by small steps.",
    controls={
        "query": MatrixControl("Query", "1,0.5", rows=Axis("query", 1, 1, ("q",)), columns=WIDTH),
        "keys": MatrixControl("Keys", "1,0;0,1;-1,0", rows=ENTRIES, columns=WIDTH),
        "values": MatrixControl("Values", "10,0;0,10;5,5", rows=ENTRIES, columns=VALUE_CHANNELS),
        "sharpness": NumberControl("Sharpness (multiplies the query)", "2", 0, 20, step=0.1),
    },
    compute=look_up,
    formulas=(r"o = \sum_j a_j v_j", ATTENTION_FUNCTIONS["softmax"].formula, ATTENTION_FUNCTIONS["hardmax"].formula),
    code=(look_up, Attention.weighted_sum, SoftmaxAttention, HardmaxAttention),
)


MASK_OPTIONS = {"none": "None", "causal": MASKS["causal"].title, "window:2": f"{MASKS['window'].title} (2)"}


def attention_steps(
    q: Float[Tensor, "query query_channel"],
    k: Float[Tensor, "key key_channel"],
    v: Float[Tensor, "value value_channel"],
    scale: str,
    mask: str,
    query: int,
    sheet: int,
) -> ScreenRows:
    """Every step of one head, and one query of it written out."""
    positions = QueryKeyPositions(torch.arange(len(q)), torch.arange(len(k)))
    allowed = combine_masks([] if mask == "none" else [mask], positions)[0, 0]
    head = attend(q, k, v, allowed=allowed, scale=scale == "on")
    require_index(query, len(q), "query", "Q")
    names = TOKENS.label_all(len(q))
    question = _question(head, q, k, names)
    return (
        _matrix_form(head, names, question),
        _scalar_form(head, q, k, v, query),
        *_plane(q, k, head, query),
        row(
            FileView(file_name=f"attention-{sheet}.pdf", media_type="application/pdf", text=worksheet(sheet)),
            title="With a pencil",
            text="Two printable exercises with small whole numbers, and their answers on a second page.",
        ),
    )


def _question(head: HeadValues, q: Tensor, k: Tensor, names: tuple[str, ...]) -> Question:
    """Asks for one score; known wrong answers are those of the most common mistakes."""
    asks, product = len(q) - 1, float(q[-1] @ k[0])
    plain, told, width = in_sentence(dot(q[-1], k[0])), in_sentence(dot_result(q[-1], k[0])), q.shape[1]
    score = head.scores[asks, 0]
    divided = f"{number(product)} / √{width} {equals(as_written(product) * head.scale, score, number)} {number(score)}"
    because = told + (f"; {in_sentence(divided)}" if head.scale != 1 else "")
    return ask_number(
        f"The query is that of “{names[asks]}”, the key that of “{names[0]}”. What is the score that goes into the "
        "softmax?",
        float(score),
        (product, f"{told} is the dot product: it still has to be divided by √{width}."),
        (product / width, f"You have divided by {width}. Divide by its square root: √{width} = {number(width**0.5)}."),
        (
            float(q[0] @ k[-1]) * head.scale,
            f"You have swapped the two tokens: “{names[asks]}” gives q, “{names[0]}” gives k.",
        ),
        (float(head.weights[asks, 0]), "That is the weight, after the softmax. The score comes before it."),
        hints=(
            "Take the last row of Q and the first row of K.",
            f"Their dot product is {plain}." + (f" Then divide by √{width}." if head.scale != 1 else ""),
        ),
        because=f"{because}.",
    )


def _matrix_form(head: HeadValues, names: tuple[str, ...], question: Question) -> Row:
    matrix = partial(MatrixView, rows=names, columns=names, crossed=~head.allowed)
    return row(
        matrix(title="Q Kᵀ", values=head.scores / head.scale, row_axis="query", column_axis="key", crossed=None),
        matrix(title="scaled and masked", before="→", values=head.masked_scores),
        matrix(title="weights: softmax of each row", before="→", values=head.weights, colours="weights", row_sums=True),
        MatrixView("output = weights · V", head.output, before="→", rows=names),
        title="All queries at once: the matrix form",
        question=question,
    )


def _scalar_form(head: HeadValues, q: Tensor, k: Tensor, v: Tensor, query: int) -> Row:
    divided = rf"\frac{{{{}}}}{{\sqrt{{{q.shape[1]}}}}}" if head.scale != 1 else "{}"
    seen = [key for key in range(len(k)) if head.allowed[query, key]]
    scores = [
        rf"s_{{{query}{key}}} = {divided.replace('{}', dot(q[query], k[key]), 1)} "
        rf"{equals(as_written(q[query]) @ as_written(k[key]) * head.scale, score, number)} {number(score)}"
        for key, score in zip(seen, head.scores[query, seen], strict=True)
    ]
    exponentials = [rf"e^{{{number(head.scores[query, key])}}}" for key in seen]
    written = as_written(head.scores[query, seen]).softmax(-1)
    weights = [
        rf"a_{{{query}{key}}} = \frac{{{one}}}{{{' + '.join(exponentials)}}} "
        rf"{equals(share, weight, number)} {number(weight)}"
        for key, one, share, weight in zip(seen, exponentials, written, head.weights[query, seen], strict=True)
    ]
    terms = [rf"{number(head.weights[query, key])}\, v_{{{key}}}" for key in seen]
    total = ",\\ ".join(number(value) for value in head.output[query])
    written_output = as_written(head.weights[query]) @ as_written(v)
    signs = [equals(*pair, number) for pair in zip(written_output, head.output[query], strict=True)]
    sign = "≈" if "≈" in signs else "="
    return row(
        Equations(title="Scores", lines=tuple(scores)),
        Equations(title="Weights", lines=tuple(weights)),
        Equations(title="Output", lines=(rf"o_{{{query}}} = {' + '.join(terms) or '0'} {sign} ({total})",)),
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
            ArrowsView(
                arrows=(*keys, asking),
                groups=("query", "keys, the stronger the more weight"),
                note="With two channels you can see the score: it is large for long arrows in the same direction.",
            ),
            title="The same query and all keys in the plane",
        ),
    )


def scores_formula() -> str:
    """The formula of the scores, from the attention function."""
    config: Config = head_config(2, 2)
    return score_formula(config)


STEPS = Screen(
    title="Attention, number by number",
    lesson="Each token has a query, with which it asks, a key, with which it answers, and a value, which it gives. A "
    "score is a dot product; the softmax turns the scores of one query into weights that add up to 1; the output is "
    "the weighted sum of the values. Change any number and check it with a pencil.",
    controls={
        "q": MatrixControl("Q", "1,0;0,2;2,1", rows=TOKENS, columns=CHANNELS),
        "k": MatrixControl("K", "1,1;0,1;2,0", rows=TOKENS, columns=CHANNELS),
        "v": MatrixControl("V", "1,0;0,1;1,1", rows=TOKENS, columns=VALUE_CHANNELS),
        "scale": ChoiceControl("Scale", "on", {"on": "Divide by √d", "off": "As they are"}),
        "mask": ChoiceControl("Mask", "none", MASK_OPTIONS),
        "query": CountControl("Query to write out (0 is the first)", "0", 0, 5),
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
