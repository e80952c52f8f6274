"""Tokens as columns or as rows: two conventions whose formulas must not be mixed."""

from __future__ import annotations

import torch

from headlight.array_types import Float
from headlight.course.attention import attend
from headlight.course.attention_by_hand.words import CHANNELS, TOKENS
from headlight.course.controls import MatrixControl
from headlight.course.pictures import MatrixPicture, row, verdict_row
from headlight.course.questions import ask_whether
from headlight.course.screen import Answer, Screen
from headlight.course.sentences import require_width
from headlight.nn.attention import Attention

SAME = 1e-4  # of the largest score


def scores_by_columns(
    x: Float[torch.Tensor, "token channel"],
    q: Float[torch.Tensor, "channel channel"],
    k: Float[torch.Tensor, "channel channel"],
) -> Float[torch.Tensor, "query key"]:
    """q_i = Q x_i and k_j = K x_j, tokens taken as columns; each score is the product of one pair."""
    return torch.stack([torch.stack([(q @ x_i) @ (k @ x_j) for x_j in x]) for x_i in x])


def rows_or_columns(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> Answer:
    """The scores of both conventions with the same matrices, and with transposed ones."""
    sizes = {"rows of Q": len(q), "columns of Q": q.shape[1], "rows of K": len(k), "columns of K": k.shape[1]}
    require_width(x.shape[1], sizes)
    columns, mixed, rows = scores_by_columns(x, q, k), x @ q @ k.T @ x.T, (x @ q.T) @ (x @ k.T).T
    difference, mended = float((columns - mixed).abs().max()), float((columns - rows).abs().max())
    same = difference <= SAME * max(1.0, float(columns.abs().max()))
    names = TOKENS.label_all(len(x))
    head = attend(x @ q.T, x @ k.T, x)
    return (
        row(
            MatrixPicture(title="(Q xᵢ) · (K xⱼ): tokens as columns", values=columns, rows=names, columns=names),
            MatrixPicture(title="X Q Kᵀ Xᵀ: tokens as rows", values=mixed, rows=names, columns=names),
            MatrixPicture(title="X Qᵀ K Xᵀ: rows, and transposed", values=rows, rows=names, columns=names),
            question=ask_whether(
                "With the same Q and K, do (Q xᵢ) · (K xⱼ) and X Q Kᵀ Xᵀ give the same scores?",
                same,
                "They do just where Q and K are their own transposes, or by chance.",
            ),
        ),
        verdict_row(
            "Both conventions agree on these numbers: try matrices that are not their own transposes."
            if same
            else f"With the same matrices the scores differ by up to {difference:.4g}. With the transposes of Q "
            f"and K they differ by {mended:.1g}: a note may use either convention, but not both.",
            good=same,
        ),
        row(
            MatrixPicture(
                title="Softmax of the scaled scores", values=head.weights, rows=names, columns=names, colours="weights"
            ),
            MatrixPicture(title="Times the values (here X)", before="→", values=head.output, rows=names),
            title="And the values?",
            text="Where the formula ends with the softmax, its result is a table of shares and not a vector.",
        ),
        verdict_row(
            f"The softmax alone is {len(x)} × {len(x)}: a number for each pair of tokens. Only its product "
            f"with the values, {len(x)} × {x.shape[1]}, has a vector for each token."
        ),
    )


ROWS_OR_COLUMNS = Screen(
    title="Rows or columns?",
    lesson="Some notes begin with q = Q x, which takes tokens as columns, and end with softmax(X Q Kᵀ Xᵀ), which takes "
    "them as rows. Code, too, has tokens as rows. One has to transpose the matrices on the way, and to multiply by the "
    "values at the end.",
    controls={
        "x": MatrixControl(title="X: a row for each token", default="1,0;0,1;1,1", rows=TOKENS, columns=CHANNELS),
        "q": MatrixControl(title="Q", default="1,2;0,1", rows=CHANNELS, columns=CHANNELS),
        "k": MatrixControl(title="K", default="1,0;1,1", rows=CHANNELS, columns=CHANNELS),
    },
    compute=rows_or_columns,
    formulas=(
        r"(Q x_i)^\top (K x_j) = x_i^\top Q^\top K x_j",
        r"\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V",
    ),
    code=(scores_by_columns, attend, Attention.project),
)
