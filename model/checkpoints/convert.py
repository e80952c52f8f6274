"""Checkpoints of other families, poured into our Transformer through their family's table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from model.checkpoints.config_reader import Fields
from model.checkpoints.families import FAMILIES
from model.checkpoints.files.tensor_files import Tensors
from model.checkpoints.image_processor import FILE as PREPROCESSOR
from model.checkpoints.image_processor import preparation
from model.checkpoints.source import Contents
from model.checkpoints.weight_mapping import Plan, Pouring, listed, plan
from model.errors import CheckpointError, ConfigError
from model.nn.transformer import Transformer

EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_experts_per_tok")


@dataclass(frozen=True)
class Source:
    """A folder of another family: its plan, and its tensors, not yet read."""

    plan: Plan
    tensors: Tensors


def look_into(found: Contents) -> Source:
    """Read the config and the names of the tensors. Raises CheckpointError for what cannot be opened."""
    fields = Fields(found.values, found.name)
    refuse_special(fields, fields.word("model_type", ""))
    source = understand(fields, found.tensors())
    reads = source.plan.config.picture
    if not reads.channels:
        return source
    picture = replace(reads, prepare=preparation(found.folder, reads, found.name))
    try:
        config = source.plan.config.change(picture=picture)
    except ConfigError as error:
        raise CheckpointError(f"{fields.name}: its {PREPROCESSOR}: {error}") from error
    return replace(source, plan=replace(source.plan, config=config))


def understand(fields: Fields, tensors: Tensors) -> Source:
    """What a config and the tensors beside it are, for the family that the config names."""
    planned = plan(FAMILIES[fields.word("model_type")], fields, tensors)
    return Source(_untied_where_different(planned, tensors), tensors)


def refuse_special(fields: Fields, kind: str) -> None:
    """Raise a sentence that names what the folder is, where no family can open it."""
    quantised = fields.group("quantization_config")
    if quantised is not None:
        method = quantised.word("quant_method", "an unknown method")
        raise CheckpointError(f"{fields.name} is quantised ({method}); open the original weights.")
    if kind in FAMILIES:
        return
    experts = next((name for name in EXPERTS if fields.has(name)), None)
    if experts or "moe" in kind:
        raise CheckpointError(f"{fields.name} is a mixture of experts ({kind}); such models are not supported.")
    raise CheckpointError(
        f"{fields.name}: its config says model_type {kind!r}; known are headlight, {', '.join(FAMILIES)}."
    )


def pour(source: Source, model: Transformer, device: torch.device, dtype: torch.dtype) -> tuple[str, ...]:
    """Give the model its weights, on a device and in a dtype; tells what was used and what was left over."""
    pouring = Pouring(source.plan, source.tensors)
    with torch.no_grad():
        moved: dict[int, Tensor] = {}
        state = pouring.pour(model)
        for name, tensor in state.items():
            state[name] = moved.setdefault(id(tensor), tensor.to(device, dtype))
    if model.config.tied:
        state["top.project.weight"] = state["embedding.weight"]
    model.load_state_dict(state, assign=True)
    model.tie()
    notes = [*source.plan.notes, f"{len(pouring.used)} tensors of the checkpoint are used."]
    if pouring.left:
        notes.append(f"{len(pouring.left)} do not act and were left over: {listed(pouring.left)}.")
    return tuple(notes)


def _untied_where_different(planned: Plan, tensors: Tensors) -> Plan:
    """Where config says tied, but embedding and head lie both in the file and differ, they are two."""
    if not planned.config.tied:
        return planned
    pouring = Pouring(planned, tensors)
    both = [pouring.where(name) for name in ("embedding.weight", "top.project.weight")]
    if None in both or torch.equal(*(tensors[str(name)] for name in both)):
        return planned
    note = "Its embedding and its head are different weights, although its config says they are one."
    return replace(planned, config=planned.config.change(tied=False), notes=(*planned.notes, note))
