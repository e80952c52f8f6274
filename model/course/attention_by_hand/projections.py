"""From the tokens' vectors to queries, keys and values, and the one matrix that scores need."""

from __future__ import annotations

import torch
from torch import Tensor

from model.array_types import Float
from model.course.attention import Recorder, head_config
from model.course.attention_by_hand.words import CHANNELS, TOKENS
from model.course.controls import Axis, MatrixControl
from model.course.pictures import MatrixPicture, Verdict, row
from model.course.screen import Answer, Screen
from model.errors import InputError
from model.nn.attention import Attention, AttentionContext
from model.nn.masks import QueryKeyPositions
from model.nn.positional_encodings import POSITIONAL_ENCODINGS

HEAD_CHANNELS = Axis("head channels", 1, 4)
VALUE_CHANNELS = Axis("value channels", 1, 4)


def project(
    x: Float[Tensor, "pos channel"],
    w_q: Float[Tensor, "q_in q_out"],
    w_k: Float[Tensor, "k_in k_out"],
    w_v: Float[Tensor, "v_in v_out"],
) -> Answer:
    """Q, K and V of a module whose weights are these, its weights and output, and W_Q W_K^T."""
    values = _run(x, w_q, w_k, w_v)
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


def _run(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> dict[str, Tensor]:
    """The values of `Attention.forward` with these weights. Raises InputError for sizes that do not fit."""
    for name, weight in (("W_Q", w_q), ("W_K", w_k), ("W_V", w_v)):
        if len(weight) != x.shape[1]:
            raise InputError(f"{name} has {len(weight)} rows and X has {x.shape[1]} columns. They must be equal.")
    if w_q.shape[1] != w_k.shape[1]:
        raise InputError(f"W_Q has {w_q.shape[1]} columns and W_K has {w_k.shape[1]}. They must be equal.")
    config = head_config(w_q.shape[1], w_v.shape[1]).replace(d_model=x.shape[1], head_dim=w_q.shape[1])
    attention = Attention(config).eval()
    for linear, weight in ((attention.query, w_q), (attention.key, w_k), (attention.value, w_v)):
        linear.weight.data = weight.T  # a Linear holds its weight with a row for each output
    positions = QueryKeyPositions(torch.arange(len(x)), torch.arange(len(x)))
    allowed = torch.ones(1, 1, len(x), len(x), dtype=torch.bool)
    recorder = Recorder()
    with torch.no_grad():
        attention(x[None], None, AttentionContext(POSITIONAL_ENCODINGS["none"](config), positions, allowed), recorder)
    return recorder.values


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
    code=(Attention.project, Attention.forward, project),
)
