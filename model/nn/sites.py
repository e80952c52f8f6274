"""The catalogue of hook points: what kinds of value a model has, their axes, titles and formulas.

A value's name is its path: `decoder.3.self.weights` is what the self-attention of the decoder's fourth layer gives as
weights. The last part of a path is its site.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.registry import Registry


@dataclass(frozen=True)
class Site:
    """A kind of value: its axes without the batch, a title for a picture, and the formula that makes it."""

    axes: tuple[str, ...]
    title: str
    formula: str


_VECTORS = ("pos", "width")
_PAIRS = ("head", "query", "key")

SITES: Registry[Site] = Registry(
    "site",
    {
        "pixels": Site(
            ("colour", "pixel_row", "pixel_column"), "Pixels as the model reads them", r"(p - \mu) / \sigma"
        ),
        "embedding": Site(_VECTORS, "Token embeddings", r"E[\mathrm{token}]"),
        "at": Site(("pos",), "Where each token stands", r"i"),
        "positions": Site(_VECTORS, "Added positions", r"P[\mathrm{position}]"),
        "residual": Site(_VECTORS, "Residual stream", r"x"),
        "after_self": Site(_VECTORS, "Residual stream after self-attention", r"x + \mathrm{Attention}(x)"),
        "after_cross": Site(_VECTORS, "Residual stream after cross-attention", r"x + \mathrm{Attention}(x, m)"),
        "final": Site(_VECTORS, "Residual stream after the final norm", r"\mathrm{Norm}(x)"),
        "logits": Site(("pos", "token"), "Logits", r"x\,W_U"),
        "input": Site(_VECTORS, "Normalised input", r"\mathrm{Norm}(x)"),
        "q": Site(("head", "query", "channel"), "Queries", r"q = x\,W_Q"),
        "k": Site(("key_value_head", "pos", "channel"), "Keys", r"k = x\,W_K"),
        "v": Site(("key_value_head", "pos", "value_channel"), "Values", r"v = x\,W_V"),
        "rotated_q": Site(("head", "query", "channel"), "Queries, positions applied", r"R_i\,q_i"),
        "rotated_k": Site(("key_value_head", "pos", "channel"), "Keys, positions applied", r"R_j\,k_j"),
        "scale": Site(("head",), "What scores are multiplied with", r"1 / \sqrt{d}"),
        "bias": Site(_PAIRS, "Position bias", r"b_{ij}"),
        "scores": Site(_PAIRS, "Scores", r"s_{ij} = q_i \cdot k_j / \sqrt{d} + b_{ij}"),
        "mask": Site(_PAIRS, "Mask: 1 where a query may attend", r"m_{ij}"),
        "masked": Site(_PAIRS, "Masked scores", r"s_{ij}\ \mathrm{where}\ m_{ij},\ \mathrm{else}\ -\infty"),
        "weights": Site(_PAIRS, "Attention weights", r"a_{ij} = \mathrm{softmax}_j(s_{ij})"),
        "mixed": Site(("head", "query", "value_channel"), "Weighted values", r"z_i = \sum_j a_{ij} v_j"),
        "hidden": Site(("pos", "inner"), "Feed-forward neurons", r"\sigma(x\,W_1)"),
        "output": Site(_VECTORS, "Written to the residual stream", r"z\,W_O"),
    },
)


# Sites that grow with the square of the text, in the order in which attention makes them.
PAIRED = tuple(name for name, site in SITES.items() if site.axes == _PAIRS)


def site_of(path: str) -> Site:
    """The catalogue's row for a path; raises UnknownName for a site that does not exist."""
    return SITES[path.rpartition(".")[2]]
