"""What lies at a path: a config and tensors, whatever layout they were saved in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.checkpoint.adapters import CONFIG as ADAPTER
from model.checkpoint.adapters import adapted, base_of
from model.checkpoint.fields import read_json
from model.checkpoint.single import llama2c, nanogpt
from model.checkpoint.tensors import Tensors, open_tensors
from model.errors import CheckpointError

CONFIG = "config.json"


@dataclass(frozen=True)
class Contents:
    """A config's values, a way to its tensors, and the folder of its tokenizer and card."""

    name: str
    values: dict[str, Any]
    tensors: Callable[[], Tensors]
    folder: Path


def contents(path: Path) -> Contents:
    """Look at a folder or file. Raises CheckpointError where it is no checkpoint."""
    if path.is_file():
        return _single(path)
    if (path / CONFIG).is_file():
        return Contents(path.name, read_json(path / CONFIG, path.name), lambda: open_tensors(path), path)
    if (path / ADAPTER).is_file():
        base = base_of(path)
        own = any(path.glob("tokenizer.json"))
        values = read_json(base / CONFIG, base.name)
        return Contents(path.name, values, lambda: adapted(path, open_tensors(base)), path if own else base)
    files = [path / "ckpt.pt", path / "model.bin"]
    return next((_single(file) for file in files if file.is_file()), None) or _nothing(path)


def _single(path: Path) -> Contents:
    if path.suffix == ".gguf":
        raise CheckpointError(f"{path.name} is a GGUF file, quantised for other programs; use the original weights.")
    if path.suffix not in (".pt", ".bin"):
        raise CheckpointError(f"{path.name} is no checkpoint; name a folder, nanoGPT's ckpt.pt or llama2.c's .bin.")
    values, tensors = nanogpt(path) if path.suffix == ".pt" else llama2c(path)
    return Contents(path.name, values, lambda: tensors, path.parent)


def _nothing(path: Path) -> Contents:
    if any(path.glob("*.gguf")):
        raise CheckpointError(
            f"{path.name} holds GGUF files, which are quantised for other programs; use the original weights."
        )
    read_json(path / CONFIG, path.name)
    raise CheckpointError(f"{path.name} is no checkpoint.")
