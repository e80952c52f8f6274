"""From the tokens' vectors to queries, keys and values, and the one matrix that scores need."""

from __future__ import annotations

from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import attend_with_weights
from headlight.course.attention_by_hand.words import CHANNELS, PROJECTED, TOKENS, projection_rows, weight_controls
from headlight.course.controls import MatrixControl
from headlight.course.pictures import MatrixPicture, row, verdict_row
from headlight.course.screen import Answer, Screen
from headlight.nn.attention import Attention


def project(
    x: Float[Tensor, "pos channel"],
    w_q: Float[Tensor, "q_in q_out"],
    w_k: Float[Tensor, "k_in k_out"],
    w_v: Float[Tensor, "v_in v_out"],
) -> Answer:
    """Q, K and V of a module whose weights are these, its weights and output, and W_Q W_K^T."""
    values = attend_with_weights(x, None, w_q, w_k, w_v)
    q, k = values["q"][0, 0], values["k"][0, 0]
    joint = w_q @ w_k.T
    difference = float((x @ joint @ x.T - q @ k.T).abs().max())
    names = TOKENS.label_all(len(x))
    return (
        *projection_rows(values, "X", names, names, ("Each token asks, answers and gives in its own words", "")),
        row(
            MatrixPicture(title="W_Q W_Kᵀ", values=joint),
            MatrixPicture(title="X (W_Q W_Kᵀ) Xᵀ", before="→", values=x @ joint @ x.T, rows=names, columns=names),
            MatrixPicture(title="Q Kᵀ", before="=", values=q @ k.T, rows=names, columns=names),
            title="Scores know W_Q and W_K only by their product",
            text="Two matrices that look different give the same attention, as long as their product is the same. "
            "Books that write tokens as columns have q = W x instead: their matrices are the transposes of these.",
        ),
        verdict_row(
            f"The largest difference between the two is {difference:.1g}.",
            good=difference <= 1e-4 * max(1.0, float((q @ k.T).abs().max())),
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
        **weight_controls(CHANNELS, "2,0;0,1", "0,1;1,0"),
    },
    compute=project,
    formulas=(
        PROJECTED.format("X"),
        r"Q K^\top = X\, (W_Q W_K^\top)\, X^\top",
    ),
    code=(Attention.project, Attention.forward, attend_with_weights),
)
