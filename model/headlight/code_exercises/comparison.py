"""Compares an answer with the right one, and says where they differ."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.code_exercises.case import shape_text

TOLERANCE = 1e-4  # absolute and relative; solutions may sum in another order


def agrees(given: Tensor, right: Tensor) -> bool:
    """Whether both have the same shape and, but for rounding, the same numbers; NaN agrees with NaN."""
    return given.shape == right.shape and torch.allclose(
        given.detach().float(), right.detach().float(), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True
    )


def describe_difference(name: str, given: Tensor, right: Tensor) -> str:
    """The shapes where they differ, else the first number that does."""
    if given.shape != right.shape:
        return f"{name} has the shape {shape_text(given)}, and {shape_text(right)} is right"
    given, right = given.detach().float(), right.detach().float()
    differs = ~torch.isclose(given, right, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    first = tuple(int(index) for index in differs.nonzero()[0])
    place = ", ".join(map(str, first))
    share = f"{int(differs.sum())} of {differs.numel()} numbers differ"
    return f"{name}[{place}] is {float(given[first]):.4f}, and {float(right[first]):.4f} is right ({share})"
