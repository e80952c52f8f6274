"""The cases that solutions are checked with, the right answer to each, and the comparison of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from headlight.array_types import Float, Shaped
from headlight.config import Config
from headlight.nn.attention import Attention, AttentionContext, merge_heads, split_heads
from headlight.nn.masks import QueryKeyPositions
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The linear maps of a module; `output` is None if the exercise has no output projection."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    output: nn.Linear | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """The arguments of one call. A mask is 1 where a query may attend: (batch, key), or (batch, query, key).

    Queries, keys and values of a function may have a head axis; a module has `layers`, and splits its channels into
    `heads` unless that is 0.
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
        """The shapes of the arguments."""
        given = {"query": self.query, "key": self.key, "value": self.value, "mask": self.mask}
        if self.layers and not self.layers.output:
            given = {"x": self.query}
        return ", ".join(f"{name} {shape_text(value)}" for name, value in given.items() if value is not None)


@dataclass(frozen=True)
class AttentionResult:
    """Results of attention: the output, with heads joined if a module joins them, and the weights of each head."""

    output: Float[Tensor, "batch *head query value_channel"]
    weights: Float[Tensor, "batch *split_head query key"]


def shape_text(value: Tensor) -> str:
    """A shape as text, such as (2, 5, 16)."""
    return str(tuple(value.shape))


def right_result(case: Case) -> AttentionResult:
    """The output and the weights, computed by `Attention`."""
    attention, values = _attention_for(case), dict[str, Tensor]()
    q, k, v = (
        _with_heads(layer(x) if case.layers else x, case)
        for layer, x in zip(attention.projections, (case.query, case.key, case.value), strict=True)
    )

    def keep(name: str, value: Tensor) -> Tensor:
        values[name] = value
        return value

    output = attention.attend(q, k, v, _context(case, q.shape[2], k.shape[2]), keep)
    weights = values["weights"]
    if case.layers and case.layers.output:
        return AttentionResult(attention.output(merge_heads(output)), weights)
    return AttentionResult(output, weights) if case.query.dim() == 4 else AttentionResult(output[:, 0], weights[:, 0])


def allowed_cells(mask: Tensor) -> Tensor:
    """The mask as (batch, head, query, key); the axes of heads and queries may have length 1."""
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
    """Headlight's attention module, with the weights of the learner's module."""
    with torch.random.fork_rng(devices=[]):  # the initial random weights are overwritten or unused
        attention = Attention(_config(case)).eval().requires_grad_(False)
    if case.layers:
        for name in ("query", "key", "value", "output"):
            _copy(getattr(case.layers, name), getattr(attention, name))
    return attention


def _copy(source: nn.Linear | None, target: nn.Linear) -> None:
    if source:
        target.weight.copy_(source.weight.detach())
        target.bias.zero_() if source.bias is None else target.bias.copy_(source.bias.detach())


TOLERANCE = 1e-4  # absolute and relative; solutions may sum in another order


def agrees(given: Tensor, right: Tensor) -> bool:
    """Whether both have the same shape and, up to rounding, the same numbers; NaN agrees with NaN."""
    return given.shape == right.shape and torch.allclose(
        given.detach().float(), right.detach().float(), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True
    )


def describe_difference(name: str, given: Tensor, right: Tensor) -> str:
    """The shapes if they differ, else the first number that differs."""
    if given.shape != right.shape:
        return f"{name} has the shape {shape_text(given)}, and {shape_text(right)} is right"
    given, right = given.detach().float(), right.detach().float()
    differs = ~torch.isclose(given, right, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    first = tuple(int(index) for index in differs.nonzero()[0])
    place = ", ".join(map(str, first))
    share = f"{int(differs.sum())} of {differs.numel()} numbers differ"
    return f"{name}[{place}] is {float(given[first]):.4f}, and {float(right[first]):.4f} is right ({share})"


MakeCase = Callable[[], Case]


def example(*shape: int, queries: int, keys: int, channels: int = 8, values: int = 0, heads: int = 0) -> Case:
    """A case of random numbers: `shape` is batch, or batch and head; a module splits its channels into `heads`."""
    generator = torch.Generator().manual_seed(sum(shape) + 7 * queries + keys)

    def draw(*sizes: int) -> Tensor:
        return torch.randn(*shape, *sizes, generator=generator)

    query, key = draw(queries, channels), draw(keys, channels)
    return Case(query=query, key=key, value=draw(keys, values or channels), heads=heads)


MODULE_INPUT = 3.0  # the spread of a module's inputs: layers start with small weights, which make scores small


def self_attention(batch: int, tokens: int, channels: int, heads: int = 0) -> Case:
    """A case in which queries, keys and values come from the same input."""
    x = MODULE_INPUT * example(batch, queries=tokens, keys=tokens, channels=channels).query
    return Case(query=x, key=x, value=x, heads=heads)


def padded(case: Case) -> Case:
    """With a mask (batch, key) that hides some keys at the end of each example, more in the later ones."""
    batch, keys = case.key.shape[0], case.key.shape[-2]
    hidden = torch.arange(batch) * (keys - 1) // max(1, batch - 1)
    return replace(case, mask=torch.arange(keys) < (keys - hidden)[:, None])


def causal(case: Case) -> Case:
    """With a mask (batch, query, key) that hides the future."""
    batch, tokens = case.key.shape[0], case.key.shape[-2]
    return replace(case, mask=torch.ones(batch, tokens, tokens, dtype=torch.bool).tril())


def as_numbers(case: Case) -> Case:
    """With the same mask as whole numbers 1 and 0."""
    assert case.mask is not None
    return replace(case, mask=case.mask.long())


def with_empty_row(case: Case) -> Case:
    """With an example that consists of padding only."""
    padded_case = padded(case)
    assert padded_case.mask is not None
    mask = padded_case.mask.clone()
    mask[-1] = False
    return replace(padded_case, mask=mask)


def five_tokens() -> Case:
    """Two texts of five tokens, 16 channels."""
    return example(2, queries=5, keys=5, channels=16)


def other_lengths() -> Case:
    """Three queries, five keys, and values of another width."""
    return example(2, queries=3, keys=5, channels=4, values=6)


def split_heads_of(batch: int) -> MakeCase:
    """Queries, keys and values that are already split into heads."""
    return lambda: example(batch, 3, queries=4, keys=4, values=5)


def heads_of(batch: int, heads: int = 4) -> MakeCase:
    """Self-attention for a module of several heads."""
    return lambda: self_attention(batch, 5, 24, heads)


def another_text() -> Case:
    """Queries of one input, keys of a second, values of a third."""
    case = example(2, queries=3, keys=5, channels=24, heads=4)
    return replace(case, query=MODULE_INPUT * case.query, key=MODULE_INPUT * case.key)


def with_mask(add: Callable[[Case], Case], make_case: MakeCase) -> MakeCase:
    """The case with a mask."""
    return lambda: add(make_case())
