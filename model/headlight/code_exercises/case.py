"""What a solution is given in a check, and the right answer, by the attention that every model of Headlight runs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headlight.array_types import Float, Shaped
from headlight.config import Config
from headlight.nn.attention import Attention, AttentionContext, merge_heads, split_heads
from headlight.nn.masks import QueryKeyPositions
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The linear maps of a module; `output` is None where the exercise has none."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    output: nn.Linear | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """The arguments of one call. A mask is 1 where a query may look: (batch, key), or (batch, query, key).

    Queries, keys and values of a function may have a head axis; a module has `layers`, and splits its channels into
    `heads` where that is not 0.
    """

    query: Float[Tensor, "batch *head query channel"]
    key: Float[Tensor, "batch *head key channel"]
    value: Float[Tensor, "batch *head key value_channel"]
    mask: Shaped[Tensor, "batch *query key"] | None = None
    layers: Layers | None = None
    heads: int = 0

    @property
    def is_causal(self) -> bool:
        """Whether the mask differs from query to query."""
        return self.mask is not None and self.mask.dim() == 3

    def describe(self) -> str:
        """The shapes that were given."""
        given = {"query": self.query, "key": self.key, "value": self.value, "mask": self.mask}
        if self.layers and not self.layers.output:
            given = {"x": self.query}
        return ", ".join(f"{name} {shape_text(value)}" for name, value in given.items() if value is not None)


@dataclass(frozen=True)
class Answer:
    """What attention gives: the output, in which a module has joined its heads, and the weights of each head."""

    output: Float[Tensor, "batch *head query value_channel"]
    weights: Float[Tensor, "batch *split_head query key"]


def shape_text(value: Tensor) -> str:
    """A shape as it is written, such as (2, 5, 16)."""
    return str(tuple(value.shape))


def right_answer(case: Case) -> Answer:
    """The output and the weights, computed by `Attention`."""
    attention, values = _attention_for(case), dict[str, Tensor]()
    q, k, v = (
        _with_heads(layer(x) if case.layers else x, case)
        for layer, x in (
            (attention.query, case.query),
            (attention.key, case.key),
            (attention.value, case.value),
        )
    )

    def keep(name: str, value: Tensor) -> Tensor:
        values[name] = value
        return value

    output = attention.attend(q, k, v, _context(case, q.shape[2], k.shape[2]), keep)
    weights = values["weights"]
    if case.layers and case.layers.output:
        return Answer(attention.output(merge_heads(output)), weights)
    return Answer(output, weights) if case.query.dim() == 4 else Answer(output[:, 0], weights[:, 0])


def allowed_cells(mask: Tensor) -> Tensor:
    """The mask as batch, head, query and key, of which head and query may be 1."""
    by_query = mask.bool() if mask.dim() == 3 else mask.bool()[:, None, :]
    return by_query[:, None]


def _context(case: Case, queries: int, keys: int) -> AttentionContext:
    allowed = torch.ones(1, 1, 1, keys, dtype=torch.bool) if case.mask is None else allowed_cells(case.mask)
    positions = QueryKeyPositions(torch.arange(queries), torch.arange(keys))
    encoding = POSITIONAL_ENCODINGS["none"](_config(case))
    return AttentionContext(encoding, positions, allowed.expand(-1, -1, queries, -1))


def _with_heads(x: Tensor, case: Case) -> Tensor:
    return x if x.dim() == 4 else split_heads(x, case.heads or 1)


def _config(case: Case) -> Config:
    heads = case.heads or (case.query.shape[1] if case.query.dim() == 4 else 1)
    head_dim = case.query.shape[-1] // (case.heads or 1)
    return Config(
        vocabulary_size=1,
        context_length=1,
        layers=1,
        heads=heads,
        head_dim=head_dim,
        value_head_dim=case.value.shape[-1] // (case.heads or 1),
        d_model=heads * head_dim,
        positional_encoding="none",
        masks=(),
        bias=True,
    )


def _attention_for(case: Case) -> Attention:
    """Our module, with the weights of the learner's."""
    with torch.random.fork_rng(devices=[]):  # its first weights, which are overwritten or unused, are drawn at random
        attention = Attention(_config(case)).eval().requires_grad_(False)
    if case.layers:
        for name in ("query", "key", "value", "output"):
            _copy(getattr(case.layers, name), getattr(attention, name))
    return attention


def _copy(source: nn.Linear | None, target: nn.Linear) -> None:
    if source:
        target.weight.copy_(source.weight.detach())
        target.bias.zero_() if source.bias is None else target.bias.copy_(source.bias.detach())
