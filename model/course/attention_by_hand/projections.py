"""From the tokens' vectors to queries, keys and values, and the one matrix that scores need."""

from __future__ import annotations

from torch import Tensor

from model.array_types import Float
from model.course.attention import attend_with_weights
from model.course.attention_by_hand.words import CHANNELS, TOKENS
from model.course.controls import Axis, MatrixControl
from model.course.pictures import MatrixPicture, Verdict, row
from model.course.screen import Answer, Screen
from model.nn.attention import Attention

HEAD_CHANNELS = Axis("head channels", 1, 4)
VALUE_CHANNELS = Axis("value channels", 1, 4)


def project(
    x: Float[Tensor, "pos channel"],
    w_q: Float[Tensor, "q_in q_out"],
    w_k: Float[Tensor, "k_in k_out"],
    w_v: Float[Tensor, "v_in v_out"],
) -> Answer:
    """Q, K and V of a module whose weights are these, its weights and output, and W_Q W_K^T."""
    values = attend_with_weights(x, None, w_q, w_k, w_v)
    q, k, v, scores, weights, output = (
        values[name][0, 0] for name in ("q", "k", "v", "scores", "weights", "weighted_values")
    )
    joint = w_q @ w_k.T
    difference = float((x @ joint @ x.T - q @ k.T).abs().max())
    names = TOKENS.label_all(len(x))
    return (
        row(
            MatrixPicture(title="Q = X W_Q", values=q, rows=names),
            MatrixPicture(title="K = X W_K", values=k, rows=names),
            MatrixPicture(title="V = X W_V", values=v, rows=names),
            title="Each token asks, answers and gives in its own words",
        ),
        row(
            MatrixPicture(title="scores Q Kᵀ / √d", values=scores, rows=names, columns=names),
            MatrixPicture(
                title="weights", before="→", values=weights, rows=names, columns=names, colours="weights", row_sums=True
            ),
            MatrixPicture(title="output", before="→", values=output, rows=names),
        ),
        row(
            MatrixPicture(title="W_Q W_Kᵀ", values=joint),
            MatrixPicture(title="X (W_Q W_Kᵀ) Xᵀ", before="→", values=x @ joint @ x.T, rows=names, columns=names),
            MatrixPicture(title="Q Kᵀ", before="=", values=q @ k.T, rows=names, columns=names),
            title="Scores know W_Q and W_K only by their product",
            text="Two matrices that look different give the same attention, as long as their product is the same. "
            "Books that write tokens as columns have q = W x instead: their matrices are the transposes of these.",
        ),
        row(
            Verdict(
                text=f"The largest difference between the two is {difference:.1g}.",
                good=difference <= 1e-4 * max(1.0, float((q @ k.T).abs().max())),
            )
        ),
    )


PROJECTIONS = Screen(
    title="From X to Q, K and V",
    lesson=(
        "A model does not choose Q, K and V freely: each is the tokens' vectors X times a matrix that was learned, the "
        "same for all tokens. Training changes these three matrices; here you do."
    ),
    controls={
        "x": MatrixControl(title="X: the tokens", default="1,0;0,1;1,1", rows=TOKENS, columns=CHANNELS),
        "w_q": MatrixControl(title="W_Q", default="2,0;0,1", rows=CHANNELS, columns=HEAD_CHANNELS),
        "w_k": MatrixControl(title="W_K", default="0,1;1,0", rows=CHANNELS, columns=HEAD_CHANNELS),
        "w_v": MatrixControl(title="W_V", default="1,0;0,1", rows=CHANNELS, columns=VALUE_CHANNELS),
    },
    compute=project,
    formulas=(
        r"Q = X W_Q,\quad K = X W_K,\quad V = X W_V",
        r"Q K^\top = X\, (W_Q W_K^\top)\, X^\top",
    ),
    code=(Attention.project, Attention.forward, attend_with_weights),
)
