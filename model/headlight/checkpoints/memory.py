"""The memory that a model needs, checked before it is allocated."""

from __future__ import annotations

import sys

import psutil

from headlight.config import Config
from headlight.errors import CheckpointError, HeadlightError
from headlight.nn.transformer import Transformer, meta_model

FLOAT32_BYTES = 4
MAX_FREE_FRACTION = 0.9  # of the free memory may go to weights


def meta_model_within(config: Config, name: str, limit: int | None = None) -> Transformer:
    """The model on the meta device, whose parameters have shapes but no memory.

    Raises CheckpointError if they would take more than `limit` bytes as float32 (None: 90 % of the free memory).
    """
    allowed = free_memory() * MAX_FREE_FRACTION if limit is None else limit
    try:
        model = meta_model(config)
    except HeadlightError as error:
        raise CheckpointError(f"{name}: {error}") from error
    except (RuntimeError, OverflowError) as error:  # sizes whose product no computer can count
        raise CheckpointError(f"{name}: the sizes in its config are beyond any memory.") from error
    needed = sum(parameter.numel() for parameter in model.parameters()) * FLOAT32_BYTES
    if needed > allowed:
        raise CheckpointError(
            f"{name}: its config asks for {needed / 1e9:,.1f} GB of memory; {allowed / 1e9:,.1f} GB are allowed."
        )
    return model


def free_memory() -> int:
    """Bytes of memory that this program can take now: within its limit, and without others being swapped out."""
    available = int(psutil.virtual_memory().available)
    if not sys.platform.startswith("linux"):
        return available
    limit, process = psutil.Process().rlimit(psutil.RLIMIT_DATA)[0], psutil.Process().memory_info()
    return available if limit == psutil.RLIM_INFINITY else max(0, min(available, limit - process.data))
