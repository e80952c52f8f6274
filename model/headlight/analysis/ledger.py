"""The ledger of an attention cell: the writers of the query and of the key, and each pair's share of the score.

A query and a key are each a sum over the writers of the residual stream (`residual_stream`): token embedding, position,
every earlier head and feed-forward, and biases. The score is bilinear in both, and a rotary embedding is a rotation, so
the score is a sum over pairs of writers (Elhage et al. 2021, "Attention as bilinear form"; Kamath et al. 2025, "QK
attributions"). Norms are frozen at their current scale. The ledger explains the score; it does not cover the softmax,
which depends on the other keys of the row, or what would change without a writer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.analysis import residual_stream
from headlight.analysis.residual_stream import (
    Decomposition,
    StreamDecomposer,
    add_to_row,
    linearize,
    linearize_activation,
)
from headlight.array_types import Float
from headlight.errors import EditError, shortened
from headlight.nn.attention import AllHeadsNorm, Attention, EachHeadNorm
from headlight.nn.attention_functions import AttentionFunction
from headlight.nn.layers import Compression, soft_cap
from headlight.nn.transformer import Transformer, attention_at
from headlight.tracing.interventions import is_edited
from headlight.tracing.recompute import RecomputedAttention, recompute_attention
from headlight.tracing.trace import Trace

# Values that a trace must hold, besides edited values of the residual stream.
KEEP = (*residual_stream.KEEP, "*.self.input", "*.cross.input", "*.output", "*.residual*", "*.final_residual")
NEGLIGIBLE_SHARE = 1e-7  # relative to the longest writer's vector
_CELL_PATTERN = re.compile(r"([a-z_]+\.\d+\.[a-z]+)\[\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\]")


@dataclass(frozen=True)
class Cell:
    """One weight of one head: the path of its attention, and head, query and key, counted from 0."""

    path: str
    head: int
    query: int
    key: int

    @classmethod
    def parse(cls, text: str) -> Cell:
        """From its text form, `decoder.1.self[3,5,2]`. Raises EditError for any other text."""
        match = _CELL_PATTERN.fullmatch(text.strip())
        if not match:
            raise EditError(
                f"{shortened(text)!r} is not a cell. A cell reads STACK.LAYER.KIND[HEAD,QUERY,KEY], counted from 0, as "
                "in decoder.1.self[3,5,2]."
            )
        return cls(match[1], *map(int, match.groups()[1:]))

    def __str__(self) -> str:
        return f"{self.path}[{self.head},{self.query},{self.key}]"


@dataclass(frozen=True)
class Ledger:
    """The score of a cell as it enters the softmax, as a sum of `parts` and `terms`.

    Writers have paths such as `decoder.0.self[3]`; writers of nothing are omitted. `terms` belong to no pair:
    `position_bias`, `soft_cap`, `edit` (of the scores), and `rounding`, the difference that the model's own precision
    makes, because the ledger computes in 64 bits.
    """

    cell: Cell
    score: float
    query_writers: tuple[str, ...]
    key_writers: tuple[str, ...]
    parts: Float[np.ndarray, "query_writer key_writer"]
    terms: Mapping[str, float]

    def by_query_writer(self) -> list[tuple[str, float]]:
        """The sum of each query writer over all key writers, largest first."""
        return _ranked(self.query_writers, self.parts.sum(1))

    def by_key_writer(self) -> list[tuple[str, float]]:
        """The sum of each key writer over all query writers, largest first."""
        return _ranked(self.key_writers, self.parts.sum(0))

    def pairs(self) -> list[tuple[str, str, float]]:
        """Every pair of query writer and key writer with its part of the score, largest first."""
        order = np.argsort(-self.parts, axis=None, kind="stable")
        rows, columns = np.unravel_index(order, self.parts.shape)
        return [
            (self.query_writers[row], self.key_writers[column], float(self.parts[row, column]))
            for row, column in zip(rows, columns, strict=True)
        ]


def _ranked(names: tuple[str, ...], totals: np.ndarray) -> list[tuple[str, float]]:
    return [(names[row], float(totals[row])) for row in np.argsort(-totals, kind="stable")]


@torch.inference_mode()
def cell_ledger(model: Transformer, trace: Trace, cell: Cell | str) -> Ledger:
    """The ledger of a cell of a text that this model read; its trace holds KEEP.

    Raises EditError for a cell that does not exist or that the mask forbids, or for a trace with missing values.
    """
    cell = Cell.parse(cell) if isinstance(cell, str) else cell
    attention = recompute_attention(model, trace, cell.path)
    _require_cell(cell, attention)
    computed = attention.compute(slice(cell.query, cell.query + 1), slice(cell.head, cell.head + 1))
    values = {name: value[0, 0, cell.key].double().cpu() for name, value in computed.items()}
    if not values["mask"]:
        raise EditError(
            f"The mask forbids the cell {cell}: token {cell.query} may not attend to token {cell.key}, so no score "
            "enters the softmax there."
        )
    key_path = model.config.key_value_path(cell.path)
    entry = _Entry(trace, cell, attention, key_path, attention_at(model, key_path)[0])
    query, key = entry.writers(model)
    parts = attention.scale_and_sinks.scale[0, cell.head].double().cpu() * (query.table @ key.table.T)
    if entry.splits_content_bias:
        query, key, parts = entry.with_relative_positions(query, key, parts)
    score = float(values["masked_scores"])
    return Ledger(cell, score, query.names, key.names, parts.numpy(), entry.terms(parts, values))


def _require_cell(cell: Cell, attention: RecomputedAttention) -> None:
    """Raise EditError unless the attention has the cell."""
    sizes = {"head": attention.q.shape[1], "query": attention.q.shape[2], "key": attention.k.shape[2]}
    for axis, size in sizes.items():
        if not 0 <= getattr(cell, axis) < size:
            raise EditError(
                f"There is no {axis} {getattr(cell, axis)} in {cell}: {cell.path} has {size}, counted from 0."
            )


@dataclass(frozen=True)
class _Writers:
    """The writers of a query or a key by name, and the head's projection of each."""

    names: tuple[str, ...]
    table: Float[Tensor, "writer head_dim"]
    bias_row: int
    edit_row: int

    def that_wrote(self) -> _Writers:
        """Drops writers whose vectors are only rounding errors."""
        sizes = self.table.norm(dim=-1)
        rows = (sizes > NEGLIGIBLE_SHARE * sizes.max()).nonzero()[:, 0].tolist()
        return replace(self, names=tuple(self.names[row] for row in rows), table=self.table[rows])


