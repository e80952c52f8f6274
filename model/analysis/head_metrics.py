"""What a head does, as numbers: where it looks and how wide, from its weights and the text alone.

An empty row (a token that may attend to nothing) has weights of zero; here it counts as no row: it takes part in no
average, and what is asked of it alone is 0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.analysis import patch_metrics
from model.analysis.patch_metrics import Cells
from model.array_types import Bool, Float
from model.registry import Registry
from model.text.tokenizer import Encoded
from model.tracing.trace import Trace
from model.vision.patches import Patched


def entropy(weights: Float[np.ndarray, "*shape query key"]) -> Float[np.ndarray, "*shape query"]:
    """How spread each row is, in nats: 0 on one key, log n evenly on n (Shannon 1948, section 6)."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    rows: np.ndarray = np.maximum(-(weights * logs).sum(-1), 0.0)
    return rows


def distance(weights: Float[np.ndarray, "*shape query key"]) -> Float[np.ndarray, "*shape query"]:
    """How many tokens away each row looks on average (Vig and Belinkov 2019, section 4.3)."""
    query, key = weights.shape[-2:]
    apart = np.abs(np.arange(query)[:, None] - np.arange(key)[None, :]).astype(weights.dtype)
    rows: np.ndarray = (weights * apart).sum(-1)
    return rows


def average(
    rows: Float[np.ndarray, "*shape query"], weights: Float[np.ndarray, "*shape query key"]
) -> Float[np.ndarray, "*shape"]:
    """The mean over the rows that are not empty; NaN where all are."""
    full = weights.any(-1)
    return _ratio((rows * full).sum(-1), full.sum(-1))


# Which keys a query is asked about, as a matrix of pairs.


def _previous(text: Encoded) -> Cells:
    return np.eye(len(text.ids), k=-1, dtype=bool)


def _next(text: Encoded) -> Cells:
    return np.eye(len(text.ids), k=1, dtype=bool)


def _itself(text: Encoded) -> Cells:
    return np.eye(len(text.ids), dtype=bool)


def _first(text: Encoded) -> Cells:
    cells = np.zeros((len(text.ids),) * 2, dtype=bool)
    cells[1:, 0] = True
    return cells


def _same_word(text: Encoded) -> Cells:
    """Other places of the same word; capital or not, and with or without a space before it, it is the same.

    Marks are no words: a comma that looks at a comma does not count, nor does what follows one.
    """
    words = np.array([piece.strip().casefold() for piece in text.pieces])
    same: Cells = (words[:, None] == words[None, :]) & (words != "") & ~_marks(text) & ~_itself(text)
    return same


def _repeated(text: Encoded) -> Cells:
    """The token after an earlier place of this token: what an induction head copies."""
    ids = np.array(text.ids)
    earlier = np.tril(ids[:, None] == ids[None, :], k=-1) & ~np.array(text.special) & ~_marks(text)
    return np.pad(earlier, ((0, 0), (1, 0)))[:, :-1]


def _punctuation(text: Encoded) -> Cells:
    """Marks such as . , ! at another place than the query's own."""
    cells: Cells = ~_itself(text) & _marks(text)
    return cells


def _marks(text: Encoded) -> Bool[np.ndarray, " key"]:
    """Which tokens are punctuation and nothing else."""
    kinds = [{unicodedata.category(character)[0] for character in piece.strip()} for piece in text.pieces]
    special = zip(kinds, text.special, strict=True)
    return np.array([kind == {"P"} and not added for kind, added in special], dtype=bool)


def _special(text: Encoded) -> Cells:
    cells: Cells = ~_itself(text) & np.array(text.special, dtype=bool)
    return cells


def looking(
    weights: Float[np.ndarray, "*shape query key"],
    allowed: Bool[np.ndarray, "*shape query key"],
    cells: Bool[np.ndarray, "habit query key"],
) -> Float[np.ndarray, "*shape habit"]:
    """The share of its attention that a head gives to certain cells, for several kinds of them at once.

    The mean over the queries that may look at such a cell and whose row is not empty; NaN where there is none.
    """
    *shape, query, key = weights.shape
    kinds = cells.astype(np.float32).transpose(1, 2, 0)  # query key habit

    def gather(values: np.ndarray) -> np.ndarray:
        by_query = values.reshape(-1, query, key).transpose(1, 0, 2)
        return np.asarray(by_query @ kinds)  # query head habit

    may = allowed.astype(np.float32)
    asked = (gather(may) > 0) & weights.any(-1).reshape(-1, query).T[:, :, None]
    shares = _ratio((gather(weights * may) * asked).sum(0), asked.sum(0))
    return shares.reshape(*shape, len(cells))


def _ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """total / count, NaN where the count is 0."""
    none = np.full(np.shape(total), np.nan, dtype=np.float32)
    ratio: np.ndarray = np.divide(total, count, out=none, where=count > 0)
    return ratio


