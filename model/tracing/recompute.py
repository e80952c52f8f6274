"""What a long text's trace does not hold, made again from the residual stream that it does: one head, one region.

Scores and weights grow with the square of the text. Past a budget `run` keeps what each attention read, and here the
same functions with the same edits make from it the one picture that somebody looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.array_types import Bool, Float, Shaped
from model.errors import EditError
from model.nn.attention import ALL, Attention, Look
from model.nn.block import Block
from model.nn.hooks import Interest, Tap, interest, rows, under
from model.nn.masks import Pair
from model.nn.sites import PAIRED
from model.nn.transformer import Transformer
from model.tracing.interventions import Edits
from model.tracing.run import parsed
from model.tracing.trace import Trace

CELLS = 1 << 22  # of all heads that are made at a time


@dataclass(frozen=True)
class Scene:
    """One attention of a trace, ready to be looked at anew: its queries, keys and values, and who sees whom."""

    attention: Attention
    q: Tensor
    k: Tensor
    v: Tensor
    scale: Tensor
    look: Look
    tap: Tap

    def made(self, head: int | None, queries: slice) -> dict[str, Shaped[Tensor, "head query key"]]:
        """The values of every paired site, for one head or all, and some queries with all their keys.

        One head is made alone unless an edit reaches in: an edit counts heads.
        """
        seen: dict[str, Tensor] = {}
        narrowed = rows(self.tap, queries.start, self.q.shape[2])

        def watch(name: str, value: Tensor) -> Tensor:
            seen[name] = narrowed(name, value)
            return seen[name]

        edited = max(interest(self.tap, name) for name in PAIRED) is not Interest.NONE
        chosen = ALL if head is None else slice(head, head + 1)
        made_alone = ALL if edited else chosen
        q, look = self.q[:, :, queries], self.look.rows(queries)
        self.attention.mix(q, self.k, self.v, self.scale, look, watch, made_alone)
        return {name: value[0][chosen] if edited else value[0] for name, value in seen.items()}


@torch.inference_mode()
def scene(model: Transformer, trace: Trace, path: str) -> Scene:
    """The attention at `path` (`decoder.3.self`). Raises EditError where the trace lacks what it read."""
    name, layer, kind = path.split(".")
    stack, number = model.stack(name), int(layer)
    block = stack.blocks[number]
    assert isinstance(block, Block)
    attention = block.self_attention if kind == "self" else block.cross_attention
    if attention is None:
        raise EditError(f"This model has no cross-attention, so there is no {path}.")
    x = _tensor(model, trace, f"{path}.input")
    memory = _tensor(model, trace, "encoder.final") if kind == "cross" else None
    places, edits = torch.arange(x.shape[1], device=x.device), Edits(parsed(trace.interventions))
    if memory is None:
        at = stack.stands(places, under(edits, name))
        look = stack.looks(Pair(places, places), None, Pair(at, at))[number]
    else:
        look = stack.across(Pair(places, torch.arange(memory.shape[1], device=x.device)))
    tap = under(edits, path)
    q, k, v = attention.project(x, memory, look, tap)
    return Scene(attention, q, k, v, tap("scale", attention.scales(q)), look, tap)


@torch.inference_mode()
def regions(
    model: Transformer, trace: Trace, path: str, sites: Sequence[str], head: int, queries: range, keys: range
) -> dict[str, Shaped[np.ndarray, "query key"]]:
    """The exact values of several sites of one head at `path` (`decoder.3.self`), for some queries and keys."""
    seen = scene(model, trace, path)
    step = max(1, CELLS // (seen.k.shape[2] * seen.q.shape[1]))
    blocks = (slice(start, min(start + step, queries.stop)) for start in range(queries.start, queries.stop, step))
    made: dict[str, list[np.ndarray]] = {site: [] for site in sites}
    for values in (seen.made(head, block) for block in blocks):
        for site in sites:
            made[site].append(_array(values[site][0, :, keys.start : keys.stop]))
    return {site: np.concatenate(parts) for site, parts in made.items()}


def region(
    model: Transformer, trace: Trace, path: str, head: int, queries: range, keys: range
) -> Shaped[np.ndarray, "query key"]:
    """The exact values of one head at `path` (`decoder.3.self.weights`) for some queries and keys."""
    part, _, site = path.rpartition(".")
    if path in trace.values:
        return np.asarray(trace[path][head, queries.start : queries.stop, keys.start : keys.stop])
    return regions(model, trace, part, (site,), head, queries, keys)[site]


@torch.inference_mode()
def overview(
    model: Transformer, trace: Trace, path: str, head: int | None = None, side: int = 80
) -> tuple[Float[np.ndarray, "head row column"], Bool[np.ndarray, "head row column"]]:
    """The largest weight of each block of cells, at most `side` blocks a side, and whether any of it is allowed."""
    seen = scene(model, trace, path)
    weights, allowed = [], []
    starts = _starts(seen.q.shape[2], side)
    for first, end in zip(starts, [*starts[1:], seen.q.shape[2]], strict=True):
        made = seen.made(head, slice(first, end))
        weights.append(_pooled(made["weights"], side))
        allowed.append(_pooled(made["mask"].to(torch.uint8), side) > 0)
    return np.stack(weights, axis=1), np.stack(allowed, axis=1)


@torch.inference_mode()
def logits_at(model: Transformer, trace: Trace, position: int) -> Float[np.ndarray, " token"]:
    """The logits at one position: kept, or made from the residual stream after the final norm."""
    if trace.logits is not None:
        return np.asarray(trace.logits[position])
    final = _tensor(model, trace, f"{model.config.stacks[-1]}.final")
    place = position % final.shape[1]
    logits = model.top(final[:, place : place + 1])
    if logits is None:
        raise EditError("This model ends without a head, so it has no logits.")
    return _array(rows(Edits(parsed(trace.interventions)), place, final.shape[1])("logits", logits)[0, 0])


def _starts(length: int, side: int) -> list[int]:
    count = min(length, side)
    return [block * length // count for block in range(count)]


def _pooled(values: Shaped[Tensor, "head query key"], side: int) -> Shaped[np.ndarray, "head column"]:
    """The largest over the queries and over each block of keys."""
    highest = _array(values.amax(1))
    return np.asarray(np.maximum.reduceat(highest, _starts(highest.shape[-1], side), axis=-1))


def _tensor(model: Transformer, trace: Trace, path: str) -> Tensor:
    return torch.tensor(trace[path], device=model.device, dtype=model.embedding.weight.dtype)[None]


def _array(value: Tensor) -> np.ndarray:
    return (value.float() if value.is_floating_point() else value).cpu().numpy()
