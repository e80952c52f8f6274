"""The steps of attention as functions; each can be replaced by a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from headlight.code_exercises.cases import AttentionResult, Case, allowed_cells
from headlight.nn.attention import merge_heads, split_heads


def project(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, made by the layers of a module."""
    if not case.layers:
        return case.query, case.key, case.value
    return case.layers.query(case.query), case.layers.key(case.key), case.layers.value(case.value)


def with_axes_of_scores(cells: Tensor, scores: Tensor) -> Tensor:
    """Cells (batch, query, key), with an axis of heads if the scores have one."""
    return cells[:, None] if scores.dim() == 4 else cells


def project_output(case: Case, joined: Tensor) -> Tensor:
    """The output projection of a module that has one."""
    output: nn.Module | None = case.layers.output if case.layers else None
    return output(joined) if output else joined


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The steps of attention; the defaults are right."""

    project: Callable[[Case], tuple[Tensor, Tensor, Tensor]] = project
    split: Callable[[Tensor, int], Tensor] = split_heads
    score: Callable[[Tensor, Tensor], Tensor] = lambda q, k: q @ k.transpose(-2, -1)
    scale: Callable[[Tensor, Case], float] = lambda q, case: float(q.shape[-1] ** -0.5)
    place_mask: Callable[[Tensor, Tensor], Tensor] = lambda mask, scores: with_axes_of_scores(
        allowed_cells(mask)[:, 0], scores
    )
    mask_scores: Callable[[Tensor, Tensor], Tensor] = lambda scores, allowed: scores.masked_fill(~allowed, -torch.inf)
    normalize: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(-1)
    # A query whose keys are all masked gets weights of 0; the softmax would give NaN.
    mask_weights: Callable[[Tensor, Tensor], Tensor] = lambda weights, allowed: weights.masked_fill(
        ~allowed.any(-1, keepdim=True), 0.0
    )
    combine: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda weights, k, v: weights @ v
    join: Callable[[Tensor], Tensor] = merge_heads
    output: Callable[[Case, Tensor], Tensor] = project_output


def compute(case: Case, steps: Steps) -> AttentionResult:
    """The result of these steps. Raises RuntimeError if they do not fit the shapes."""
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
    return AttentionResult(steps.output(case, steps.join(values) if case.heads else values), weights)


def change(**changed: Callable[..., object]) -> Steps:
    """The right steps with some replaced."""
    return replace(Steps(), **changed)  # type: ignore[arg-type]
