"""What can be seen: taps, the catalogue of sites, and the frozen Trace of one run.

A value's name is its path: `decoder.3.self.weights` is what the self-attention of the decoder's fourth layer gives as
weights. The last part of a path is its site, and SITES says what axes a site has and what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from torch import Tensor

from model.config import Config
from model.errors import EditError, TextError
from model.registry import Registry
from model.shapes import Float, Shaped
from model.tokenizer import Encoded

Tap = Callable[[str, Tensor], Tensor]


def untouched(name: str, value: Tensor) -> Tensor:
    """The tap that neither looks nor touches."""
    return value


def under(tap: Tap, prefix: str) -> Tap:
    """The same tap, for the values of a part: `weights` reaches it as `prefix.weights`."""
    return tap if tap is untouched else lambda name, value: tap(f"{prefix}.{name}", value)


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
        "embedding": Site(_VECTORS, "Token embeddings", r"E[\mathrm{token}]"),
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


def site_of(path: str) -> Site:
    """The catalogue's row for a path; raises UnknownName for a site that does not exist."""
    return SITES[path.rpartition(".")[2]]


@dataclass(frozen=True, eq=False)  # itself and no other: comparing all its numbers means nothing
class Trace:
    """All that one run did, as read-only NumPy arrays without a batch axis; safe to keep and to share.

    `text` is what the traced stack read (for an encoder-decoder the decoder's text, and `source` the encoder's).
    `values` maps a path to its array; which paths are there is what `run` was asked to keep.
    """

    config: Config
    text: Encoded
    source: Encoded | None
    values: Mapping[str, np.ndarray]
    interventions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for value in self.values.values():
            value.flags.writeable = False
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __getitem__(self, path: str) -> np.ndarray:
        if path not in self.values:
            known = ", ".join(sorted({name.rpartition(".")[2] for name in self.values}))
            raise EditError(f"This trace holds no {path!r}. It holds these sites: {known}.")
        return self.values[path]

    def stacked(
        self, site: str, kind: str = "self", stack: str | None = None
    ) -> Shaped[np.ndarray, "layer head query key"]:
        """One attention site of every layer of a stack, by default the stack that gives the answer."""
        name = stack or self.config.stacks[-1]
        paths = [f"{name}.{layer}.{kind}.{site}" for layer in range(self.config.depth(name))]
        if not paths:
            raise EditError(f"The {name} has no layers, so there is no attention to show.")
        return np.stack([self[path] for path in paths])

    def attention(self, kind: str = "self", stack: str | None = None) -> Float[np.ndarray, "layer head query key"]:
        """The weights of every layer and head; rows sum to one, or to zero where nothing may be attended to."""
        return self.stacked("weights", kind, stack).astype(np.float32, copy=False)

    @property
    def logits(self) -> np.ndarray | None:
        """Scores of the model's top, [pos token] for a language head; None without a top."""
        return self.values.get("logits")

    def probabilities(self, position: int = -1) -> Float[np.ndarray, " token"]:
        """The whole vocabulary's probabilities at one position: softmax of the logits."""
        rows = self["logits"]
        length = len(rows)
        if not -length <= position < length:
            raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")
        logits = rows[position].astype(np.float64)
        powers = np.exp(logits - logits.max())
        shares: np.ndarray = (powers / powers.sum()).astype(np.float32)
        return shares
