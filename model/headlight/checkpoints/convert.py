"""Checkpoints of other families, converted to Transformer weights by their family's mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.file_rules import IMAGE_PROCESSOR
from headlight.checkpoints.source import CheckpointSource
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.weight_mapping import ConversionPlan, WeightLoader, join_names, make_plan
from headlight.config_groups import ImageConfig, ImageProcessorConfig, ResamplingFilter
from headlight.errors import CheckpointError, ConfigError, shortened
from headlight.nn.transformer import Transformer

_SUPPORTED_STEPS = ("do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_convert_rgb")


def read_image_processor(folder: Path, image: ImageConfig, name: str) -> ImageProcessorConfig:
    """The settings of the checkpoint `name`; what the file does not say has the default of transformers.

    Raises CheckpointError for unknown steps and for values of the wrong type.
    """
    path = folder / IMAGE_PROCESSOR
    fields = ConfigReader(read_json(path, name) if path.is_file() else {}, name)
    for step, value in fields.values.items():
        if step.startswith("do_") and step not in _SUPPORTED_STEPS and value:
            raise CheckpointError(
                f"{fields.name}: its {IMAGE_PROCESSOR} says {step}, which changes images and is not supported."
            )
    height, width, shortest = _size(fields, "size", image)
    crop = _is_enabled(fields, "do_center_crop", False)
    crop_height, crop_width, _ = _size(fields, "crop_size", image) if crop else (0, 0, 0)
    normalize = _is_enabled(fields, "do_normalize")
    return ImageProcessorConfig(
        resize=_is_enabled(fields, "do_resize"),
        height=height,
        width=width,
        shortest_edge=shortest,
        resample=_resample(fields),
        crop_height=crop_height,
        crop_width=crop_width,
        rescale_factor=fields.number("rescale_factor", 1 / 255) if _is_enabled(fields, "do_rescale") else 1.0,
        mean=_per_channel(fields, "image_mean") if normalize else (0.0,),
        std=_per_channel(fields, "image_std") if normalize else (1.0,),
    )


def _is_enabled(fields: ConfigReader, name: str, default: bool = True) -> bool:
    """Whether a step is enabled; null means no."""
    return fields.boolean(name, default and name not in fields.values)


def _size(fields: ConfigReader, name: str, image: ImageConfig) -> tuple[int, int, int]:
    """Height, width and shortest edge, 0 where the file names none; old files have one number for a square."""
    if not isinstance(fields.values.get(name), dict):
        height, width = fields.integers(name, 2, 0)
        return height or image.height, width or image.width, 0
    group = fields.nested(name)
    assert group is not None
    unknown = sorted(set(group.values) - {"height", "width", "shortest_edge"})
    if unknown or group.has("shortest_edge") == (group.has("height") and group.has("width")):
        told = ", ".join(group.values) or "nothing"
        raise CheckpointError(f"{group.name}: it names {told}; known are height with width, or shortest_edge alone.")
    if group.has("shortest_edge"):
        return 0, 0, group.integer("shortest_edge")
    return group.integer("height"), group.integer("width"), 0


def _resample(fields: ConfigReader) -> ResamplingFilter:
    filters: tuple[ResamplingFilter, ...] = get_args(ResamplingFilter)
    number = fields.integer("resample", filters.index("bilinear"))
    if number >= len(filters):
        known = ", ".join(f"{place} ({name})" for place, name in enumerate(filters))
        raise CheckpointError(f"{fields.name}: its resample is {number}; known are {known}.")
    return filters[number]


def _per_channel(fields: ConfigReader, name: str) -> tuple[float, ...]:
    """One number per channel; old files may have one for all."""
    if not isinstance(fields.values.get(name), list):
        return (fields.number(name, 0.5),)
    numbers = fields.list_of(name, (int, float))
    return tuple(ConfigReader({name: number}, fields.name).number(name) for number in numbers)


EXPERT_FIELDS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_experts_per_tok")


@dataclass(frozen=True)
class ForeignCheckpoint:
    """A checkpoint of another family: how it converts, and its tensors, not yet read."""

    plan: ConversionPlan
    tensors: LazyTensors


def inspect_foreign(source: CheckpointSource) -> ForeignCheckpoint:
    """Read the config and the tensor names. Raises CheckpointError for what cannot be opened."""
    fields = ConfigReader(source.config_json, source.name)
    reject_unsupported(fields, fields.string("model_type", ""))
    foreign = plan_conversion(fields, source.open_tensors())
    image = foreign.plan.config.image
    if not image.channels:
        return foreign
    image_config = replace(image, processor=read_image_processor(source.folder, image, source.name))
    try:
        config = foreign.plan.config.replace(image=image_config)
    except ConfigError as error:
        raise CheckpointError(f"{fields.name}: its {IMAGE_PROCESSOR}: {error}") from error
    return replace(foreign, plan=replace(foreign.plan, config=config))


def plan_conversion(fields: ConfigReader, tensors: LazyTensors) -> ForeignCheckpoint:
    """How a config and its tensors convert, by the family that the config names."""
    conversion = make_plan(FAMILIES[fields.string("model_type")], fields, tensors)
    return ForeignCheckpoint(_untie_if_different(conversion, tensors), tensors)


def reject_unsupported(fields: ConfigReader, model_type: str) -> None:
    """Raise CheckpointError where no family can open the checkpoint: quantised, a mixture of experts, or unknown."""
    quantised = fields.nested("quantization_config")
    if quantised is not None:
        method = quantised.string("quant_method", "an unknown method")
        raise CheckpointError(f"{fields.name} is quantised ({shortened(method)}); open the original weights.")
    if model_type in FAMILIES:
        return
    expert_field = next((name for name in EXPERT_FIELDS if fields.has(name)), None)
    if expert_field or "moe" in model_type:
        raise CheckpointError(f"{fields.name} is a mixture of experts ({model_type}); such models are not supported.")
    told, known = shortened(model_type), ", ".join(FAMILIES)
    raise CheckpointError(f"{fields.name}: its config says model_type {told!r}; known are headlight, {known}.")


@dataclass(frozen=True)
class LoadReport:
    """What became of a checkpoint's tensors and fields: notes in sentences, and the tensor of each parameter."""

    notes: tuple[str, ...] = ()
    tensor_names: Mapping[str, str] = field(default_factory=dict)


