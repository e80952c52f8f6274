"""From the tokens' vectors to queries, keys and values: self-attention, cross-attention, and an animation."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import attend_with_weights
from headlight.course.attention_by_hand.words import TOKENS, WORDS, dot, dot_result, in_sentence, number
from headlight.course.controls import Axis, ChoiceControl, CountControl, MatrixControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows
from headlight.course.sentences import require_width
from headlight.nn.attention import Attention
from headlight.questions.asking import ask_largest, ask_number
from headlight.questions.kinds import Question
from headlight.views.forms import agreement, bars
from headlight.views.kinds import Equations, MatrixView, MovingPointsView, Verdict
from headlight.views.rows import row
from headlight.views.words import digits, percent

ASKING = Axis("query tokens", 1, 6, WORDS)
SOURCE = Axis("source tokens", 1, 6, ("le", "chat", "est", "assis", "ici", "."))
CHANNELS, HEAD_CHANNELS, VALUE_CHANNELS = (
    Axis("channels", 1, 4),
    Axis("head channels", 1, 4),
    Axis("value channels", 1, 4),
)
NAMES = ("q", "k", "v", "scores", "weights", "weighted_values")
MEMORIES = {"self": "X itself: self-attention", "cross": "another sequence: cross-attention"}


def project(
    target: Float[Tensor, "query target_channel"],
    memory: str,
    source: Float[Tensor, "key source_channel"],
    w_q: Float[Tensor, "q_in q_out"],
    w_k: Float[Tensor, "k_in k_out"],
    w_v: Float[Tensor, "v_in v_out"],
) -> ScreenRows:
    """Q of the query tokens, K and V of the same or other tokens, the scores by one matrix, and the output."""
    require_width(target.shape[1], {"channels of the source": source.shape[1]})
    read, axis = (target, ASKING) if memory == "self" else (source, SOURCE)
    found = attend_with_weights(target, None if memory == "self" else source, w_q, w_k, w_v)
    values = {name: found[name][0, 0] for name in NAMES}
    queries, keys = ASKING.label_all(len(target)), axis.label_all(len(read))
    return (
        *_head_rows(values, queries, keys, _question(target, w_q, w_k, values["q"])),
        Equations(lines=(_equation(values, queries[-1]),)),
        *_product_rows(target, read, w_q @ w_k.T, values, (queries, keys)),
        *_columns_rows(target, read, w_q, w_k, (queries, keys)),
        _told_of_order(target, read, (w_q, w_k, w_v), values["weighted_values"]),
    )


def _question(target: Tensor, w_q: Tensor, w_k: Tensor, q: Tensor) -> Question:
    name, plain = ASKING.label(len(target) - 1), in_sentence(dot(target[-1], w_q[:, 0]))
    return ask_number(
        f"What is the first number of the query of “{name}”?",
        float(q[-1, 0]),
        (float(target[-1] @ w_k[:, 0]), "That is the first number of its key: a query comes from W_Q."),
        *(((float(w_q[0] @ target[-1]), "Take the first column of W_Q, not its first row: Q = X W_Q."),)
          if w_q.shape[1] == len(target[-1]) else ()),
        hints=(f"Take the row of “{name}” and the first column of W_Q.", f"Add up {plain}."),
        because=f"{in_sentence(dot_result(target[-1], w_q[:, 0]))}.",
    )  # fmt: skip


def _head_rows(
    values: dict[str, Tensor], queries: tuple[str, ...], keys: tuple[str, ...], question: Question
) -> ScreenRows:
    q, k, v, scores, weights, output = (values[name] for name in NAMES)
    return (
        row(
            MatrixView("Q = X W_Q", q, rows=queries),
            MatrixView("K = Y W_K", k, rows=keys),
            MatrixView("V = Y W_V", v, rows=keys),
            title="X gives queries; Y gives keys and values",
            question=question,
        ),
        row(
            MatrixView("scores Q Kᵀ / √d_k", scores, rows=queries, columns=keys),
            MatrixView("weights", weights, before="→", rows=queries, columns=keys, colours="weights", row_sums=True),
            MatrixView("output", output, before="→", rows=queries),
            title="A row for each query token, a column for each key token",
        ),
    )  # fmt: skip


def _equation(values: dict[str, Tensor], name: str) -> str:
    """The first number of the last token's output, as a sum over the key tokens."""
    return rf"\mathrm{{output}}_{{\text{{{name}}}, 0}} = {dot_result(values['weights'][-1], values['v'][:, 0])}"


