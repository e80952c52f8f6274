"""The catalogue of hook points: what kinds of value a model has, their axes, titles and formulas.

A value's name is its path: `decoder.3.self.weights` is what the self-attention of the decoder's fourth layer gives as
weights. The last part of a path is its site.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.registry import Registry


@dataclass(frozen=True)
class HookPoint:
    """A kind of value: its axes without the batch, a title for a picture, and the formula that makes it."""

    axes: tuple[str, ...]
    title: str
    formula: str


_RESIDUAL_AXES = ("pos", "d_model")
_QUERY_KEY_AXES = ("head", "query", "key")

HOOK_POINTS: Registry[HookPoint] = Registry(
    "hook point",
    {
        "pixels": HookPoint(
            ("color_channel", "pixel_row", "pixel_column"), "Pixels as the model reads them", r"(p - \mu) / \sigma"
        ),
        "embedding": HookPoint(_RESIDUAL_AXES, "Token embeddings", r"E[\mathrm{token}]"),
        "position_ids": HookPoint(("pos",), "Where each token stands", r"i"),
        "position_embedding": HookPoint(_RESIDUAL_AXES, "Added positions", r"P[\mathrm{position}]"),
        "residual": HookPoint(_RESIDUAL_AXES, "Residual stream", r"x"),
        "residual_after_self": HookPoint(
            _RESIDUAL_AXES, "Residual stream after self-attention", r"x + \mathrm{Attention}(x)"
        ),
        "residual_after_cross": HookPoint(
            _RESIDUAL_AXES, "Residual stream after cross-attention", r"x + \mathrm{Attention}(x, m)"
        ),
        "final_residual": HookPoint(_RESIDUAL_AXES, "Residual stream after the final norm", r"\mathrm{Norm}(x)"),
        "logits": HookPoint(("pos", "token"), "Logits", r"x\,W_U"),
        "input": HookPoint(_RESIDUAL_AXES, "Normalised input", r"\mathrm{Norm}(x)"),
        "q": HookPoint(("head", "query", "head_dim"), "Queries", r"q = x\,W_Q"),
        "k": HookPoint(("key_value_head", "pos", "head_dim"), "Keys", r"k = x\,W_K"),
        "v": HookPoint(("key_value_head", "pos", "value_head_dim"), "Values", r"v = x\,W_V"),
        "rotated_q": HookPoint(("head", "query", "head_dim"), "Queries, positions applied", r"R_i\,q_i"),
        "rotated_k": HookPoint(("key_value_head", "pos", "head_dim"), "Keys, positions applied", r"R_j\,k_j"),
        "scale": HookPoint(("head",), "What scores are multiplied with", r"1 / \sqrt{d}"),
        "bias": HookPoint(_QUERY_KEY_AXES, "Position bias", r"b_{ij}"),
        "scores": HookPoint(_QUERY_KEY_AXES, "Scores", r"s_{ij} = q_i \cdot k_j / \sqrt{d} + b_{ij}"),
        "mask": HookPoint(_QUERY_KEY_AXES, "Mask: 1 where a query may attend", r"m_{ij}"),
        "masked_scores": HookPoint(
            _QUERY_KEY_AXES, "Masked scores", r"s_{ij}\ \mathrm{where}\ m_{ij},\ \mathrm{else}\ -\infty"
        ),
        "weights": HookPoint(_QUERY_KEY_AXES, "Attention weights", r"a_{ij} = \mathrm{softmax}_j(s_{ij})"),
        "weighted_values": HookPoint(
            ("head", "query", "value_head_dim"), "Weighted values", r"z_i = \sum_j a_{ij} v_j"
        ),
        "neurons": HookPoint(("pos", "d_ff"), "Feed-forward neurons", r"\sigma(x\,W_1)"),
        "output": HookPoint(_RESIDUAL_AXES, "Written to the residual stream", r"z\,W_O"),
    },
)


# Sites that grow with the square of the text, in the order in which attention makes them.
QUERY_KEY_HOOK_POINTS = tuple(name for name, site in HOOK_POINTS.items() if site.axes == _QUERY_KEY_AXES)


def hook_point_of(path: str) -> HookPoint:
    """The catalogue's row for a path; raises UnknownName for a site that does not exist."""
    return HOOK_POINTS[path.rpartition(".")[2]]