def load_weights(
    foreign: ForeignCheckpoint, model: Transformer, device: torch.device, dtype: torch.dtype
) -> LoadReport:
    """Give the model its weights, on a device and in a dtype."""
    loader = WeightLoader(foreign.plan, foreign.tensors)
    with torch.no_grad():
        converted: dict[int, Tensor] = {}
        state = loader.load(model)
        for name, tensor in state.items():
            state[name] = converted.setdefault(id(tensor), tensor.to(device, dtype))
    if model.config.tied_embeddings:
        state["output_head.projection.weight"] = state["embedding.weight"]
    model.load_state_dict(state, assign=True)
    model.tie_embeddings()
    notes = [*foreign.plan.notes, f"{len(set(loader.sources.values()))} tensors were loaded."]
    if loader.unused:
        notes.append(
            f"{len(loader.unused)} tensors are not needed for the forward pass and were not loaded: "
            f"{join_names(loader.unused)}."
        )
    if unknown := [shortened(name, 40) for name in foreign.plan.unknown_fields]:
        count = "1 field of its config is" if len(unknown) == 1 else f"{len(unknown)} fields of its config are"
        notes.append(f"{count} unknown in its family and ignored: {join_names(unknown, 4)}.")
    return LoadReport(tuple(notes), loader.sources)


def _untie_if_different(conversion: ConversionPlan, tensors: LazyTensors) -> ConversionPlan:
    """Untie embedding and output head where the config ties them, but the file stores two different tensors."""
    if not conversion.config.tied_embeddings:
        return conversion
    loader = WeightLoader(conversion, tensors)
    names = [loader.find(name) for name in ("embedding.weight", "output_head.projection.weight")]
    if None in names or torch.equal(*(tensors[str(name)] for name in names)):
        return conversion
    note = "The config ties embedding and output head, but the file stores two different tensors; both are loaded."
    return replace(conversion, config=conversion.config.replace(tied_embeddings=False), notes=(*conversion.notes, note))
