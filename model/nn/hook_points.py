"""Hook points: the kinds of intermediate value that a model has, with their axes, titles and formulas.

A value is named by its path: `decoder.3.self.weights` are the weights of self-attention in the decoder's fourth layer.
The last part of a path is the name of its hook point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.config import Config
from model.registry import Registry


@dataclass(frozen=True)
class HookPoint:
    """A kind of value: its axes without the batch, its title, and the formula (LaTeX) it is computed by.

    Where the formula depends on the attention function, `attention_functions.hook_point_formula` knows it.
    """

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
        "position_ids": HookPoint(("pos",), "Position ids", r"i"),
        "position_embedding": HookPoint(_RESIDUAL_AXES, "Position embeddings", r"P[\mathrm{position}]"),
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
        "rotated_q": HookPoint(("head", "query", "head_dim"), "Queries after rotary embedding", r"R_i\,q_i"),
        "rotated_k": HookPoint(("key_value_head", "pos", "head_dim"), "Keys after rotary embedding", r"R_j\,k_j"),
        "scale": HookPoint(("head",), "Score scale", r"1 / \sqrt{d}"),
        "bias": HookPoint(_QUERY_KEY_AXES, "Position bias", r"b_{ij}"),
        "scores": HookPoint(_QUERY_KEY_AXES, "Scores", r"s_{ij} = \mathrm{score}(q_i, k_j, b_{ij})"),
        "mask": HookPoint(_QUERY_KEY_AXES, "Mask: 1 where a query may attend", r"m_{ij}"),
        "masked_scores": HookPoint(_QUERY_KEY_AXES, "Masked scores", r"s_{ij}\ \mathrm{where}\ m_{ij}"),
        "weights": HookPoint(_QUERY_KEY_AXES, "Attention weights", r"a_{ij} = \mathrm{normalize}_j(s_{ij})"),
        "weighted_values": HookPoint(
            ("head", "query", "value_head_dim"), "Weighted values", r"z_i = \sum_j a_{ij} v_j"
        ),
        "neurons": HookPoint(("pos", "d_ff"), "Feed-forward neurons", r"\sigma(x\,W_1)"),
        "output": HookPoint(_RESIDUAL_AXES, "Output, added to the residual stream", r"z\,W_O"),
    },
)


# How many places an axis has that does not count tokens.
AXIS_SIZES: Mapping[str, Callable[[Config], int]] = {
    "color_channel": lambda config: config.image.channels,
    "pixel_row": lambda config: config.image.height,
    "pixel_column": lambda config: config.image.width,
    "head": lambda config: config.heads,
    "key_value_head": lambda config: config.key_value_heads,
    "head_dim": lambda config: config.head_dim,
    "value_head_dim": lambda config: config.value_head_dim,
    "d_model": lambda config: config.d_model,
    "d_ff": lambda config: config.d_ff,
    "token": lambda config: config.vocabulary_size,
}

# Hook points that grow with the square of the text, in the order in which attention computes them.
QUERY_KEY_HOOK_POINTS = tuple(name for name, point in HOOK_POINTS.items() if point.axes == _QUERY_KEY_AXES)


def hook_point_of(path: str) -> HookPoint:
    """The hook point of a path. Raises UnknownNameError where there is none of that name."""
    return HOOK_POINTS[path.rpartition(".")[2]]
