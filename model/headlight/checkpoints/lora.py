"""LoRA adapters in PEFT's layout, merged into the weights of the base model beside them (Hu et al. 2021)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.files.file_rules import ADAPTER_CONFIG, CONFIG
from headlight.checkpoints.files.tensor_files import LazyTensors, read_tensors, tensor_files
from headlight.errors import CheckpointError

ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
_PREFIX = "base_model.model."
_REQUIRED_VALUES = {
    "peft_type": "LORA", "use_dora": False, "use_qalora": False, "lora_bias": False, "alora_invocation_tokens": (),
    "layer_replication": (), "trainable_token_indices": (), "target_parameters": (), "modules_to_save": ([],),
    "bias": "none",
}  # fmt: skip


def find_base_model(folder: Path, name: str) -> Path:
    """The folder of the model that an adapter was trained on: beside the adapter or inside its folder."""
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
    """The base model's tensors, with scale * B A added to those that the adapter changes. Raises CheckpointError."""
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
