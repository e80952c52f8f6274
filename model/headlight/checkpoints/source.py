"""Find config and tensors at a path: a folder, an adapter merged into its base model, or a single file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headlight.checkpoints.adapters import Adapter, adapter_files, find_base_model
from headlight.checkpoints.config_reader import read_json
from headlight.checkpoints.families import model_type_of_class
from headlight.checkpoints.file_rules import (
    ADAPTER_CONFIG,
    CONFIG,
    MODULES,
    SINGLE_FILES,
    WEIGHT_SUFFIXES,
    may_be_weights,
    reject_formats_inside,
    reject_other_formats,
)
from headlight.checkpoints.gguf_file import GgufFile, begins_like_gguf, read_gguf
from headlight.checkpoints.gguf_models import as_folder
from headlight.checkpoints.tensor_files import (
    LazyTensors,
    is_llama2c,
    open_tensors,
    read_llama2c,
    read_nanogpt,
    tensor_files,
)
from headlight.errors import CheckpointError, wrap_errors
from headlight.text.tokenizer import TOKENIZER_FILE

# One of these begins a tokenizer beside an adapter; without them it has its base's.
_VOCABULARY_FILES = (
    TOKENIZER_FILE, "vocab.json", "vocab.txt", "tokenizer.model", "spiece.model", "spm.model",
    "sentencepiece.bpe.model", "source.spm",
)  # fmt: skip
TOWERS = ("text", "vision")  # of a model with two towers; last part of a path
TWO_TOWERS = ("clip", "chinese_clip", "siglip")
_RUN_STEP = re.compile(r"checkpoint-\d{1,12}")  # a folder that transformers' Trainer writes
TIMM = "timm_wrapper"  # the model_type that transformers gives models of timm
TOWER_FIELD = "headlight_tower"  # added to config.json when it is read: the tower that the path names


@dataclass(frozen=True)
class CheckpointSource:
    """A checkpoint as found: its name in messages, its config.json, its tensors, the folder of tokenizer and card.

    `weight_files` are the files that the tensors are read from: first a base model's, then its adapter's. `gguf` is the
    file that contains everything, including the tokenizer; `notes` say how the folder was read. `base_folder` is
    the folder of an adapter's base model.
    """

    name: str
    config_json: dict[str, Any]
    open_tensors: Callable[[], LazyTensors]
    folder: Path
    weight_files: Callable[[], tuple[Path, ...]]
    gguf: GgufFile | None = None
    notes: tuple[str, ...] = ()
    base_folder: Path | None = None

    @property
    def settings_folder(self) -> Path:
        """The folder of the settings for generation and of images and sounds, which adapters are saved without."""
        return self.base_folder or self.folder


def open_source(path: Path, name: str = "") -> CheckpointSource:
    """Inspect a folder or file; messages use `name` (by default its own name, never its path).

    Raises CheckpointError if it is not a checkpoint.
    """
    name = name or display_name(path)
    if (folder := files_folder(path)) != path:
        source = open_source(folder, name)
        return replace(source, config_json=source.config_json | {TOWER_FIELD: path.name})
    if path.is_file():
        return _open_single_file(path, name)
    if has_adapter(path):
        return _open_adapter(path, name)
    if inner := _inner_folder(path, name):
        found = open_source(inner[0], name)
        return replace(found, notes=(inner[1], *found.notes))
    if (path / CONFIG).is_file():
        return _open_folder(path, name)
    files = [path / file for file in SINGLE_FILES if (path / file).is_file()] or _single_files(path)
    if len(files) > 1:
        listed = ", ".join(file.name[:60] for file in files[:5])
        raise CheckpointError(f"{name} holds {len(files)} single-file models: {listed}; name one of them.")
    if not files:
        reject_formats_inside(path, name)
        read_json(path / CONFIG, name)
        raise CheckpointError(f"{name} is not a checkpoint.")
    return _open_single_file(files[0], name)


def _open_folder(path: Path, name: str) -> CheckpointSource:
    """A folder with a config.json and weights."""
    values, notes = _with_model_type(read_json(path / CONFIG, name))
    return CheckpointSource(
        name, values, lambda: open_tensors(path, name), path, lambda: tensor_files(path, name), notes=notes
    )


def _with_model_type(values: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A config with the family that its class is named after, and a note, if it states no family."""
    if values.get("model_type") is None and isinstance(values.get("architecture"), str):
        return values | {"model_type": TIMM}, ()  # timm writes no model_type
    classes = values.get("architectures")
    named = str(classes[0]) if isinstance(classes, list) and classes else ""
    if values.get("model_type") or not (family := model_type_of_class(named)):
        return values, ()
    return values | {"model_type": family}, (f"Its config has no model_type; its class {named} belongs to {family}.",)


def _inner_folder(path: Path, name: str) -> tuple[Path, str] | None:
    """In a folder without weights: the inner folder that holds the checkpoint, and a note; None if there is none.

    It holds the newest checkpoint with weights of a training run, or the transformer of an old sentence encoder.
    """
    if not path.is_dir() or ((path / CONFIG).is_file() and tensor_files(path, name)):
        return None
    if (path / MODULES).is_file() and (inner := transformer_folder(path)) != path:
        return inner, f"The transformer of the sentence encoder is in its folder {inner.name}."
    steps = {
        int(folder.name.partition("-")[2]): folder for folder in path.iterdir() if _RUN_STEP.fullmatch(folder.name)
    }
    steps = {step: folder for step, folder in steps.items() if has_adapter(folder) or (folder / CONFIG).is_file()}
    if not steps:
        return None
    last = steps[max(steps)]
    newest = next((steps[step] for step in sorted(steps, reverse=True) if _has_weights(steps[step], name)), last)
    which = f"the newest of its {len(steps)} checkpoints" if len(steps) > 1 else "its only checkpoint"
    if newest != last:
        which = f"the newest of its checkpoints with weights ({last.name} has none)"
    return newest, f"The folder is of a training run; {newest.name}, {which}, was opened."


