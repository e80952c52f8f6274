"""The ledger of an attention cell: who wrote the query, who wrote the key, and what each pair adds to the score.

A query and a key are each a sum over the writers of the residual stream (`residual_stream`): token embedding, position,
every earlier head and feed-forward, and biases. The score is bilinear in both, and a rotary embedding is a rotation, so
the score is a sum over pairs of writers (Elhage et al. 2021, "Attention as bilinear form"; Kamath et al. 2025, "QK
attributions"). Norms are frozen at their scale. The ledger says how the score comes about; it leaves out the softmax,
in which the other keys of the row have a part, and what would change if a writer were not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from headlight.analysis.residual_stream import (
    KEEP as STREAM_KEEP,
)
from headlight.analysis.residual_stream import (
    Component,
    Decomposition,
    StreamDecomposer,
    add_to_row,
    linearize,
    linearize_activation,
)
from headlight.array_types import Float
from headlight.errors import EditError, shortened
from headlight.nn.attention import AllHeadsNorm, PerHeadNorm
from headlight.nn.attention_functions import AttentionFunction
from headlight.nn.layers import soft_cap
from headlight.nn.transformer import Transformer
from headlight.tracing.recompute import RecomputedAttention, recompute_attention
from headlight.tracing.trace import Trace

# What a trace must hold, besides the values of the residual stream that edits changed.
KEEP = (*STREAM_KEEP, "*.self.input", "*.cross.input", "*.residual*", "*.self.output", "*.cross.output", "*_residual")
RELATIVE_POSITION = Component("relative_position")
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
        """From its text form, `decoder.1.self[3,5,2]`. Raises EditError for what is no cell."""
        match = _CELL_PATTERN.fullmatch(text.strip())
        if not match:
            raise EditError(
                f"{shortened(text)!r} is no cell. A cell reads STACK.LAYER.KIND[HEAD,QUERY,KEY], counted from 0, as in "
                "decoder.1.self[3,5,2]."
            )
        return cls(match[1], *map(int, match.groups()[1:]))

    def __str__(self) -> str:
        return f"{self.path}[{self.head},{self.query},{self.key}]"


@dataclass(frozen=True)
class Ledger:
    """The score of a cell as it enters the softmax, as a sum of `parts` and `terms`.

    Writers have paths such as `decoder.0.self[3]`; one that wrote nothing is left out. `terms` belong to no pair:
    `position_bias`, `soft_cap`, `edit` (of the scores), and `rounding`, by which the model's own precision differs from
    the 64 bits of the ledger.
    """

    cell: Cell
    score: float
    query_writers: tuple[str, ...]
    key_writers: tuple[str, ...]
    parts: Float[np.ndarray, "query_writer key_writer"]
    terms: Mapping[str, float]

    def by_query_writer(self) -> list[tuple[str, float]]:
        """What each writer of the query adds with all writers of the key together, largest first."""
        return _ranked(self.query_writers, self.parts.sum(1))

    def by_key_writer(self) -> list[tuple[str, float]]:
        """What each writer of the key adds with all writers of the query together, largest first."""
        return _ranked(self.key_writers, self.parts.sum(0))

    def pairs(self) -> list[tuple[str, str, float]]:
        """Every pair of query writer and key writer with what it adds, largest first."""
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

    Raises EditError for a cell that does not exist, that the mask forbids, or for a trace that lacks what is needed.
    """
    cell = Cell.parse(cell) if isinstance(cell, str) else cell
    attention = recompute_attention(model, trace, cell.path)
    _require_cell(cell, attention)
    values = {
        name: value[0, 0, cell.key].double()
        for name, value in attention.compute(
            slice(cell.query, cell.query + 1), slice(cell.head, cell.head + 1)
        ).items()
    }
    if not values["mask"]:
        raise EditError(
            f"The mask forbids the cell {cell}: token {cell.query} does not attend to token {cell.key}, so no score of "
            "theirs enters the softmax."
        )
    query, key = _Sides(model, trace, cell, attention).decomposed()
    parts = attention.scale[0, cell.head].double() * (query.table @ key.table.T)
    parts = _with_relative_positions(parts, query, key, cell, attention)
    terms = _terms(attention, values, parts, _is_edited(trace, cell))
    used_rows, used_columns = parts.any(1) | query.is_writing(len(parts)), parts.any(0) | key.is_writing(len(parts.T))
    return Ledger(
        cell,
        float(values["masked_scores"]),
        tuple(name for name, used in zip(query.names, used_rows, strict=False) if used),
        tuple(name for name, used in zip(key.names, used_columns, strict=False) if used),
        parts[used_rows][:, used_columns].numpy(),
        terms,
    )
