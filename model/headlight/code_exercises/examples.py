"""The cases that solutions are checked with: random numbers of stated shapes, and masks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from headlight.code_exercises.case import Case
from headlight.code_exercises.checks import MakeCase


def example(*shape: int, queries: int, keys: int, channels: int = 8, values: int = 0, heads: int = 0) -> Case:
    """A case of random numbers: `shape` is batch, or batch and head; a module splits its channels into `heads`."""
    generator = torch.Generator().manual_seed(sum(shape) + 7 * queries + keys)

    def draw(*sizes: int) -> Tensor:
        return torch.randn(*shape, *sizes, generator=generator)

    query, key = draw(queries, channels), draw(keys, channels)
    return Case(query=query, key=key, value=draw(keys, values or channels), heads=heads)


MODULE_INPUT = 3.0  # how wide a module's inputs spread: the small weights that layers begin with make scores small


def self_attention(batch: int, tokens: int, channels: int, heads: int = 0) -> Case:
    """A case in which queries, keys and values are made of the same input."""
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
    """With an example that has nothing but padding."""
    padded_case = padded(case)
    assert padded_case.mask is not None
    mask = padded_case.mask.clone()
    mask[-1] = False
    return replace(padded_case, mask=mask)


def five_tokens() -> Case:
    """Two texts of five tokens, 16 channels."""
    return example(2, queries=5, keys=5, channels=16)


def other_lengths() -> Case:
    """Three queries, five keys, and values of a width of their own."""
    return example(2, queries=3, keys=5, channels=4, values=6)


def split_heads_of(batch: int) -> MakeCase:
    """Queries, keys and values that are split into three heads already."""
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
