"""From which tokens, through which layers and heads, an answer came: the graph of information flow.

Ferrando and Voita 2024, "Information Flow Routes", section 2: a vector is a sum of terms, and a term's share in it is
its proximity, |sum| - |sum - term| in the 1-norm and never below zero, divided by that of all terms. The graph begins
at one token after the last layer and goes down along the edges whose share reaches a threshold. Biases have no share.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.analysis.head_outputs import per_head_output, through_residual
from model.array_types import Float
from model.errors import TextError
from model.nn.attention import repeat_key_values
from model.nn.block import Block
from model.nn.transformer import Transformer
from model.tracing.indices import position_index
from model.tracing.recompute import RecomputedAttention, recompute_attention
from model.tracing.trace import Trace

KEEP = (
    "*.residual",
    "*.residual_after_self",
    "*.residual_after_cross",
    "*.self.input",
    "*.cross.input",
    "*.output",
    "encoder.final_residual",
)
DEFAULT_THRESHOLD = 0.04
NEGLIGIBLE_SHARE = 0.001


@dataclass(frozen=True)
class Edge:
    """What one token's stream after a block holds of something else, as a share of the sum it is part of.

    `kind` is "residual" (the token's own before), "self", "cross" (from a token of the source) or "feed_forward" (of
    this token; `source` is its own place). `heads` lists the shares of single heads, largest first.
    """

    layer: int
    kind: str
    target: int
    source: int
    importance: float
    heads: tuple[tuple[int, float], ...] = ()


@torch.inference_mode()
def information_flow(
    model: Transformer, trace: Trace, position: int = -1, threshold: float = DEFAULT_THRESHOLD
) -> tuple[Edge, ...]:
    """The edges that lead to one token of the answering stack, from the last layer down.

    `trace` holds KEEP. Raises TextError for a token that is not there or a threshold outside 0 to 1.
    """
    name = trace.config.stacks[-1]
    if not 0 < threshold <= 1:
        raise TextError(f"The threshold is {threshold}; it must be above 0 and at most 1.")
    edges: list[Edge] = []
    targets = {position_index(position, len(trace.text.ids))}
    for layer, block in reversed(list(enumerate(model.stack(name).blocks))):
        assert isinstance(block, Block)
        layer_flow = _LayerFlow(model, trace, f"{name}.{layer}", layer, block)
        layer_edges = [edge for target in sorted(targets) for edge in layer_flow.edges(target, threshold)]
        edges += layer_edges
        targets = {edge.source for edge in layer_edges if edge.kind in ("residual", "self")}
    return tuple(edges)


def proximity(terms: Float[Tensor, "*term width"], total: Float[Tensor, " width"]) -> Float[Tensor, "*term"]:
    """How near each term comes to the whole: |whole| - |whole - term| in the 1-norm, at least 0."""
    return (total.abs().sum() - (terms - total).abs().sum(-1)).clamp(min=0)


class _LayerFlow:
    """One block: the terms of each token's stream after each of its sublayers."""

    def __init__(self, model: Transformer, trace: Trace, path: str, layer: int, block: Block) -> None:
        self.model, self.trace, self.path, self.layer, self.block = model, trace, path, layer, block
        self.value_terms: dict[str, tuple[RecomputedAttention, Tensor, Tensor]] = {}

    def edges(self, target: int, threshold: float) -> list[Edge]:
        """The edges into one token, top down, as long as the stream below is reached."""
        found = self._feedforward(target, threshold)
        kinds = ("cross", "self") if self.block.cross_attention is not None else ("self",)
        for kind in kinds:
            if not any(edge.kind == "residual" for edge in found):
                return found
            found = [edge for edge in found if edge.kind != "residual"] + self._attention(kind, target, threshold)
        return found

    def _value(self, path: str, target: int) -> Tensor:
        return torch.tensor(self.trace[f"{self.path}.{path}"][target])

    def _residual(self, after: str, target: int) -> Tensor:
        return self._value({"": "residual"}.get(after, f"residual_after_{after}"), target)

    def _feedforward(self, target: int, threshold: float) -> list[Edge]:
        residual = self._residual("self" if self.block.cross_attention is None else "cross", target)
        zeros = torch.zeros_like(residual)
        table = torch.stack((residual, zeros, zeros))
        sublayer_output = torch.stack((zeros, self._value("feed_forward.output", target), zeros))
        residual_input = (
            torch.stack((self._residual("", target), zeros, zeros)) if self.block.parallel_residual else table
        )
        terms = through_residual(self.block.feed_forward_residual, residual_input, sublayer_output, 2, onto=table)
        proximities = proximity(terms[:2], terms.sum(0))
        shares = (proximities / proximities.sum().clamp(min=1e-30)).tolist()
        kinds = zip(("residual", "feed_forward"), shares, strict=True)
        return [Edge(self.layer, kind, target, target, share) for kind, share in kinds if share >= threshold]

    def _attention(self, kind: str, target: int, threshold: float) -> list[Edge]:
        residual = self.block.self_attention_residual if kind == "self" else self.block.cross_attention_residual
        assert residual is not None
        value_terms, cells, shape = self._weighted_value_terms(kind, target)
        sublayer_output = torch.zeros(len(value_terms) + 2, value_terms.shape[-1])
        sublayer_output[1:-1] = value_terms
        sublayer_output[-1] = self._value(f"{kind}.output", target) - value_terms.sum(
            0
        )  # biases, edits, and what is left out
        table = torch.zeros_like(sublayer_output)
        table[0] = self._residual("" if kind == "self" else "self", target)
        terms = through_residual(residual, table, sublayer_output, len(table) - 1)
        proximities = proximity(terms[:-1], terms.sum(0))
        shares = proximities / proximities.sum().clamp(min=1e-30)
        by_head = torch.zeros(shape).flatten().index_copy(0, cells, shares[1:]).view(shape)
        residual_edge = Edge(self.layer, "residual", target, target, float(shares[0]))
        sources = [int(source) for source in (by_head.sum(0) >= threshold).nonzero()[:, 0]]
        attention_edges = [
            Edge(self.layer, kind, target, j, float(by_head[:, j].sum()), _heads_by_share(by_head[:, j]))
            for j in sources
        ]
        return ([residual_edge] if residual_edge.importance >= threshold else []) + attention_edges

    def _weighted_value_terms(self, kind: str, target: int) -> tuple[Float[Tensor, "term width"], Tensor, torch.Size]:
        """What heads write from the keys that this token looks at, which of all heads' keys these are, and how many.

        The shortest are left out: together they are shorter than NEGLIGIBLE times what the stream was.
        """
        if kind not in self.value_terms:
            attention = recompute_attention(self.model, self.trace, f"{self.path}.{kind}")
            head_outputs = per_head_output(
                attention.attention, repeat_key_values(attention.v, attention.attention.group_size)[0].float().cpu()
            )
            self.value_terms[kind] = attention, head_outputs, head_outputs.abs().sum(-1)
        attention, head_outputs, norms = self.value_terms[kind]
        weights = attention.compute(slice(target, target + 1))["weights"][:, 0].float().cpu()
        sizes, order = (weights * norms).flatten().sort()
        limit = NEGLIGIBLE_SHARE * self._residual("" if kind == "self" else "self", target).abs().sum()
        cells = order[int((sizes.cumsum(0) <= limit).sum()) :]
        return weights.flatten()[cells, None] * head_outputs.flatten(0, 1)[cells], cells, weights.shape


def _heads_by_share(shares: Float[Tensor, " head"]) -> tuple[tuple[int, float], ...]:
    """The heads that have a share, largest first."""
    order = shares.argsort(descending=True).tolist()
    return tuple((head, float(shares[head])) for head in order if shares[head] > 0)
