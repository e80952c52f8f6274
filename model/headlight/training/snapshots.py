"""Snapshots: everything that a stopped run needs to resume, written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from headlight.errors import DataError

LATEST, BEFORE_COOLDOWN = "latest.pt", "before_cooldown.pt"


@dataclass
class Progress:
    """How far a run is. `cooldown_began` is the (step, seconds) at which a wsd schedule began to decay.

    `best_score` is the lowest validation loss so far (of a classifier: error), in rows of `best_context` tokens.
    """

    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best_score: float | None = None
    best_context: int = 0
    cooldown_began: tuple[int, float] | None = None


def write(path: Path, progress: Progress, parts: Mapping[str, Any]) -> None:
    """Write to another file, then rename it: a kill at any moment leaves the old snapshot or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial_path = path.with_name(path.name + ".part")
    with open(partial_path, "wb") as file:
        torch.save({"progress": asdict(progress), **parts}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial_path, path)


def read(path: Path) -> tuple[Progress, dict[str, Any]]:
    """What `write` wrote. Raises DataError if it cannot be read."""
    try:
        parts = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises errors of many types
        raise DataError(f"The snapshot {path} cannot be read: {error}. Delete it to start again.") from error
    progress = parts.pop("progress")
    began = progress.pop("cooldown_began")
    return Progress(**progress, cooldown_began=None if began is None else (int(began[0]), float(began[1]))), parts
