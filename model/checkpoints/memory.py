"""How much memory a model takes, refused before it is taken."""

from __future__ import annotations

import os
from pathlib import Path

from model.config import Config
from model.errors import CheckpointError, HeadlightError
from model.nn.transformer import Transformer, meta_model

MAX_FREE_FRACTION = 0.9  # of the free memory may go to weights
FREE_BYTES_IF_UNKNOWN = 8 << 30


def meta_model_within(config: Config, name: str, limit: int | None = None) -> Transformer:
    """The model without memory behind its parameters. Raises CheckpointError where they need more than `limit` bytes.

    Without a limit they may take 90 % of the memory that is free now.
    """
    allowed = free_memory() * MAX_FREE_FRACTION if limit is None else limit
    try:
        model = meta_model(config)
    except HeadlightError as error:
        raise CheckpointError(f"{name}: {error}") from error
    except (RuntimeError, OverflowError) as error:  # sizes whose product no computer can count
        raise CheckpointError(f"{name}: the sizes in its config are beyond any memory.") from error
    needed = sum(parameter.numel() for parameter in model.parameters()) * 4
    if needed > allowed:
        raise CheckpointError(
            f"{name}: its config asks for {needed / 1e9:,.1f} GB of memory; {allowed / 1e9:,.1f} GB are allowed."
        )
    return model


def free_memory() -> int:
    """Bytes of memory that are free now, as far as the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return FREE_BYTES_IF_UNKNOWN
