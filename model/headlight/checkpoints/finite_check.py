"""NaN and infinite weights, which make all results meaningless."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.checkpoints.load import Checkpoint
from headlight.checkpoints.weight_mapping import join_names

MAX_NAMES = 1_000


@torch.no_grad()
def find_nonfinite(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Names of the file's tensors that hold a NaN or an infinity, at most MAX_NAMES; one pass over the weights."""
    names = [name for name, tensor in checkpoint.model.named_parameters() if not _is_finite(tensor)]
    # A file may hold several parameters in one tensor.
    return tuple(dict.fromkeys(checkpoint.tensor_names.get(name, name) for name in names))[:MAX_NAMES]


def describe_nonfinite(names: tuple[str, ...]) -> str:
    """A sentence about what `find_nonfinite` found; empty where that is nothing."""
    if not names:
        return ""
    count = "1 tensor holds" if len(names) == 1 else f"{len(names)} tensors hold"
    return f"{count} NaN or infinite weights, so results will be meaningless: {join_names(names)}."


def _is_finite(tensor: Tensor) -> bool:
    # A sum needs no memory and is finite for all good weights; only where it is not, each number is looked at.
    return bool(tensor.sum(dtype=torch.float32).isfinite()) or bool(tensor.isfinite().all())
