"""Find config and tensors at a path: a folder, an adapter, or a single file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.checkpoints.config_reader import read_json
from headlight.checkpoints.files.file_rules import ADAPTER_CONFIG, CONFIG, SINGLE_FILES
from headlight.checkpoints.files.single_file import is_llama2c, read_llama2c, read_nanogpt
from headlight.checkpoints.files.tensor_files import LazyTensors, open_tensors, tensor_files
from headlight.checkpoints.lora import adapter_files, find_base_model, merge_lora
from headlight.errors import CheckpointError
from headlight.text.tokenizer import TOKENIZER_FILE


@dataclass(frozen=True)
class CheckpointSource:
    """A checkpoint as found: its name in messages, its config.json, its tensors, the folder of tokenizer and card.

    `weight_files` are those that the tensors are read from, those of an adapter after those of its base model.
    """

    name: str
    config_json: dict[str, Any]
    open_tensors: Callable[[], LazyTensors]
    folder: Path
    weight_files: Callable[[], tuple[Path, ...]]


def open_source(path: Path, name: str = "") -> CheckpointSource:
    """Look at a folder or file, which sentences call `name` (its own without one; never by its path).

    Raises CheckpointError where it is no checkpoint.
    """
    name = name or display_name(path)
    if path.is_file():
        return _open_single_file(path, name)
    if (path / CONFIG).is_file():
        return CheckpointSource(
            name,
            read_json(path / CONFIG, name),
            lambda: open_tensors(path, name),
            path,
            lambda: tensor_files(path, name),
        )
    if (path / ADAPTER_CONFIG).is_file():
        base = find_base_model(path, name)
        has_own_tokenizer = any(path.glob(TOKENIZER_FILE))
        values = read_json(base / CONFIG, base.name)
        return CheckpointSource(
            name,
            values,
            lambda: merge_lora(path, name, open_tensors(base, base.name)),
            path if has_own_tokenizer else base,
            lambda: (*tensor_files(base, base.name), *adapter_files(path, name)),
        )
    files = [path / file for file in SINGLE_FILES]
    return next((_open_single_file(file, name) for file in files if file.is_file()), None) or _raise_no_checkpoint(
        path, name
    )


def candidates_without_config(folder: Path, files: Collection[str]) -> list[Path]:
    """Possible checkpoints in a folder without config.json: the folder itself, or single files in it."""
    if {ADAPTER_CONFIG, *SINGLE_FILES} & set(files):
        return [folder]
    return [folder / file for file in sorted(files) if file.endswith(".bin") and is_llama2c(folder / file)]


def folders_read(path: Path) -> list[Path]:
    """The folders that are read when a path is opened: its own, and that of an adapter's base model."""
    if not path.is_dir():
        return [path.parent]
    if (path / CONFIG).is_file() or not (path / ADAPTER_CONFIG).is_file():
        return [path]
    try:
        return [path, find_base_model(path, path.name)]
    except CheckpointError:
        return [path]


def display_name(path: Path) -> str:
    """The name of a checkpoint in messages: its folder's or file's, in the Hugging Face cache the model's."""
    parts = path.absolute().parts
    if len(parts) > 3 and parts[-2] == "snapshots" and parts[-3].startswith("models--"):
        return hub_id(parts[-3])
    return path.resolve().name or path.name


def hub_id(folder: str) -> str:
    """`models--google--t5` as google/t5."""
    return "/".join(folder.split("--")[1:])


def _open_single_file(path: Path, name: str) -> CheckpointSource:
    if path.suffix == ".gguf":
        raise CheckpointError(f"{name} is a GGUF file, quantised for other programs; use the original weights.")
    if path.suffix not in (".pt", ".bin"):
        raise CheckpointError(f"{name} is no checkpoint; name a folder, nanoGPT's ckpt.pt or llama2.c's .bin.")
    values, tensors = read_nanogpt(path, name) if path.suffix == ".pt" else read_llama2c(path, name)
    return CheckpointSource(name, values, lambda: tensors, path.parent, lambda: (path,))


def _raise_no_checkpoint(path: Path, name: str) -> CheckpointSource:
    if any(path.glob("*.gguf")):
        raise CheckpointError(
            f"{name} holds GGUF files, which are quantised for other programs; use the original weights."
        )
    read_json(path / CONFIG, name)
    raise CheckpointError(f"{name} is no checkpoint.")