def _product_rows(
    target: Tensor, read: Tensor, joint: Tensor, values: dict[str, Tensor], names: tuple[tuple[str, ...], ...]
) -> ScreenRows:
    """The scores depend on W_Q and W_K only through their product."""
    product, by_parts = target @ joint @ read.T, values["q"] @ values["k"].T
    difference = float((product - by_parts).abs().max())
    queries, keys = names
    return (
        row(
            MatrixView("W_Q W_Kᵀ", joint),
            MatrixView("X (W_Q W_Kᵀ) Yᵀ", product, before="→", rows=queries, columns=keys),
            MatrixView("Q Kᵀ", by_parts, before="=", rows=queries, columns=keys),
            title="Scores depend only on the product of W_Q and W_K",
            text="Two matrices that look different give the same attention, as long as their product is the same.",
        ),
        agreement("The two are equal, up to rounding.", difference, by_parts.abs().max()),
    )


def scores_by_columns(
    x: Float[Tensor, "query channel"],
    y: Float[Tensor, "key channel"],
    q: Float[Tensor, "channel channel"],
    k: Float[Tensor, "channel channel"],
) -> Float[Tensor, "query key"]:
    """q_i = Q x_i and k_j = K y_j, with tokens as columns; each score is the product of one pair."""
    return torch.stack([torch.stack([(q @ x_i) @ (k @ y_j) for y_j in y]) for x_i in x])


def _columns_rows(
    target: Tensor, read: Tensor, w_q: Tensor, w_k: Tensor, names: tuple[tuple[str, ...], ...]
) -> ScreenRows:
    """The same matrices with tokens as columns; nothing if they are not square, since only one reading fits then."""
    if w_q.shape[0] != w_q.shape[1]:
        return ()
    columns, transposed = scores_by_columns(target, read, w_q, w_k), (target @ w_q.T) @ (read @ w_k.T).T
    rows = (target @ w_q) @ (read @ w_k).T
    queries, keys = names
    scores = partial(MatrixView, rows=queries, columns=keys)
    return (
        row(
            scores(title="(W_Q x_i) · (W_K y_j): tokens as columns", values=columns),
            scores(title="X W_Q W_Kᵀ Yᵀ: tokens as rows", values=rows),
            scores(title="X W_Qᵀ W_K Yᵀ: rows, and transposed", values=transposed),
            title="Rows or columns?",
            text="Some notes begin with q = W x, where tokens are columns, and end with softmax(X W_Q W_Kᵀ Xᵀ), where "
            "they are rows, and leave out the values. In code, tokens are rows.",
        ),
        _said_of_conventions(columns, rows, transposed),
    )


def _said_of_conventions(columns: Tensor, rows: Tensor, transposed: Tensor) -> Verdict:
    size = columns.abs().max()
    difference, mended = (float((columns - each).abs().max()) for each in (rows, transposed))
    same = agreement(
        "Both conventions agree on these numbers: try matrices that are not their own transposes.", difference, size
    )
    if same.good:
        return same
    told = agreement(
        "With both matrices transposed they are equal, up to rounding: notes may use either convention, but not both.",
        mended,
        size,
    )
    return Verdict(
        f"With the same matrices the scores differ by up to {digits(difference, 4)}. {told.text}", good=False
    )


def _told_of_order(target: Tensor, read: Tensor, weights: tuple[Tensor, Tensor, Tensor], output: Tensor) -> str:
    """The effect of another order of the key tokens: none."""
    turned = attend_with_weights(target, read.flip(0), *weights)["weighted_values"][0, 0]
    difference = float(torch.as_tensor((turned - output).abs().max()))
    told = agreement(
        "With Y in reverse order the output is the same, up to rounding: the order has to be in the vectors "
        "themselves, where positional encodings put it.",
        difference,
        output.abs().max(),
    ).text
    return (
        f"{len(target)} query tokens look at {len(read)} key tokens, and {len(output)} vectors come out, one for each "
        f"query. {told}"
    )


PROJECTIONS = Screen(
    title="From X to Q, K and V",
    lesson="A model does not choose Q, K and V freely: each is the tokens' vectors times a learned matrix, the same "
    "for all tokens. Queries come from X, keys and values from Y: X itself, or another sequence (cross-attention), "
    "whose length may differ and which is not masked, because all of it is there.",
    controls={
        "target": MatrixControl("X: the query tokens", "1,0;0,1;1,1", rows=ASKING, columns=CHANNELS),
        "memory": ChoiceControl("Y", "self", MEMORIES),
        "source": MatrixControl(
            "The other sequence", "1,0;0,1;1,1;-1,1", rows=SOURCE, columns=CHANNELS, when="memory=cross"
        ),
        "w_q": MatrixControl("W_Q", "2,0;1,1", rows=CHANNELS, columns=HEAD_CHANNELS),
        "w_k": MatrixControl("W_K", "0,1;1,1", rows=CHANNELS, columns=HEAD_CHANNELS),
        "w_v": MatrixControl("W_V", "1,0;0,1", rows=CHANNELS, columns=VALUE_CHANNELS),
    },
    compute=project,
    formulas=(
        r"Q = X W_Q,\quad K = Y W_K,\quad V = Y W_V",
        r"\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V",
        r"Q K^\top = X\, (W_Q W_K^\top)\, Y^\top",
        r"(W_Q x_i)^\top (W_K y_j) = x_i^\top W_Q^\top W_K y_j",
    ),
    code=(Attention.project, Attention.forward, attend_with_weights, scores_by_columns),
)


