"""Information flow routes: the tokens, layers and heads that the output at one token comes from.

Ferrando and Voita 2024, "Information Flow Routes", section 2: a vector is a sum of terms, and a term's importance is
its proximity, |sum| - |sum - term| in the 1-norm and never below zero, divided by the sum of all terms' proximities.
The graph begins at one token after the last layer and goes down along the edges whose importance reaches a threshold.
Biases have no edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.analysis.moved_values import require_no_gate
from headlight.analysis.residual_stream import (
    per_head_output,
    require_attention_alone,
    require_one_stream,
    through_residual,
)
from headlight.array_types import Float
from headlight.errors import TextError
from headlight.nn.attention import repeat_key_values
from headlight.nn.stack import Block, ResidualConnection
from headlight.nn.transformer import Transformer
from headlight.tracing.recompute import RecomputedAttention, recompute_attention
from headlight.tracing.trace import Trace, position_index

KEEP = (
    "*.residual",
    "*.residual_after_self",
    "*.residual_after_cross",
    "*.residual_after_feed_forward",
    "*.self.input",
    "*.cross.input",
    "*.output",
    "encoder.final_residual",
)
DEFAULT_THRESHOLD = 0.04
NEGLIGIBLE_SHARE = 0.001  # of the residual's norm: the shortest terms are skipped if together below it


@dataclass(frozen=True)
class Edge:
    """One term of the residual stream of the token `target` after a block, and its share of the sum.

    `kind` is "residual" (the token's own stream before), "self" (from the token `source`), "cross" (from the token
    `source` of the source text), "feed_forward" or "layer_embedding" (from itself). `heads` lists the shares of single
    heads, largest first.
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
    """The edges that lead to one token of the predicting stack, from the last layer down.

    `trace` holds KEEP. Raises TextError for a position that does not exist or a threshold outside 0 to 1, ConfigError
    for a model of several residual streams.
    """
    require_one_stream(trace.config, "information flow")
    require_attention_alone(trace.config, "information flow")
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


def proximity(terms: Float[Tensor, "*term d_model"], total: Float[Tensor, " d_model"]) -> Float[Tensor, "*term"]:
    """The proximity of each term to the total: |total| - |total - term| in the 1-norm, at least 0."""
    return (total.abs().sum() - (terms - total).abs().sum(-1)).clamp(min=0)


class _LayerFlow:
    """One block: the terms of each token's residual stream after each sublayer."""

    def __init__(self, model: Transformer, trace: Trace, path: str, layer: int, block: Block) -> None:
        self.model, self.trace, self.path, self.layer, self.block = model, trace, path, layer, block
        self.value_terms: dict[str, tuple[RecomputedAttention, Tensor, Tensor]] = {}

    def edges(self, target: int, threshold: float) -> list[Edge]:
        """The edges into one token, from the last sublayer down, as long as the residual edge reaches further."""
        block, found = self.block, [Edge(self.layer, "residual", target, target, 1.0)]
        sublayers = {
            "layer_embedding": block.layer_embedding_residual,
            "feed_forward": block.feed_forward_residual,
            "cross": block.cross_attention_residual,
            "self": block.self_attention_residual,
        }
        for kind, residual in sublayers.items():
            if residual is None:
                continue
            edges_of = self._attention if kind in ("cross", "self") else self._token_sublayer
            found = [edge for edge in found if edge.kind != "residual"] + edges_of(kind, residual, target, threshold)
            if not any(edge.kind == "residual" for edge in found):
                break
        return found

    def _value(self, path: str, target: int) -> Tensor:
        return torch.tensor(self.trace[f"{self.path}.{path}"][target])

    def _residual(self, after: str, target: int) -> Tensor:
        return self._value({"": "residual"}.get(after, f"residual_after_{after}"), target)

    def _token_sublayer(self, kind: str, connection: ResidualConnection, target: int, threshold: float) -> list[Edge]:
        is_last, after_attention = kind == "layer_embedding", "self" if self.block.cross_attention is None else "cross"
        residual = self._residual("feed_forward" if is_last else after_attention, target)
        zeros = torch.zeros_like(residual)
        table = torch.stack((residual, zeros, zeros))
        sublayer_output = torch.stack((zeros, self._value(f"{kind}.output", target), zeros))
        is_parallel = self.block.parallel_residual and not is_last
        residual_input = torch.stack((self._residual("", target), zeros, zeros)) if is_parallel else table
        terms = through_residual(connection, residual_input, sublayer_output, 2, onto=table)
        proximities = proximity(terms[:2], terms.sum(0))
        shares = (proximities / proximities.sum().clamp(min=1e-30)).tolist()
        kinds = zip(("residual", kind), shares, strict=True)
        return [Edge(self.layer, kind, target, target, share) for kind, share in kinds if share >= threshold]

    def _attention(self, kind: str, residual: ResidualConnection, target: int, threshold: float) -> list[Edge]:
        value_terms, cells, shape = self._weighted_value_terms(kind, target)
        sublayer_output = torch.zeros(len(value_terms) + 2, value_terms.shape[-1])
        sublayer_output[1:-1] = value_terms
        sublayer_output[-1] = self._value(f"{kind}.output", target) - value_terms.sum(
            0
        )  # biases, edits, and skipped terms
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

    def _weighted_value_terms(self, kind: str, target: int) -> tuple[Float[Tensor, "term d_model"], Tensor, torch.Size]:
        """The terms of a target's attention: weight x value x output projection, for each head and key.

        Also returns their indices in the flattened [head key] cells, and that shape. The shortest terms are skipped:
        together they are below NEGLIGIBLE_SHARE of the residual's norm.
        """
        if kind not in self.value_terms:
            attention = recompute_attention(self.model, self.trace, f"{self.path}.{kind}")
            require_no_gate(attention.attention)
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
    """The heads with a share above 0, largest first."""
    order = shares.argsort(descending=True).tolist()
    return tuple((head, float(shares[head])) for head in order if shares[head] > 0)
