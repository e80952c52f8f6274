"""Wrong steps of attention, computed to recognize solutions that take them; each stands in for one of `Steps`."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.code_exercises.case import Case, allowed_cells
from headlight.code_exercises.steps import project


def see_everything(mask: Tensor, scores: Tensor) -> Tensor:
    return torch.ones_like(scores, dtype=torch.bool)


def see_all_but_padding(mask: Tensor, scores: Tensor) -> Tensor:
    if mask.dim() == 3:
        return see_everything(mask, scores)
    return allowed_cells(mask) if scores.dim() == 4 else allowed_cells(mask)[:, 0]


def without_head_axis(mask: Tensor, scores: Tensor) -> Tensor:
    return (mask if mask.dim() == 3 else mask[:, None, :]).bool()


def always_one_axis_more(mask: Tensor, scores: Tensor) -> Tensor:
    return mask.bool()[:, None]


def _with_axes(cells: Tensor, scores: Tensor) -> Tensor:
    return cells[:, None] if scores.dim() == 4 else cells


def mask_transposed(mask: Tensor, scores: Tensor) -> Tensor:
    return _with_axes(mask.bool().transpose(1, 2) if mask.dim() == 3 else mask.bool()[:, :, None], scores)


def mask_inverted(mask: Tensor, scores: Tensor) -> Tensor:
    return _with_axes(~allowed_cells(mask)[:, 0], scores)


def only_query_layer(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    if not case.layers:
        return project(case)
    return case.layers.query(case.query), case.layers.query(case.key), case.layers.query(case.value)


def only_query_input(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    if not case.layers:
        return project(case)
    return case.layers.query(case.query), case.layers.key(case.query), case.layers.value(case.query)


def swapped_layers(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    if not case.layers:
        return project(case)
    return case.layers.key(case.query), case.layers.query(case.key), case.layers.value(case.value)


def values_from_keys(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    if not case.layers:
        return case.query, case.key, case.key
    return case.layers.query(case.query), case.layers.key(case.key), case.layers.value(case.key)


def split_by_view_alone(x: Tensor, heads: int) -> Tensor:
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def join_by_view_alone(x: Tensor) -> Tensor:
    return x.reshape(x.shape[0], x.shape[2], -1)


def join_interleaved(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def split_interleaved(x: Tensor, heads: int) -> Tensor:
    return x.view(*x.shape[:-1], -1, heads).permute(0, 3, 1, 2)