@dataclass(frozen=True)
class _Entry:
    """Computes one cell from the residual stream to its score; an earlier attention may have computed the keys."""

    trace: Trace
    cell: Cell
    attention: RecomputedAttention
    key_path: str
    key_attention: Attention

    def writers(self, model: Transformer) -> tuple[_Writers, _Writers]:
        """The writers of the query and of the key."""
        cell, (stack, layer, kind) = self.cell, self.cell.path.split(".")
        layers = int(layer) + (kind == "cross")
        positions = [cell.query, cell.key] if kind == "self" else [cell.query]
        decomposer = StreamDecomposer(model, self.trace, positions, stack, layers=layers)
        tables = decomposer.attention_input(int(layer), kind)
        query = _Writers(_names(decomposer), tables[:, 0], decomposer.bias_row(int(layer)), decomposer.edit_row)
        if kind == "self":
            key_layer = int(self.key_path.split(".")[1])
            key_table = (tables if key_layer == int(layer) else decomposer.attention_input(key_layer, kind))[:, 1]
            key = replace(query, table=key_table, bias_row=decomposer.bias_row(key_layer))
            return self._head_vectors(query, "q"), self._head_vectors(key, "k")
        encoder = StreamDecomposer(model, self.trace, cell.key, "encoder")
        key = _Writers(_names(encoder), encoder.through_stack(), encoder.outer_bias_row, encoder.edit_row)
        return self._head_vectors(query, "q"), self._head_vectors(key, "k")

    def _head_vectors(self, writers: _Writers, name: Literal["q", "k"]) -> _Writers:
        """The head's query or key part of each writer: projected, normed, rotated, and with the feature map applied."""
        recomputed, module, row = self.attention, self.attention.attention, writers.bias_row
        positions, head = recomputed.context.positions, self.cell.head
        if name == "q":
            computed, token, ids = recomputed.q[0], self.cell.query, positions.queries
            table = _compressed(module.query_compression, writers.table, row)
            table = _project(module, module.query, module.query_norm, table, row, head)
            table = table * module.query_factor(ids[token : token + 1]).cpu()
        else:
            computed, token, ids = recomputed.k[0], self.cell.key, positions.keys
            maker = self.key_attention
            head, compression = head // module.group_size, maker.key_value_compression
            table = _compressed(compression, writers.table, row)
            table, shared = (table, table[:, :0]) if compression is None else compression.split(table)
            assert maker.key is not None  # of the attention that computes the keys
            table = torch.cat((shared, _project(maker, maker.key, maker.key_norm, table, row, head)), dim=-1)
        table = self._rotate(table, ids.cpu(), token)
        keys_edited = is_edited(self.trace, *(f"{self.key_path}.{each}" for each in ("latent", "k", "rotated_k")))
        if self.is_edited(name, f"rotated_{name}") or (name == "k" and keys_edited):
            table = add_to_row(table, computed[head, token].cpu().double() - table.sum(0), writers.edit_row)
        function = module.attention_function
        if type(function).feature_map is not AttentionFunction.feature_map:
            table = linearize_activation(function.feature_map, table, row)
        return replace(writers, table=table).that_wrote()

    def _rotate(self, table: Decomposition, position_ids: Tensor, token: int) -> Decomposition:
        # Includes the last position, because the frequencies of some encodings depend on the length of the text.
        pair = torch.stack((position_ids[token], position_ids.max()))
        vectors = table[:, None, None].expand(-1, 1, 2, -1)
        return self.attention.context.positional_encoding.rotate(vectors, pair)[:, 0, 0]

    @property
    def splits_content_bias(self) -> bool:
        """Whether the scores have a bias that is linear in the query and in the key (disentangled attention)."""
        is_added = type(self.attention.attention.attention_function).add_bias is AttentionFunction.add_bias
        return self.attention.context.positional_encoding.has_content_bias and is_added

    def with_relative_positions(
        self, query: _Writers, key: _Writers, parts: Tensor
    ) -> tuple[_Writers, _Writers, Float[Tensor, "query_writer key_writer"]]:
        """Writers and parts, with the distance between the tokens as one more writer on each side."""
        parts = functional.pad(parts, (0, 1, 0, 1))
        parts[:-1, -1] = self._content_bias(query.table, torch.zeros_like(query.table))
        parts[-1, :-1] = self._content_bias(torch.zeros_like(key.table), key.table)
        query, key = (replace(each, names=(*each.names, "relative_position")) for each in (query, key))
        return query, key, parts

    def _content_bias(self, q: Decomposition, k: Decomposition) -> Float[Tensor, " writer"]:
        """The bias that the encoding adds for some queries and keys of the head, at the distance between the tokens."""
        attention, positions = self.attention, self.attention.context.positions
        both = torch.zeros(2, len(q), attention.q.shape[1], 1, q.shape[-1]).to(attention.q)
        both[:, :, self.cell.head, 0] = torch.stack((q, k)).to(both)
        distance = (positions.queries[self.cell.query] - positions.keys[self.cell.key]).reshape(1, 1)
        projection = attention.attention.relative_position_projection
        bias = attention.context.positional_encoding.content_bias(both[0], both[1], projection, -distance)
        return (bias[:, :, 0, 0] * attention.scale_and_sinks.scale)[:, self.cell.head].double().cpu()

    def terms(self, parts: Tensor, values: Mapping[str, Tensor]) -> dict[str, float]:
        """The terms that belong to no pair of writers, by name, so that everything adds up to the score."""
        module, encoding = self.attention.attention, self.attention.context.positional_encoding
        total, terms = parts.sum(), {}

        def step(name: str, after: Tensor) -> None:
            nonlocal total
            terms[name], total = float(after - total), after

        in_parts = parts[-1].sum() + parts[:, -1].sum() if self.splits_content_bias else 0.0
        if (encoding.adds_to_scores and not self.splits_content_bias) or self.is_edited("bias"):
            bias = (values["bias"] - in_parts).view(1, 1, 1)
            step("position_bias", module.attention_function.add_bias(total.view(1, 1, 1), bias)[0, 0, 0])
        if module.score_soft_cap:
            step("soft_cap", soft_cap(total, module.score_soft_cap))
        step("edit" if self.is_edited("scores", "masked_scores") else "rounding", values["masked_scores"])
        return terms

    def is_edited(self, *names: str) -> bool:
        """Whether an edit changed one of these values of the attention."""
        return is_edited(self.trace, *(f"{self.cell.path}.{name}" for name in names))


