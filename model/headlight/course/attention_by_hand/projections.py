"""From the tokens' vectors to queries, keys and values: of one sequence, or of two (cross-attention)."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import attend_with_weights
from headlight.course.attention_by_hand.words import dot, number
from headlight.course.controls import Axis, ChoiceControl, MatrixControl
from headlight.course.pictures import Equations, MatrixPicture, Row, row, verdict_row
from headlight.course.question_kinds import Question
from headlight.course.questions import ask_number
from headlight.course.screen import Answer, Screen
from headlight.course.sentences import require_width
from headlight.nn.attention import Attention

ASKING = Axis("tokens that ask", 1, 6, ("le", "chat", "dort", "ici", "bien", "."))
SOURCE = Axis("source tokens", 1, 6, ("the", "cat", "is", "asleep", "here", "."))
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
) -> Answer:
    """Q of the tokens that ask, K and V of the same or of others, the scores by one matrix, and the output."""
    require_width(target.shape[1], {"the source has": source.shape[1]})
    read, axis = (target, ASKING) if memory == "self" else (source, SOURCE)
    found = attend_with_weights(target, None if memory == "self" else source, w_q, w_k, w_v)
    values = {name: found[name][0, 0] for name in NAMES}
    queries, keys = ASKING.label_all(len(target)), axis.label_all(len(read))
    return (
        *_head_rows(values, queries, keys, _question(target, w_q, w_k, values["q"])),
        row(Equations(lines=(_equation(values, queries[-1]),))),
        *_product_rows(target, read, w_q @ w_k.T, values, (queries, keys)),
        *_columns_rows(target, read, w_q, w_k, (queries, keys)),
        verdict_row(_told_of_order(target, read, (w_q, w_k, w_v), values["weighted_values"])),
    )


def _question(target: Tensor, w_q: Tensor, w_k: Tensor, q: Tensor) -> Question:
    name, plain = ASKING.label(len(target) - 1), dot(target[-1], w_q[:, 0], "·")
    return ask_number(
        f"What is the first number of the query of “{name}”?",
        float(q[-1, 0]),
        (float(target[-1] @ w_k[:, 0]), "That is the first number of its key: a query comes from W_Q."),
        *(((float(w_q[0] @ target[-1]), "Take the first column of W_Q, not its first row: Q = X W_Q."),)
          if w_q.shape[1] == len(target[-1]) else ()),
        hints=(f"Take the row of “{name}” and the first column of W_Q.", f"Add up {plain}."),
        because=f"{plain} = {number(q[-1, 0])}.",
    )  # fmt: skip


def _head_rows(
    values: dict[str, Tensor], queries: tuple[str, ...], keys: tuple[str, ...], question: Question
) -> tuple[Row, Row]:
    q, k, v, scores, weights, output = (values[name] for name in NAMES)
    return (
        row(
            MatrixPicture(title="Q = X W_Q", values=q, rows=queries),
            MatrixPicture(title="K = Y W_K", values=k, rows=keys),
            MatrixPicture(title="V = Y W_V", values=v, rows=keys),
            title="X asks; Y has keys and values",
            question=question,
        ),
        row(
            MatrixPicture(title="scores Q Kᵀ / √d_k", values=scores, rows=queries, columns=keys),
            MatrixPicture(
                title="weights", before="→", values=weights, rows=queries, columns=keys, colours="weights",
                row_sums=True,
            ),
            MatrixPicture(title="output", before="→", values=output, rows=queries),
            title="A row for each token that asks, a column for each that is read",
        ),
    )  # fmt: skip


def _equation(values: dict[str, Tensor], name: str) -> str:
    """The first number of the last token's output, as a sum over what is read."""
    weights, v, output = (values[each] for each in ("weights", "v", "weighted_values"))
    return rf"\mathrm{{output}}_{{\text{{{name}}}, 0}} = {dot(weights[-1], v[:, 0])} = {number(output[-1, 0])}"


def _product_rows(
    target: Tensor, read: Tensor, joint: Tensor, values: dict[str, Tensor], names: tuple[tuple[str, ...], ...]
) -> tuple[Row, Row]:
    """Scores know W_Q and W_K only by their product."""
    product, by_parts = target @ joint @ read.T, values["q"] @ values["k"].T
    difference = float((product - by_parts).abs().max())
    queries, keys = names
    return (
        row(
            MatrixPicture(title="W_Q W_Kᵀ", values=joint),
            MatrixPicture(title="X (W_Q W_Kᵀ) Yᵀ", before="→", values=product, rows=queries, columns=keys),
            MatrixPicture(title="Q Kᵀ", before="=", values=by_parts, rows=queries, columns=keys),
            title="Scores know W_Q and W_K only by their product",
            text="Two matrices that look different give the same attention, as long as their product is the same.",
        ),
        verdict_row(
            f"The largest difference between the two is {difference:.1g}.",
            good=difference <= 1e-4 * max(1.0, float(by_parts.abs().max())),
        ),
    )