@dataclass(frozen=True)
class Metric:
    """One number for each head: its short name, what it tells of the head, how it is made, and its unit.

    Either the share of the head's attention, from 0 to 1, that goes to `cells`, or what `measure` makes of weights
    and text, which has a unit. Cells compare a text with itself, so they are for self-attention alone.
    """

    name: str
    title: str
    cells: Callable[[Any], Cells] | None = None
    measure: Callable[[np.ndarray, Any], np.ndarray] | None = None
    unit: str = ""


def _spread(weights: np.ndarray, text: Encoded) -> np.ndarray:
    return average(entropy(weights), weights)


def _far(weights: np.ndarray, text: Encoded) -> np.ndarray:
    return average(distance(weights), weights)


METRICS: Registry[Metric] = Registry(
    "head metric",
    {
        "previous": Metric("Previous token", "the token before", _previous),
        "next": Metric("Next token", "the token after", _next),
        "itself": Metric("Itself", "the token itself", _itself),
        "first": Metric("First token", "the first token", _first),
        "same-word": Metric("Same word", "other places of the same word", _same_word),
        # Olsson et al. 2022, "prefix matching": on the second A of "A B ... A" the head looks at B.
        "repeated": Metric("Induction", "what followed the same token before", _repeated),
        "punctuation": Metric("Punctuation", "punctuation marks", _punctuation),
        "special": Metric("Special tokens", "tokens that only mark a text's ends", _special),
        "entropy": Metric("Spread", "spread", measure=_spread, unit="nats"),
        "distance": Metric("Distance", "mean distance", measure=_far, unit="tokens"),
    },
)
PICTURE_METRICS: Registry[Metric] = Registry(
    "head metric of a picture",
    {
        "itself": Metric("Itself", "the patch itself", _itself),
        "around": Metric("Neighbours", "the patches around it", patch_metrics.around),
        "row": Metric("Row", "other patches of its row", patch_metrics.same_row),
        "column": Metric("Column", "other patches of its column", patch_metrics.same_column),
        "special": Metric("Class token", "the class token", _special),
        "entropy": Metric("Spread", "spread", measure=_spread, unit="nats"),
        "distance": Metric("Distance", "mean distance", measure=patch_metrics.patch_distance, unit="patches"),
    },
)


def metrics_of(picture: bool) -> Registry[Metric]:
    """What can be asked of the heads that read a text, or a picture."""
    return PICTURE_METRICS if picture else METRICS


def measured(
    weights: Float[np.ndarray, "layer head query key"],
    allowed: Bool[np.ndarray, "layer head query key"],
    text: Encoded | None,
) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Every metric (`metrics_of`) for all heads of one attention over `text`.

    NaN where the text gives a head no occasion: nothing in it is repeated, or no row may look there. Attention to
    another text (None) has the entropy alone.
    """
    if text is None:
        return {"entropy": average(entropy(weights), weights)}
    known = metrics_of(isinstance(text, Patched))
    onto = {metric: row.cells(text) for metric, row in known.items() if row.cells}
    shares = looking(weights, allowed, np.stack(list(onto.values())))
    found = dict(zip(onto, np.moveaxis(shares, -1, 0), strict=True))
    rows = {metric: row.measure(weights, text) for metric, row in known.items() if row.measure}
    return {metric: (found | rows)[metric] for metric in known}


def plainest(metrics: Mapping[str, Float[np.ndarray, "layer head"]]) -> tuple[int, int]:
    """The head whose pattern is the plainest to see: of all, the one that looks most at the token before, or after.

    The first head, where nobody measured that or the text gives no occasion.
    """
    steps = [metrics[name] for name in ("previous", "next") if name in metrics]
    most = np.fmax.reduce(steps) if steps else np.zeros((0, 0))
    if not np.isfinite(most).any():
        return 0, 0
    layer, head = np.unravel_index(np.nanargmax(most), most.shape)
    return int(layer), int(head)


def may_look(
    weights: Float[np.ndarray, "layer head query key"], masks: Sequence[np.ndarray]
) -> Bool[np.ndarray, "layer head query key"]:
    """Where each head may look: by the masks of all layers, or, without them, wherever any head does look."""
    if len(masks) == len(weights):
        return np.stack([np.broadcast_to(mask > 0, weights.shape[1:]) for mask in masks])
    return np.broadcast_to((weights > 0).any(axis=(0, 1)), weights.shape)


def head_metrics(
    trace: Trace, stack: str | None = None, kind: str = "self"
) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Every metric of METRICS for one attention of a stack, by default the one that gives the answer.

    NaN where a text gives a head no occasion: nothing in it is repeated, or no row may look there. Attention to another
    text ("cross") has the entropy alone.
    """
    name = stack or trace.config.stacks[-1]
    weights = trace.attention(kind, name)
    masks = [trace.values.get(f"{name}.{layer}.{kind}.mask") for layer in range(len(weights))]
    allowed = may_look(weights, [mask for mask in masks if mask is not None])
    return measured(weights, allowed, trace.read_by(name) if kind == "self" else None)
