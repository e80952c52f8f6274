"""Find config and tensors at a path: a folder, an adapter merged into its base model, or a single file."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.file_rules import ADAPTER_CONFIG, CONFIG, SINGLE_FILES
from headlight.checkpoints.gguf_file import GgufFile, read_gguf
from headlight.checkpoints.gguf_models import as_folder
from headlight.checkpoints.tensor_files import (
    LazyTensors,
    is_llama2c,
    open_tensors,
    read_llama2c,
    read_nanogpt,
    read_tensors,
    tensor_files,
)
from headlight.errors import CheckpointError, wrap_errors
from headlight.text.tokenizer import TOKENIZER_FILE

TOWERS = ("text", "vision")  # of a model with two towers; last part of a path
TWO_TOWERS = ("clip", "siglip")
TOWER_FIELD = "headlight_tower"  # added to config.json when it is read: the tower that the path names
ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
_PREFIX = "base_model.model."
_REQUIRED_VALUES = {
    "peft_type": "LORA", "use_dora": False, "use_qalora": False, "lora_bias": False, "alora_invocation_tokens": (),
    "layer_replication": (), "trainable_token_indices": (), "target_parameters": (), "modules_to_save": ([],),
    "bias": "none",
}  # fmt: skip


def find_base_model(folder: Path, name: str) -> Path:
    """The folder of the adapter's base model: beside the adapter or inside its folder."""
    fields = ConfigReader(read_json(folder / ADAPTER_CONFIG, name), name)
    base = Path(fields.string("base_model_name_or_path")).name
    for candidate in (folder.parent / base, folder / base, folder / "base"):
        if base not in ("", "..") and os.path.isfile(candidate / CONFIG) and candidate.resolve() != folder.resolve():
            return candidate
    raise CheckpointError(f"{name} is an adapter of {base[:80]!r}; put that model's folder beside it.")


def adapter_files(folder: Path, name: str) -> tuple[Path, ...]:
    """The weight files of an adapter."""
    return tensor_files(folder, name, *ADAPTER_WEIGHTS)


def merge_lora(folder: Path, name: str, base: LazyTensors) -> LazyTensors:
    """The base model's tensors, with scale * B A added to those changed by the adapter. Raises CheckpointError."""
    fields = ConfigReader(read_json(folder / ADAPTER_CONFIG, name), name)
    fields.require_values(_REQUIRED_VALUES)
    lora_weights = read_tensors(folder, name, *ADAPTER_WEIGHTS)
    modules = sorted(key.removesuffix(".lora_A.weight") for key in lora_weights if key.endswith(".lora_A.weight"))
    unknown = sorted(set(lora_weights) - {f"{module}.lora_{side}.weight" for module in modules for side in "AB"})
    if unknown:
        raise CheckpointError(f"{name}: unsupported adapter weights: {', '.join(unknown[:5])}.")
    readers: dict[str, Callable[[], Tensor]] = dict(base.readers)
    for module in modules:
        target = f"{module.removeprefix(_PREFIX)}.weight"
        target = next((key for key in (target, target.partition(".")[2]) if key in base), target)
        if target not in base:
            raise CheckpointError(f"{name}: the adapter changes {target}, which its base does not have.")
        readers[target] = partial(_merge_weight, fields, module, base.readers[target], lora_weights)
    return LazyTensors(readers)


def _merge_weight(fields: ConfigReader, module: str, weight: Callable[[], Tensor], lora_weights: LazyTensors) -> Tensor:
    down, up = (lora_weights[f"{module}.lora_{side}.weight"] for side in "AB")
    path, base_weight = module.removeprefix(_PREFIX), weight()
    transposed = fields.boolean("fan_in_fan_out", False)
    if not _shapes_fit(down, up, base_weight, transposed):
        given = " and ".join(str(tuple(part.shape)) for part in (down, up))
        raise CheckpointError(
            f"{fields.name}: the adapter gives {path} as {given}, which does not fit the base weight of shape "
            f"{tuple(base_weight.shape)}."
        )
    rank = _module_value(fields, "rank_pattern", path, fields.integer("r", 8))
    scale = _module_value(fields, "alpha_pattern", path, fields.number("lora_alpha", 8)) / max(rank, 1)
    if fields.boolean("use_rslora", False):
        scale *= rank**0.5
    delta = (up.float() @ down.float()) * scale
    return base_weight.float() + (delta.t() if transposed else delta)


def _shapes_fit(down: Tensor, up: Tensor, base_weight: Tensor, transposed: bool) -> bool:
    """Whether B A has the shape of the base weight; checked before it is computed."""
    flat = down.dim() == up.dim() == base_weight.dim() == 2
    shape = (*base_weight.shape[::-1],) if transposed else (*base_weight.shape,)
    return flat and up.shape[1] == down.shape[0] and (up.shape[0], down.shape[1]) == shape


def _module_value(fields: ConfigReader, name: str, path: str, default: float) -> float:
    """A number that may differ by module, matched by the end of the module's path."""
    group = fields.nested(name)
    matching_key = next(
        (key for key in (group.values if group else ()) if path == key or path.endswith(f".{key}")), None
    )
    return default if matching_key is None or group is None else group.number(matching_key)


@dataclass(frozen=True)
class CheckpointSource:
    """A checkpoint as found: its name in messages, its config.json, its tensors, the folder of tokenizer and card.

    `weight_files` are the files that the tensors are read from: first a base model's, then its adapter's. `gguf` is the
    file that contains everything, including the tokenizer.
    """

    name: str
    config_json: dict[str, Any]
    open_tensors: Callable[[], LazyTensors]
    folder: Path
    weight_files: Callable[[], tuple[Path, ...]]
    gguf: GgufFile | None = None


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
    files = [path / file for file in SINGLE_FILES if (path / file).is_file()] or sorted(path.glob("*.gguf"))
    if len(files) > 1:
        listed = ", ".join(file.name[:60] for file in files[:5])
        raise CheckpointError(f"{name} holds {len(files)} single-file models: {listed}; name one of them.")
    if not files:
        read_json(path / CONFIG, name)
        raise CheckpointError(f"{name} is not a checkpoint.")
    return _open_single_file(files[0], name)


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
    return [file for file in single if file.suffix == ".gguf" or (file.suffix == ".bin" and is_llama2c(file))]


def folders_read(path: Path) -> list[Path]:
    """The folders that are read when a path is opened: its own, and the folder of an adapter's base model."""
    if not path.is_dir():
        return [path.parent]
    if (path / CONFIG).is_file() or not (path / ADAPTER_CONFIG).is_file():
        return [path]
    try:
        return [path, find_base_model(path, path.name)]
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
    if path.suffix == ".gguf":
        file = read_gguf(path, name)
        values, tensors = as_folder(file)
        return CheckpointSource(name, values, lambda: tensors, path.parent, lambda: (path,), file)
    if path.suffix not in (".pt", ".bin"):
        raise CheckpointError(f"{name} is not a checkpoint; give a folder, .gguf, nanoGPT ckpt.pt or llama2.c .bin.")
    values, tensors = read_nanogpt(path, name) if path.suffix == ".pt" else read_llama2c(path, name)
    return CheckpointSource(name, values, lambda: tensors, path.parent, lambda: (path,))
