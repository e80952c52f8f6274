"""Saves: all that a run needs to go on after it was stopped, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from model.errors import DataError

LATEST, BEFORE_COOLDOWN = "newest.pt", "stable.pt"


@dataclass
class Progress:
    """Where a run stands. `decay_began` is the (step, seconds) at which a wsd schedule began to fall.

    `best` is the least loss on the held-out texts so far, in rows of `best_context` tokens.
    """

    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best_loss: float | None = None
    best_context: int = 0
    cooldown_began: tuple[int, float] | None = None


def write(path: Path, progress: Progress, parts: Mapping[str, Any]) -> None:
    """Writes beside the file, then renames: a kill at any moment leaves the old save or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial_path = path.with_name(path.name + ".part")
    with open(partial_path, "wb") as file:
        torch.save({"progress": asdict(progress), **parts}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial_path, path)


def read(path: Path) -> tuple[Progress, dict[str, Any]]:
    """What `write` wrote. Raises DataError where it cannot be read."""
    try:
        parts = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises whatever its reader meets
        raise DataError(f"The save {path} cannot be read: {error}. Delete it to begin anew.") from error
    progress = parts.pop("progress")
    began = progress.pop("cooldown_began")
    return Progress(**progress, cooldown_began=None if began is None else (int(began[0]), float(began[1]))), parts
