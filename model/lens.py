"""Pure questions about traces: where a head looks, what reaches a token, what a layer would already predict.

An empty row (a token that may attend to nothing) has weights of zero; here it counts as no row: it takes part in no
average, and what is asked of it alone is 0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from model.errors import EditError
from model.registry import Registry
from model.shapes import Bool, Float
from model.tokenizer import Encoded
from model.trace import Trace
from model.transformer import Transformer, require_top


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

Cells = NDArray[np.bool_]  # query key


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
    weights: Float[np.ndarray, "*shape query key"], cells: Bool[np.ndarray, "*shape query key"]
) -> Float[np.ndarray, "*shape"]:
    """The share of its attention that a head gives to certain cells.

    The mean over the queries that have such a cell and a row that is not empty; NaN where there is none.
    """
    asked = cells.any(-1) & weights.any(-1)
    shares = (weights * cells).sum(-1) * asked
    return _ratio(shares.sum(-1), asked.sum(-1))


def _ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """total / count, NaN where the count is 0."""
    none = np.full(np.shape(total), np.nan, dtype=np.float32)
    ratio: np.ndarray = np.divide(total, count, out=none, where=count > 0)
    return ratio


@dataclass(frozen=True)
class Metric:
    """One number for each head: what a picture calls it, its unit, and how it is made.

    `measure` takes weights and the cells that the masks allow, both [layer head query key], and the text; it gives
    [layer head]. Without a unit it is a share of the head's attention, from 0 to 1.
    """

    title: str
    measure: Callable[[np.ndarray, np.ndarray, Encoded], np.ndarray]
    unit: str = ""


def _onto(title: str, cells: Callable[[Encoded], Cells]) -> Metric:
    return Metric(title, lambda weights, allowed, text: looking(weights, allowed & cells(text)))


METRICS: Registry[Metric] = Registry(
    "head metric",
    {
        "previous": _onto("the token before", _previous),
        "next": _onto("the token after", _next),
        "itself": _onto("the token itself", _itself),
        "first": _onto("the first token", _first),
        "same-word": _onto("other places of the same word", _same_word),
        # Olsson et al. 2022, "prefix matching": on the second A of "A B ... A" the head looks at B.
        "repeated": _onto("what followed the same token before", _repeated),
        "punctuation": _onto("punctuation marks", _punctuation),
        "special": _onto("tokens that only mark a text's ends", _special),
        "entropy": Metric("spread", lambda weights, allowed, text: average(entropy(weights), weights), "nats"),
        "distance": Metric(
            "mean distance", lambda weights, allowed, text: average(distance(weights), weights), "tokens"
        ),
    },
)


def head_metrics(trace: Trace, stack: str | None = None) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Every metric of METRICS for the self-attention of a stack, by default the one that gives the answer.

    NaN where a text gives a head no occasion: nothing in it is repeated, or no row may look there.
    """
    name = stack or trace.config.stacks[-1]
    text = trace.source if name == "encoder" and trace.source is not None else trace.text
    weights, allowed = trace.attention(stack=name), _allowed(trace, name)
    return {metric: METRICS[metric].measure(weights, allowed, text) for metric in METRICS}


def _allowed(trace: Trace, stack: str) -> np.ndarray:
    """Where each head may look: by its mask, or, in a trace without masks, wherever any head does look."""
    weights = trace.attention(stack=stack)
    masks = [trace.values.get(f"{stack}.{layer}.self.mask") for layer in range(len(weights))]
    held = [mask > 0 for mask in masks if mask is not None]
    if len(held) == len(weights):
        return np.stack(held)
    return np.broadcast_to((weights > 0).any(axis=(0, 1)), weights.shape)


def rollout(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "layer query key"]:
    """How much of each first token a token holds after each layer (Abnar and Zuidema 2020, section 3).

    Per layer the heads' mean and the residual stream weigh half each; layers are multiplied. Every row sums to one:
    an empty one passes on the stream alone.
    """
    stream = np.eye(weights.shape[-1], dtype=weights.dtype)
    reached: np.ndarray = stream
    layers = []
    for layer in 0.5 * weights.mean(axis=1) + 0.5 * stream:
        reached = layer / layer.sum(-1, keepdims=True) @ reached
        layers.append(reached)
    return np.stack(layers)


def value_weighted(
    trace: Trace, kind: str = "self", stack: str | None = None
) -> Float[np.ndarray, "layer head query key"]:
    """Weights times the length of the value they fetch: much attention to a short value moves little.

    Kobayashi et al. 2020, section 3, before the output projection. Rows do not sum to one.
    """
    weights = trace.attention(kind, stack)
    lengths = np.linalg.norm(trace.stacked("v", kind, stack), axis=-1)  # layer key_value_head key
    shared = weights.shape[1] // lengths.shape[1]
    fetched: np.ndarray = weights * np.repeat(lengths, shared, axis=1)[:, :, None, :]
    return fetched.astype(np.float32, copy=False)


@torch.inference_mode()
def logit_lens(model: Transformer, trace: Trace, position: int = -1) -> Float[np.ndarray, "layer token"]:
    """What the model would predict if it stopped before each block, and last what it does predict.

    The final norm and the top, applied to the residual stream at one position (nostalgebraist 2020); layers + 1 rows
    of probabilities. Raises ConfigError without a language head, EditError where the trace holds no residual.
    """
    require_top(model, "language", "masked-language")
    name = trace.config.stacks[-1]
    paths = [*(f"{name}.{layer}.residual" for layer in range(trace.config.depth(name))), f"{name}.residual"]
    rows = np.stack([trace[path][position] for path in paths])
    stream = torch.from_numpy(rows).to(model.device, model.embedding.weight.dtype)
    logits = model.top(model.stack(name).norm(stream)).float()
    shares: np.ndarray = logits.softmax(-1).cpu().numpy()
    return shares


def difference(before: Trace, after: Trace) -> Mapping[str, np.ndarray]:
    """after - before, for every path that both traces hold in the same shape.

    Masks, being yes or no, become -1, 0 or 1. Raises EditError where the two read texts of different length.
    """
    lengths = len(before.text.ids), len(after.text.ids)
    if lengths[0] != lengths[1]:
        told = f"these have {lengths[0]} and {lengths[1]} tokens"
        raise EditError(f"Two runs can be compared on texts of the same length only; {told}.")
    both = {path: (value, after[path]) for path, value in before.values.items() if path in after.values}
    return {path: _signed(new) - _signed(old) for path, (old, new) in both.items() if old.shape == new.shape}


def _signed(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int8) if values.dtype == bool else values
