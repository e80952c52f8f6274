"""Saves: all that a run needs to go on after it was stopped, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from model.errors import DataError

NEWEST, STABLE = "newest.pt", "stable.pt"


@dataclass
class Place:
    """Where a run stands. `decay_began` is the (step, seconds) at which a wsd schedule began to fall.

    `best` is the least loss on the held-out texts so far, in rows of `best_context` tokens.
    """

    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best: float | None = None
    best_context: int = 0
    decay_began: tuple[int, float] | None = None


def write(path: Path, place: Place, parts: Mapping[str, Any]) -> None:
    """Writes beside the file, then renames: a kill at any moment leaves the old save or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file:
        torch.save({"place": asdict(place), **parts}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def read(path: Path) -> tuple[Place, dict[str, Any]]:
    """What `write` wrote. Raises DataError where it cannot be read."""
    try:
        parts = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises whatever its reader meets
        raise DataError(f"The save {path} cannot be read: {error}. Delete it to begin anew.") from error
    place = parts.pop("place")
    began = place.pop("decay_began")
    return Place(**place, decay_began=None if began is None else (int(began[0]), float(began[1]))), parts