def scores_by_columns(
    x: Float[Tensor, "query channel"],
    y: Float[Tensor, "key channel"],
    q: Float[Tensor, "channel channel"],
    k: Float[Tensor, "channel channel"],
) -> Float[Tensor, "query key"]:
    """q_i = Q x_i and k_j = K y_j, tokens taken as columns; each score is the product of one pair."""
    return torch.stack([torch.stack([(q @ x_i) @ (k @ y_j) for y_j in y]) for x_i in x])


def _columns_rows(target: Tensor, read: Tensor, w_q: Tensor, w_k: Tensor, names: tuple[tuple[str, ...], ...]) -> Answer:
    """The same matrices where tokens are columns; nothing where they are not square and so have one reading alone."""
    if w_q.shape[0] != w_q.shape[1]:
        return ()
    columns, transposed = scores_by_columns(target, read, w_q, w_k), (target @ w_q.T) @ (read @ w_k.T).T
    rows = (target @ w_q) @ (read @ w_k).T
    difference, mended = (float((columns - each).abs().max()) for each in (rows, transposed))
    same = difference <= 1e-4 * max(1.0, float(columns.abs().max()))
    queries, keys = names
    scores = partial(MatrixPicture, rows=queries, columns=keys)
    return (
        row(
            scores(title="(W_Q xᵢ) · (W_K yⱼ): tokens as columns", values=columns),
            scores(title="X W_Q W_Kᵀ Yᵀ: tokens as rows", values=rows),
            scores(title="X W_Qᵀ W_K Yᵀ: rows, and transposed", values=transposed),
            title="Rows or columns?",
            text="Some notes begin with q = W x, which takes tokens as columns, and end with softmax(X W_Q W_Kᵀ Xᵀ), "
            "which takes them as rows, and leave out the values. Code has tokens as rows.",
        ),
        verdict_row(
            "Both conventions agree on these numbers: try matrices that are not their own transposes."
            if same
            else f"With the same matrices the scores differ by up to {difference:.4g}. With the transposes of W_Q and "
            f"W_K they differ by {mended:.1g}: a note may use either convention, but not both.",
            good=same,
        ),
    )


def _told_of_order(target: Tensor, read: Tensor, weights: tuple[Tensor, Tensor, Tensor], output: Tensor) -> str:
    """What another order of what is read does: nothing."""
    turned = attend_with_weights(target, read.flip(0), *weights)["weighted_values"][0, 0]
    difference = float(torch.as_tensor((turned - output).abs().max()))
    return (
        f"{len(target)} tokens ask {len(read)}, and {len(output)} vectors come out, one for each that asked. With Y in "
        f"reverse order the output differs by {difference:.1g}: what stood where has to be in the vectors themselves, "
        "where positions have put it."
    )


PROJECTIONS = Screen(
    title="From X to Q, K and V",
    lesson="A model does not choose Q, K and V freely: each is the tokens' vectors times a matrix that was learned, "
    "the same for all tokens. Queries come from the tokens X that ask, keys and values from Y: X itself, or another "
    "sequence (cross-attention), whose length may differ and which is not masked, because all of it is there.",
    controls={
        "target": MatrixControl(title="X: the tokens that ask", default="1,0;0,1;1,1", rows=ASKING, columns=CHANNELS),
        "memory": ChoiceControl(title="Y", default="self", options=MEMORIES),
        "source": MatrixControl(
            title="The other sequence", default="1,0;0,1;1,1;-1,1", rows=SOURCE, columns=CHANNELS, when="memory=cross"
        ),
        "w_q": MatrixControl(title="W_Q", default="2,0;0,1", rows=CHANNELS, columns=HEAD_CHANNELS),
        "w_k": MatrixControl(title="W_K", default="0,1;1,0", rows=CHANNELS, columns=HEAD_CHANNELS),
        "w_v": MatrixControl(title="W_V", default="1,0;0,1", rows=CHANNELS, columns=VALUE_CHANNELS),
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
