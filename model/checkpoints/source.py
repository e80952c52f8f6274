"""What lies at a path: a config and tensors, whatever layout they were saved in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.checkpoints.config_reader import read_json
from model.checkpoints.files.single_file import is_llama2c, llama2c, nanogpt
from model.checkpoints.files.tensor_files import Tensors, open_tensors
from model.checkpoints.lora import CONFIG as ADAPTER
from model.checkpoints.lora import adapted, base_of
from model.errors import CheckpointError

CONFIG = "config.json"
SINGLE = ("ckpt.pt", "model.bin")  # nanoGPT's and llama2.c's own names


@dataclass(frozen=True)
class Contents:
    """What sentences call it, a config's values, a way to its tensors, and the folder of its tokenizer and card."""

    name: str
    values: dict[str, Any]
    tensors: Callable[[], Tensors]
    folder: Path


def contents(path: Path, name: str = "") -> Contents:
    """Look at a folder or file, which sentences call `name` (its own without one; never by its path).

    Raises CheckpointError where it is no checkpoint.
    """
    name = name or called(path)
    if path.is_file():
        return _single(path, name)
    if (path / CONFIG).is_file():
        return Contents(name, read_json(path / CONFIG, name), lambda: open_tensors(path, name), path)
    if (path / ADAPTER).is_file():
        base = base_of(path, name)
        own = any(path.glob("tokenizer.json"))
        values = read_json(base / CONFIG, base.name)
        return Contents(name, values, lambda: adapted(path, name, open_tensors(base, base.name)), path if own else base)
    files = [path / file for file in SINGLE]
    return next((_single(file, name) for file in files if file.is_file()), None) or _nothing(path, name)


def without_config(folder: Path, files: Collection[str]) -> list[Path]:
    """What may be a checkpoint in a folder that has these files and no config.json: itself, or single files in it."""
    if {ADAPTER, *SINGLE} & set(files):
        return [folder]
    return [folder / file for file in sorted(files) if file.endswith(".bin") and is_llama2c(folder / file)]


def reads(path: Path) -> list[Path]:
    """The folders that are looked into when a path is opened: its own, and that of an adapter's base."""
    if not path.is_dir():
        return [path.parent]
    if (path / CONFIG).is_file() or not (path / ADAPTER).is_file():
        return [path]
    try:
        return [path, base_of(path, path.name)]
    except CheckpointError:
        return [path]


def called(path: Path) -> str:
    """What sentences call a folder or file: its own name, and in the Hugging Face cache the model's."""
    parts = path.absolute().parts
    if len(parts) > 3 and parts[-2] == "snapshots" and parts[-3].startswith("models--"):
        return hub_name(parts[-3])
    return path.resolve().name or path.name


def hub_name(folder: str) -> str:
    """`models--google--t5` as google/t5."""
    return "/".join(folder.split("--")[1:])


def _single(path: Path, name: str) -> Contents:
    if path.suffix == ".gguf":
        raise CheckpointError(f"{name} is a GGUF file, quantised for other programs; use the original weights.")
    if path.suffix not in (".pt", ".bin"):
        raise CheckpointError(f"{name} is no checkpoint; name a folder, nanoGPT's ckpt.pt or llama2.c's .bin.")
    values, tensors = nanogpt(path, name) if path.suffix == ".pt" else llama2c(path, name)
    return Contents(name, values, lambda: tensors, path.parent)


def _nothing(path: Path, name: str) -> Contents:
    if any(path.glob("*.gguf")):
        raise CheckpointError(
            f"{name} holds GGUF files, which are quantised for other programs; use the original weights."
        )
    read_json(path / CONFIG, name)
    raise CheckpointError(f"{name} is no checkpoint.")