PLANE = Axis("channels", 2, 2, ("x", "y"))
STEPS = 12  # frames of each of the two movements
KINDS = ("query", "key", "value", "output")


def move(
    x: Float[torch.Tensor, "pos channel"],
    w_q: Float[torch.Tensor, "q_in q_out"],
    w_k: Float[torch.Tensor, "k_in k_out"],
    w_v: Float[torch.Tensor, "v_in v_out"],
    query: int,
) -> ScreenRows:
    """The points of one query, all keys and values, and the output, in every frame; and the weights."""
    require_index(query, len(x), "token", "X")
    values = attend_with_weights(x, None, w_q, w_k, w_v)
    q, k, v, weights, output = (values[name][0, 0] for name in ("q", "k", "v", "weights", "weighted_values"))
    names = TOKENS.label_all(len(x))
    begin = torch.cat((x[[query]], x, x, x[[query]]))
    projected = torch.cat((q[[query]], k, v, v[[query]]))
    end = torch.cat((projected[:-1], output[[query]]))
    labels = (f"q {names[query]}", *(f"k {name}" for name in names), *(f"v {name}" for name in names), "output")
    groups = (0, *[1] * len(x), *[2] * len(x), 3)
    written = " + ".join(f"{number(w)} · v {name}" for w, name in zip(weights[query], names, strict=True))
    return (
        row(
            MovingPointsView(
                title=f"“{names[query]}” asks",
                labels=labels,
                groups=groups,
                group_titles=KINDS,
                frames=torch.cat((_between(begin, projected), _between(projected, end)[1:])),
                names=_frame_names(),
            ),
            bars(
                f"Weights of “{names[query]}”: how well each key fits the query, after the softmax",
                names,
                weights[query],
                high=1.0,
            ),
            question=ask_largest(
                f"Whose key will “{names[query]}” look at most?", dict(zip(names, weights[query].tolist(), strict=True))
            ),
        ),
        f"The output is {written}.",
    )


def _between(
    begin: Float[torch.Tensor, "point 2"], end: Float[torch.Tensor, "point 2"]
) -> Float[torch.Tensor, "frame point 2"]:
    """Straight paths from the old to the new points."""
    share = torch.linspace(0, 1, STEPS + 1)[:, None, None]
    return begin + share * (end - begin)


def _frame_names() -> tuple[str, ...]:
    projecting = [f"X times W_Q, W_K, W_V: {percent(step / STEPS, 0)} of the way" for step in range(1, STEPS)]
    averaging = [
        f"to the weighted mean of the values: {percent(step / STEPS, 0)} of the way" for step in range(1, STEPS)
    ]
    return ("X: the tokens as they are", *projecting, "Q, K and V", *averaging, "the output")


MOVING = Screen(
    title="Self-attention, moving",
    lesson="Every token begins as one point. Three matrices move it to three places: its query, its key and its value. "
    "Then the output moves from the value of the query token to the mean of all values, weighted by how well their "
    "keys fit the query.",
    controls={
        "x": MatrixControl("X: the tokens", "2,0.4;0.5,2;-1.6,1", rows=TOKENS, columns=PLANE),
        "w_q": MatrixControl("W_Q", "0,0.6;0.6,-0.2", rows=PLANE, columns=PLANE),
        "w_k": MatrixControl("W_K", "1,-0.5;0.3,1.4", rows=PLANE, columns=PLANE),
        "w_v": MatrixControl("W_V", "1,-1;-0.8,-0.6", rows=PLANE, columns=PLANE),
        "query": CountControl("Query token (0 is the first)", "0", 0, 5),
    },
    compute=move,
    formulas=(
        r"q_i = x_i W_Q,\quad k_j = x_j W_K,\quad v_j = x_j W_V",
        r"o_i = \sum_j \mathrm{softmax}_j\left(q_i \cdot k_j / \sqrt{d}\right) v_j",
    ),
    code=(Attention.project, Attention.weighted_sum, move),
)