def _has_weights(folder: Path, name: str) -> bool:
    """Whether a checkpoint of a run holds weights; a run that was stopped may have written only its settings."""
    return bool(adapter_files(folder, name) if has_adapter(folder) else tensor_files(folder, name))


def transformer_folder(path: Path) -> Path:
    """The folder of a sentence encoder's transformer: in old ones `0_Transformer` or the like, else the encoder's."""
    found = sorted(folder for folder in path.glob("0_*") if (folder / CONFIG).is_file())
    return found[0] if found else path


def has_adapter(path: Path) -> bool:
    """Whether a folder holds an adapter: its settings, with its weights or without a model of its own."""
    has_settings = (path / ADAPTER_CONFIG).is_file()
    return has_settings and (bool(adapter_files(path, path.name)) or not (path / CONFIG).is_file())


def base_model(path: Path, name: str) -> Path:
    """The folder of an adapter's base model: the adapter's own if it holds a whole model, too."""
    return path if (path / CONFIG).is_file() and tensor_files(path, name) else find_base_model(path, name)


def _open_adapter(path: Path, name: str) -> CheckpointSource:
    """An adapter, merged into its base model."""
    base = base_model(path, name)
    notes = ("The folder holds a whole model and an adapter; the adapter was applied to it.",) if base == path else ()
    adapter = Adapter(path, name, _with_model_type(read_json(base / CONFIG, base.name))[0])
    return CheckpointSource(
        name,
        adapter.changed_config,
        lambda: adapter.merged(open_tensors(base, base.name)),
        path if any((path / file).is_file() for file in _VOCABULARY_FILES) else base,
        lambda: (*tensor_files(base, base.name), *adapter_files(path, name)),
        notes=notes,
        base_folder=base,
    )


def files_folder(path: Path) -> Path:
    """The location of a path's files: the path itself, or its parent folder if the path names one of two towers."""
    names_tower = path.name in TOWERS and not os.path.exists(path) and has_two_towers(path.parent)
    return path.parent if names_tower else path


def has_two_towers(folder: Path) -> bool:
    """Whether a folder's config.json describes a model with two towers."""
    try:
        with wrap_errors(CheckpointError, f"{folder.name} cannot be opened"):  # a listing continues
            values = read_json(folder / CONFIG, folder.name)
    except CheckpointError:
        return False
    return all(isinstance(values.get(f"{tower}_config"), dict) for tower in TOWERS) and (
        values.get("model_type") in TWO_TOWERS
    )


def candidates_without_config(folder: Path, files: Collection[str]) -> list[Path]:
    """Possible checkpoints in a folder without config.json: the folder itself, or single files in it."""
    if {ADAPTER_CONFIG, *SINGLE_FILES} & set(files):
        return [folder]
    single = [folder / file for file in sorted(files)]
    return [file for file in single if is_gguf(file) or (file.suffix == ".bin" and is_llama2c(file))]


def _single_files(folder: Path) -> list[Path]:
    """The models that are one file in a folder without a config.json: GGUF files, or else nanoGPT's and llama2.c's."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return [file for file in files if is_gguf(file)] or [
        file for file in files if file.suffix in (".pt", ".bin") and may_be_weights(file.name)
    ]


def is_gguf(file: Path) -> bool:
    """Whether a file has the name of a GGUF file, or is one of Ollama's, which are named by their SHA-256."""
    return file.suffix == ".gguf" or (file.name.startswith("sha256-") and begins_like_gguf(file))


def folders_read(path: Path) -> list[Path]:
    """The folders that are read when a path is opened: its own, and the folder of an adapter's base model."""
    if not path.is_dir():
        return [path.parent]
    try:
        return list(dict.fromkeys((path, base_model(path, path.name)))) if has_adapter(path) else [path]
    except CheckpointError:
        return [path]


def display_name(path: Path) -> str:
    """The name of a checkpoint in messages: its folder's, its file's, or that of a model in the Hugging Face cache."""
    if (folder := files_folder(path)) != path:
        return f"{display_name(folder)}/{path.name}"
    parts = path.absolute().parts
    if len(parts) > 3 and parts[-2] == "snapshots" and parts[-3].startswith("models--"):
        return hub_id(parts[-3])
    return path.resolve().name or path.name


def hub_id(folder: str) -> str:
    """`models--google--t5` gives google/t5."""
    return "/".join(folder.split("--")[1:])


def _open_single_file(path: Path, name: str) -> CheckpointSource:
    if path.suffix == ".gguf" or begins_like_gguf(path):
        file = read_gguf(path, name)
        values, tensors = as_folder(file)
        return CheckpointSource(name, values, lambda: tensors, path.parent, lambda: (path,), file)
    reject_other_formats(name, (path.name,))
    if path.suffix in WEIGHT_SUFFIXES and (path.parent / CONFIG).is_file():
        raise CheckpointError(f"{name} holds only weights; give its folder, {path.parent.resolve().name}.")
    if path.suffix not in (".pt", ".bin"):
        raise CheckpointError(f"{name} is not a checkpoint; give a folder, .gguf, nanoGPT ckpt.pt or llama2.c .bin.")
    values, tensors = read_nanogpt(path, name) if path.suffix == ".pt" else read_llama2c(path, name)
    return CheckpointSource(name, values, lambda: tensors, path.parent, lambda: (path,))
