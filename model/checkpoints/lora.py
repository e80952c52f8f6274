"""LoRA adapters in PEFT's layout, added to the weights of the base model found beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from torch import Tensor

from model.checkpoints.config_reader import Fields, read_json
from model.checkpoints.files.tensor_files import Tensors, read_tensors
from model.errors import CheckpointError

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model"
_PREFIX = "base_model.model."
_PLAIN = {
    "peft_type": "LORA", "use_dora": False, "use_qalora": False, "lora_bias": False, "alora_invocation_tokens": (),
    "layer_replication": (), "trainable_token_indices": (), "target_parameters": (), "modules_to_save": ([],),
    "bias": "none",
}  # fmt: skip


def base_of(folder: Path, name: str) -> Path:
    """The folder of the model that an adapter was trained on: beside the adapter or inside its folder."""
    fields = Fields(read_json(folder / CONFIG, name), name)
    base = Path(fields.word("base_model_name_or_path")).name
    for place in (folder.parent / base, folder / base, folder / "base"):
        if base not in ("", "..") and (place / "config.json").is_file() and place.resolve() != folder.resolve():
            return place
    raise CheckpointError(f"{name} is an adapter of {base[:80]!r}; put that model's folder beside it.")


def adapted(folder: Path, name: str, base: Tensors) -> Tensors:
    """The base's tensors, those that the adapter changes with B A added. Raises CheckpointError."""
    fields = Fields(read_json(folder / CONFIG, name), name)
    fields.require(_PLAIN)
    parts = read_tensors(folder, name, f"{WEIGHTS}.safetensors", f"{WEIGHTS}.bin")
    modules = sorted(key.removesuffix(".lora_A.weight") for key in parts if key.endswith(".lora_A.weight"))
    unknown = sorted(set(parts) - {f"{module}.lora_{side}.weight" for module in modules for side in "AB"})
    if unknown:
        raise CheckpointError(f"{name}: the adapter has weights of an unknown kind: {', '.join(unknown[:5])}.")
    readers: dict[str, Callable[[], Tensor]] = dict(base.readers)
    for module in modules:
        target = f"{module.removeprefix(_PREFIX)}.weight"
        target = next((key for key in (target, target.partition(".")[2]) if key in base), target)
        if target not in base:
            raise CheckpointError(f"{name}: the adapter changes {target}, which its base does not have.")
        readers[target] = partial(_added, fields, module, base.readers[target], parts)
    return Tensors(readers)


def _added(fields: Fields, module: str, weight: Callable[[], Tensor], parts: Tensors) -> Tensor:
    down, up = (parts[f"{module}.lora_{side}.weight"] for side in "AB")
    path, old = module.removeprefix(_PREFIX), weight()
    turned = fields.flag("fan_in_fan_out", False)
    if not _fits(down, up, old, turned):
        given = " and ".join(str(tuple(part.shape)) for part in (down, up))
        raise CheckpointError(
            f"{fields.name}: the adapter gives {path} as {given}, which is no change of {tuple(old.shape)}."
        )
    rank = _for(fields, "rank_pattern", path, fields.size("r", 8))
    scale = _for(fields, "alpha_pattern", path, fields.number("lora_alpha", 8)) / max(rank, 1)
    if fields.flag("use_rslora", False):
        scale *= rank**0.5
    change = (up.float() @ down.float()) * scale
    return old.float() + (change.t() if turned else change)


def _fits(down: Tensor, up: Tensor, old: Tensor, turned: bool) -> bool:
    """Whether B A is a change of these weights; looked at before any memory is taken for it."""
    flat = down.dim() == up.dim() == old.dim() == 2
    shape = (*old.shape[::-1],) if turned else (*old.shape,)
    return flat and up.shape[1] == down.shape[0] and (up.shape[0], down.shape[1]) == shape


def _for(fields: Fields, name: str, path: str, usual: float) -> float:
    """A number that some modules have of their own, told by how their path ends."""
    group = fields.group(name)
    own = next((key for key in (group.values if group else ()) if path == key or path.endswith(f".{key}")), None)
    return usual if own is None or group is None else group.number(own)
