"""What can be seen: taps, the catalogue of sites, and the frozen Trace of one run.

A value's name is its path: `decoder.3.self.weights` is what the self-attention of the decoder's fourth layer gives as
weights. The last part of a path is its site, and SITES says what axes a site has and what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import numpy as np
from torch import Tensor

from model.config import Config
from model.errors import EditError, TextError
from model.grids import Grid, grids
from model.habits import may_look, plainest
from model.pictures import Patched
from model.registry import Registry
from model.shapes import Float, Shaped
from model.show import Attended, Shown, show
from model.tokenizer import Encoded

Tap = Callable[[str, Tensor], Tensor]


def untouched(name: str, value: Tensor) -> Tensor:
    """The tap that neither looks nor touches."""
    return value


class Interest(IntEnum):
    """What a tap wants of a value: nothing, a few rows (queries) of it at a time, or all of it at once."""

    NONE, ROWS, WHOLE = range(3)


@dataclass(frozen=True)
class Under:
    """A tap for the values of a part: `weights` reaches `tap` as `prefix.weights`."""

    tap: Tap
    prefix: str

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return self.tap(f"{self.prefix}.{name}", value)

    def interest(self, name: str) -> Interest:
        """What the tap wants of a value."""
        return interest(self.tap, f"{self.prefix}.{name}")

    def rows(self, start: int, total: int) -> Tap:
        """The tap for values of which it sees the rows from `start` on, of `total`."""
        return under(rows(self.tap, start, total), self.prefix)


def under(tap: Tap, prefix: str) -> Tap:
    """The same tap, for the values of a part."""
    return tap if tap is untouched else Under(tap, prefix)


def interest(tap: Tap, name: str) -> Interest:
    """What a tap wants of a value: everything, unless it says otherwise."""
    if tap is untouched:
        return Interest.NONE
    ask: Callable[[str], Interest] | None = getattr(tap, "interest", None)
    return ask(name) if ask else Interest.WHOLE


def rows(tap: Tap, start: int, total: int) -> Tap:
    """The tap for values of which it sees the rows from `start` on, of `total`; it must want no more than rows."""
    narrowed: Callable[[int, int], Tap] | None = getattr(tap, "rows", None)
    return narrowed(start, total) if narrowed else tap


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


@dataclass(frozen=True, eq=False)  # itself and no other: comparing all its numbers means nothing
class Trace:
    """All that one run did, as read-only NumPy arrays without a batch axis; safe to keep and to share.

    `text` is what the traced stack read (for an encoder-decoder the decoder's text, and `source` the encoder's); of a
    picture it is Patched, and tells where its patches lie.
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

    def read_by(self, stack: str) -> Encoded:
        """The text that a stack reads."""
        return self.source if stack == "encoder" and self.source is not None else self.text

    def show(self, layer: int | None = None, head: int | None = None) -> Shown:
        """All heads in a notebook: thumbnails, the chosen head as map, lines, text and table; `save` makes a file.

        It begins with the head that is named, or else with one that is plain to see (`model.habits.plainest`).
        Raises EditError where the trace holds no weights: of a long text `run` keeps them only if told to, by
        `keep=("*.weights", "*.mask")`. Without masks a head may look wherever any head does.
        """
        known = grids(self.config)
        if not known:
            raise EditError("This model has no layers, so there is no attention to show.")
        attentions = [self._attended(grid) for grid in known]
        first = plainest(attentions[0].metrics) if layer is None and head is None else (layer or 0, head or 0)
        choice: dict[str, Any] = {"layer": first[0], "head": first[1]}
        if isinstance(self.text, Patched):
            choice |= {"picture": "photo", "query": 0}
        return show(attentions, self.text, self.source, choice=choice)

    def _attended(self, grid: Grid) -> Attended:
        weights = self.attention(grid.kind, grid.stack)
        masks = [self.values.get(f"{grid.stack}.{layer}.{grid.kind}.mask") for layer in range(len(weights))]
        allowed = may_look(weights, [mask for mask in masks if mask is not None])
        texts = {"text": self.text, "source": self.source or self.text}
        return Attended(grid, weights, allowed, texts[grid.queries], texts[grid.keys])

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
        return shares(rows[position])


def shares(logits: Float[np.ndarray, " token"]) -> Float[np.ndarray, " token"]:
    """Softmax: logits as probabilities."""
    powers = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(powers / powers.sum(), dtype=np.float32)
