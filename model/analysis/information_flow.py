"""From which tokens, through which layers and heads, an answer came: the graph of information flow.

Ferrando and Voita 2024, "Information Flow Routes", section 2: a vector is a sum of terms, and a term's share in it is
its proximity, |sum| - |sum - term| in the 1-norm and never below zero, divided by that of all terms. The graph begins
at one token after the last layer and goes down along the edges whose share reaches a threshold. Biases have no share.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.analysis.head_outputs import moved, through
from model.array_types import Float
from model.errors import TextError
from model.nn.attention import repeat
from model.nn.block import Block
from model.nn.transformer import Transformer
from model.tracing.recompute import Scene, scene
from model.tracing.trace import Trace

KEEP = ("*.residual", "*.after_self", "*.after_cross", "*.self.input", "*.cross.input", "*.output", "encoder.final")
THRESHOLD = 0.04
NEGLIGIBLE = 0.001


@dataclass(frozen=True)
class Edge:
    """What one token's stream after a block holds of something else, as a share of the sum it is part of.

    `kind` is "stream" (the token's own before), "self", "cross" (from a token of the source) or "feedforward" (of
    this token; `source` is its own place). `heads` lists the shares of single heads, largest first.
    """

    layer: int
    kind: str
    target: int
    source: int
    share: float
    heads: tuple[tuple[int, float], ...] = ()


@torch.inference_mode()
def flow(model: Transformer, trace: Trace, position: int = -1, threshold: float = THRESHOLD) -> tuple[Edge, ...]:
    """The edges that lead to one token of the answering stack, from the last layer down.

    `trace` holds KEEP. Raises TextError for a token that is not there or a threshold outside 0 to 1.
    """
    length, name = len(trace.text.ids), trace.config.stacks[-1]
    if not -length <= position < length:
        raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")
    if not 0 < threshold <= 1:
        raise TextError(f"The threshold is {threshold}; it must be above 0 and at most 1.")
    edges: list[Edge] = []
    reached = {position % length}
    for layer, block in reversed(list(enumerate(model.stack(name).blocks))):
        assert isinstance(block, Block)
        below = _Layer(model, trace, f"{name}.{layer}", layer, block)
        found = [edge for target in sorted(reached) for edge in below.edges(target, threshold)]
        edges += found
        reached = {edge.source for edge in found if edge.kind in ("stream", "self")}
    return tuple(edges)


def proximity(terms: Float[Tensor, "*term width"], whole: Float[Tensor, " width"]) -> Float[Tensor, "*term"]:
    """How near each term comes to the whole: |whole| - |whole - term| in the 1-norm, at least 0."""
    return (whole.abs().sum() - (terms - whole).abs().sum(-1)).clamp(min=0)


class _Layer:
    """One block: the terms of each token's stream after each of its sublayers."""

    def __init__(self, model: Transformer, trace: Trace, path: str, layer: int, block: Block) -> None:
        self.model, self.trace, self.path, self.layer, self.block = model, trace, path, layer, block
        self.carried: dict[str, tuple[Scene, Tensor, Tensor]] = {}

    def edges(self, target: int, threshold: float) -> list[Edge]:
        """The edges into one token, top down, as long as the stream below is reached."""
        found = self._feedforward(target, threshold)
        kinds = ("cross", "self") if self.block.cross_attention is not None else ("self",)
        for kind in kinds:
            if not any(edge.kind == "stream" for edge in found):
                return found
            found = [edge for edge in found if edge.kind != "stream"] + self._attention(kind, target, threshold)
        return found

    def _value(self, path: str, target: int) -> Tensor:
        return torch.tensor(self.trace[f"{self.path}.{path}"][target])

    def _stream(self, after: str, target: int) -> Tensor:
        return self._value({"": "residual"}.get(after, f"after_{after}"), target)

    def _feedforward(self, target: int, threshold: float) -> list[Edge]:
        stream = self._stream("self" if self.block.cross_attention is None else "cross", target)
        nothing = torch.zeros_like(stream)
        table = torch.stack((stream, nothing, nothing))
        written = torch.stack((nothing, self._value("feedforward.output", target), nothing))
        read = torch.stack((self._stream("", target), nothing, nothing)) if self.block.parallel else table
        terms = through(self.block.feedforward_residual, read, written, 2, onto=table)
        near = proximity(terms[:2], terms.sum(0))
        shares = (near / near.sum().clamp(min=1e-30)).tolist()
        kinds = zip(("stream", "feedforward"), shares, strict=True)
        return [Edge(self.layer, kind, target, target, share) for kind, share in kinds if share >= threshold]

    def _attention(self, kind: str, target: int, threshold: float) -> list[Edge]:
        residual = self.block.self_residual if kind == "self" else self.block.cross_residual
        assert residual is not None
        fetched, places, shape = self._fetched(kind, target)
        written = torch.zeros(len(fetched) + 2, fetched.shape[-1])
        written[1:-1] = fetched
        written[-1] = self._value(f"{kind}.output", target) - fetched.sum(0)  # biases, edits, and what is left out
        table = torch.zeros_like(written)
        table[0] = self._stream("" if kind == "self" else "self", target)
        terms = through(residual, table, written, len(table) - 1)
        near = proximity(terms[:-1], terms.sum(0))
        shares = near / near.sum().clamp(min=1e-30)
        by_head = torch.zeros(shape).flatten().index_copy(0, places, shares[1:]).view(shape)
        stream = Edge(self.layer, "stream", target, target, float(shares[0]))
        sources = [int(source) for source in (by_head.sum(0) >= threshold).nonzero()[:, 0]]
        looks = [Edge(self.layer, kind, target, j, float(by_head[:, j].sum()), _ranked(by_head[:, j])) for j in sources]
        return ([stream] if stream.share >= threshold else []) + looks

    def _fetched(self, kind: str, target: int) -> tuple[Float[Tensor, "term width"], Tensor, torch.Size]:
        """What heads write from the keys that this token looks at, which of all heads' keys these are, and how many.

        The shortest are left out: together they are shorter than NEGLIGIBLE times what the stream was.
        """
        if kind not in self.carried:
            seen = scene(self.model, self.trace, f"{self.path}.{kind}")
            written = moved(seen.attention, repeat(seen.v, seen.attention.shared)[0].float().cpu())
            self.carried[kind] = seen, written, written.abs().sum(-1)
        seen, written, lengths = self.carried[kind]
        weights = seen.made(None, slice(target, target + 1))["weights"][:, 0].float().cpu()
        sizes, order = (weights * lengths).flatten().sort()
        enough = NEGLIGIBLE * self._stream("" if kind == "self" else "self", target).abs().sum()
        places = order[int((sizes.cumsum(0) <= enough).sum()) :]
        return weights.flatten()[places, None] * written.flatten(0, 1)[places], places, weights.shape


def _ranked(shares: Float[Tensor, " head"]) -> tuple[tuple[int, float], ...]:
    """The heads that have a share, largest first."""
    order = shares.argsort(descending=True).tolist()
    return tuple((head, float(shares[head])) for head in order if shares[head] > 0)
