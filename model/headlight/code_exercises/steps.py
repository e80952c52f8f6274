"""The steps of attention as functions, each of which can be exchanged for a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from headlight.code_exercises.case import Answer, Case, allowed_cells
from headlight.nn.attention import merge_heads, split_heads


def project(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values; those of a module by its layers."""
    if not case.layers:
        return case.query, case.key, case.value
    return case.layers.query(case.query), case.layers.key(case.key), case.layers.value(case.value)


def dot_products(q: Tensor, k: Tensor) -> Tensor:
    """A row of scores for each query."""
    return q @ k.transpose(-2, -1)


def one_over_root(q: Tensor, case: Case) -> float:
    """1 / sqrt(d_k), of the channels of a head."""
    return float(q.shape[-1] ** -0.5)


def place_mask(mask: Tensor, scores: Tensor) -> Tensor:
    """The mask with the axes of the scores."""
    allowed = allowed_cells(mask)
    return allowed if scores.dim() == 4 else allowed[:, 0]


def minus_infinity(scores: Tensor, allowed: Tensor) -> Tensor:
    """The forbidden scores are minus infinity."""
    return scores.masked_fill(~allowed, -torch.inf)


def over_keys(scores: Tensor) -> Tensor:
    """The softmax of each row."""
    return scores.softmax(-1)


def empty_rows_are_zero(weights: Tensor, allowed: Tensor) -> Tensor:
    """A query that may look at nothing has weights of 0, where the softmax has NaN."""
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0.0)


def weighted_values(weights: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The values, weighted."""
    return weights @ v


def project_output(case: Case, joined: Tensor) -> Tensor:
    """The output projection, where a module has one."""
    output: nn.Module | None = case.layers.output if case.layers else None
    return output(joined) if output else joined


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Attention in steps; as it stands here, it is right."""

    project: Callable[[Case], tuple[Tensor, Tensor, Tensor]] = project
    split: Callable[[Tensor, int], Tensor] = split_heads
    score: Callable[[Tensor, Tensor], Tensor] = dot_products
    scale: Callable[[Tensor, Case], float] = one_over_root
    place_mask: Callable[[Tensor, Tensor], Tensor] = place_mask
    mask_scores: Callable[[Tensor, Tensor], Tensor] = minus_infinity
    normalize: Callable[[Tensor], Tensor] = over_keys
    mask_weights: Callable[[Tensor, Tensor], Tensor] = empty_rows_are_zero
    combine: Callable[[Tensor, Tensor, Tensor], Tensor] = weighted_values
    join: Callable[[Tensor], Tensor] = merge_heads
    output: Callable[[Case, Tensor], Tensor] = project_output


def compute(case: Case, steps: Steps) -> Answer:
    """What these steps give. Raises RuntimeError where they do not fit the shapes."""
    q, k, v = steps.project(case)
    if case.heads:
        q, k, v = (steps.split(each, case.heads) for each in (q, k, v))
    scores = steps.score(q, k) * steps.scale(q, case)
    if case.mask is None:
        weights = steps.normalize(scores)
    else:
        allowed = steps.place_mask(case.mask, scores)
        weights = steps.mask_weights(steps.normalize(steps.mask_scores(scores, allowed)), allowed)
    values = steps.combine(weights, k, v)
    return Answer(steps.output(case, steps.join(values) if case.heads else values), weights)


def change(**changed: Callable[..., object]) -> Steps:
    """The right steps but for those that are named."""
    return replace(Steps(), **changed)  # type: ignore[arg-type]