def _names(decomposer: StreamDecomposer) -> tuple[str, ...]:
    return tuple(component.path(decomposer.name) for component in decomposer.components)


def _compressed(compression: Compression | None, table: Decomposition, bias_row: int) -> Decomposition:
    return table if compression is None else linearize(compression, table, bias_row)


def _project(
    attention: Attention, linear: nn.Linear, norm: nn.Module, table: Decomposition, bias_row: int, head: int
) -> Float[Tensor, "writer head_dim"]:
    """The query or key of one head from the sum of a table's rows: projected, normed and limited."""
    head_dim = linear.out_features // (attention.heads if linear is attention.query else attention.key_value_heads)
    channels = slice(head * head_dim, (head + 1) * head_dim)
    of_all_heads = isinstance(norm, AllHeadsNorm)
    rows = slice(None) if of_all_heads else channels
    bias = None if linear.bias is None else linear.bias[rows]
    table = add_to_row(table @ linear.weight[rows].to(table).T, bias, bias_row)
    if isinstance(norm, EachHeadNorm):
        plain = nn.LayerNorm(head_dim, norm.epsilon, elementwise_affine=False)
        table = linearize(plain, table, bias_row) * norm.weight[channels].to(table)
    else:
        table = linearize(norm, table, bias_row)
    table = table[:, channels] if of_all_heads else table
    if limit := attention.qkv_limit:
        table = linearize_activation(lambda x: x.clamp(-limit, limit), table, bias_row)
    return table
