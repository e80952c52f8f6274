"""Checkpoints of other families: converted to Transformer weights, and written back in the layout of a family.

A family fits an export if its own mapping reads the written config back as the same Config.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors.torch import save as serialized
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.families.common import USUAL_FIELDS
from headlight.checkpoints.file_rules import CONFIG, GENERATION_CONFIG, IMAGE_PROCESSOR, SAFETENSORS_FILE
from headlight.checkpoints.generation_file import generation_fields
from headlight.checkpoints.refusals import reject_unsupported
from headlight.checkpoints.sound_files import read_processor, with_sound_files
from headlight.checkpoints.source import CheckpointSource
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.text_stacks import find_family
from headlight.checkpoints.weight_mapping import (
    PROBLEM_TYPE_NAMES,
    ConversionPlan,
    Family,
    WeightLoader,
    join_names,
    make_plan,
    without_wrappers,
)
from headlight.config import Config, GenerationConfig, ImageConfig, ImageProcessorConfig, ResamplingFilter
from headlight.errors import CheckpointError, ConfigError, UnknownNameError, shortened
from headlight.file_writing import json_bytes, write_files
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.text.tokenizer import TOKENIZER_FILE, Tokenizer

_SUPPORTED_STEPS = ("do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_convert_rgb")


def read_image_processor(folder: Path, image: ImageConfig, name: str) -> ImageProcessorConfig:
    """The settings of the checkpoint `name`; missing ones have the defaults of transformers.

    Raises CheckpointError for unknown steps and for values of the wrong type.
    """
    fields = read_processor(folder, name, "image_processor")
    for step, value in fields.values.items():
        if step.startswith("do_") and step not in _SUPPORTED_STEPS and value:
            raise CheckpointError(
                f"{fields.name}: its {IMAGE_PROCESSOR} sets {step}, which changes images and is not supported."
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
    """Height, width and shortest edge, 0 if missing in the file; old files have one number for a square."""
    if not isinstance(fields.values.get(name), dict):
        height, width = fields.integers(name, 2, 0)
        return height or image.height, width or image.width, 0
    group = fields.nested(name)
    assert group is not None
    unknown = sorted(set(group.values) - {"height", "width", "shortest_edge"})
    if unknown or group.has("shortest_edge") == (group.has("height") and group.has("width")):
        told = ", ".join(group.values) or "nothing"
        raise CheckpointError(f"{group.name}: it names {told}; known are height with width, or only shortest_edge.")
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


@dataclass(frozen=True)
class ForeignCheckpoint:
    """A checkpoint of another family: its conversion plan, and its tensors, not yet read."""

    plan: ConversionPlan
    tensors: LazyTensors


def inspect_foreign(source: CheckpointSource) -> ForeignCheckpoint:
    """Read the config and the tensor names. Raises CheckpointError if the checkpoint cannot be opened."""
    fields = ConfigReader(source.config_json, source.name)
    reject_unsupported(fields)
    foreign = plan_conversion(fields, source.open_tensors())
    config = with_processor(foreign.plan.config, foreign.plan.family, source)
    return replace(foreign, plan=replace(foreign.plan, config=config))


def with_processor(config: Config, family: Family, source: CheckpointSource) -> Config:
    """The config with the image or sound settings of files beside it. Raises CheckpointError for invalid ones."""
    try:
        if config.reads_image:
            return _with_image_processor(config, family, source)
        return with_sound_files(config, source.settings_folder, source.name) if config.reads_sound else config
    except ConfigError as error:
        raise CheckpointError(f"{source.name}: its {IMAGE_PROCESSOR}: {error}") from error


def _with_image_processor(config: Config, family: Family, source: CheckpointSource) -> Config:
    """The config with the preprocessing of images, and a context for the resulting number of patches."""
    image = config.image
    if image.processor == ImageProcessorConfig():  # timm's config.json has it
        image = replace(image, processor=read_image_processor(source.settings_folder, image, source.name))
    if family.any_image_size:
        image = _sized_by_processor(image)
    config, before = config.replace(image=image), config.image
    more = image.patch_rows * image.patch_columns - before.patch_rows * before.patch_columns
    if own := config.own_encoder:
        return config.replace(own_encoder=own.replace(context_length=own.context_length + more))
    return config.replace(context_length=config.context_length + more)


def _sized_by_processor(image: ImageConfig) -> ImageConfig:
    """The image in its processor's output size, if known."""
    processor = image.processor
    height, width = (processor.crop_height or processor.height, processor.crop_width or processor.width)
    return replace(image, height=height, width=width) if height and width else image


def plan_conversion(fields: ConfigReader, tensors: LazyTensors) -> ForeignCheckpoint:
    """The conversion of a config and its tensors, by the family that the config names."""
    family, family_fields, notes = find_family(fields, tensors)
    tensors, wrapper_notes = without_wrappers(family, tensors)
    conversion = make_plan(family, family_fields, tensors)
    conversion = replace(conversion, notes=(*notes, *wrapper_notes, *conversion.notes))
    conversion = _untie_if_different(_with_stored_tables(conversion, tensors), tensors)
    return ForeignCheckpoint(conversion, tensors)


@dataclass(frozen=True)
class LoadReport:
    """The result of loading: notes on a checkpoint's tensors and fields, and the tensor of each parameter."""

    notes: tuple[str, ...] = ()
    tensor_names: Mapping[str, str] = field(default_factory=dict)


def load_weights(
    foreign: ForeignCheckpoint, model: Transformer, device: torch.device, dtype: torch.dtype
) -> LoadReport:
    """Give the model its weights, on a device and in a dtype."""
    loader = WeightLoader(foreign.plan, foreign.tensors)
    with torch.no_grad():  # one by one: a dequantised tensor is larger until it is converted
        state = {name: tensor.to(device, dtype) for name, tensor in loader.load(model)}
    if model.config.embedding.tied:
        state["output_head.projection.weight"] = state["embedding.weight"]
    model.load_state_dict(state, assign=True)
    model.tie_embeddings()
    notes = [*foreign.plan.notes, f"{len(loader.loaded)} tensors were loaded."]
    if loader.unused:
        count = "1 tensor is" if len(loader.unused) == 1 else f"{len(loader.unused)} tensors are"
        were = "was" if len(loader.unused) == 1 else "were"
        notes.append(f"{count} not needed for the forward pass and {were} not loaded: {join_names(loader.unused)}.")
    if unknown := [shortened(name, 40) for name in foreign.plan.unknown_fields]:
        count = "1 field of its config is" if len(unknown) == 1 else f"{len(unknown)} fields of its config are"
        notes.append(f"{count} unknown in its family and ignored: {join_names(unknown, 4)}.")
    return LoadReport(tuple(notes), loader.sources)


# The name of a table that the file stores, by the Config field that its family sets for it.
_STORED_TABLES = {
    "positional_encoding": "positions",
    "rope": "rotary frequencies",
    "embedding.separate_encoder": "embeddings of its stacks",
}


def _with_stored_tables(conversion: ConversionPlan, tensors: LazyTensors) -> ConversionPlan:
    """The conversion with the tables of the file where they differ from those that the config computes or shares."""

    def find(name: str) -> Tensor | None:
        names = (name, conversion.family.base_model_prefix + name)
        return next((tensors[each].float() for each in names if each in tensors), None)

    try:
        values = conversion.family.stored_tables(conversion.config, find)
        config = conversion.config.replace(**values)
    except ConfigError as error:
        raise CheckpointError(f"{conversion.fields.name}: {error}") from error
    if not values:
        return conversion
    tables = " and ".join(title for name, title in _STORED_TABLES.items() if name in values)
    note = f"Its file stores other {tables} than its config gives; those of the file are used."
    return replace(conversion, config=config, notes=(*conversion.notes, note))


def _untie_if_different(conversion: ConversionPlan, tensors: LazyTensors) -> ConversionPlan:
    """Untie embedding and output head if the config ties them, but there are two different tensors.

    A file stores both, or an adapter changes the embedding alone: the output head stays that of the base model.
    """
    if not conversion.config.embedding.tied:
        return conversion
    loader, output = WeightLoader(conversion, tensors), "output_head.projection.weight"
    embedding, head = loader.find("embedding.weight"), loader.find(output)
    note = "The config ties embedding and output head, but the file stores two different tensors; both are loaded."
    if embedding in tensors.replaced and head is None:
        head = loader.candidate_names(output)[0]
        tensors.readers[head] = tensors.replaced[embedding]
        note = "The config ties embedding and output head, but the adapter changes the embedding alone."
    if embedding is None or head is None or torch.equal(tensors[embedding], tensors[head]):
        return conversion
    return replace(
        conversion, config=conversion.config.replace(**{"embedding.tied": False}), notes=(*conversion.notes, note)
    )


def llama_config(config: Config) -> dict[str, Any]:
    """A decoder with RoPE, RMSNorm and SwiGLU."""
    return {
        "architectures": ["LlamaForCausalLM" if config.output_head == "language-model" else "LlamaModel"],
        **{theirs: getattr(config, size) for size, theirs in USUAL_FIELDS.items()},
        "num_key_value_heads": config.key_value_heads,
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_epsilon,
        "rope_theta": config.rope.theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope.theta},
        "tie_word_embeddings": config.embedding.tied,
        "attention_bias": False,
        "mlp_bias": False,
    }


def eurobert_config(config: Config) -> dict[str, Any]:
    """An encoder with RoPE, RMSNorm and SwiGLU, and a single linear map as its output head."""
    pooling = {"classifier_pooling": "mean" if config.pooling == "mean" else "bos"}
    return llama_config(config) | pooling | {"architectures": [_encoder_class("EuroBert", config)]}


def modernbert_config(config: Config) -> dict[str, Any]:
    """An encoder with RoPE, LayerNorm and a gated feed-forward, with full attention in every layer."""
    base = config.rope.theta
    rope_parameters = {"rope_type": "default", "rope_theta": base}
    return {
        "architectures": [_encoder_class("ModernBert", config)],
        **{theirs: getattr(config, size) for size, theirs in USUAL_FIELDS.items()},
        "hidden_activation": {"swiglu": "silu", "geglu-tanh": "gelu_new"}.get(config.feed_forward, "gelu"),
        "norm_eps": config.norm_epsilon,
        "norm_bias": config.has_bias("norm"),
        "attention_bias": config.has_bias("query"),
        "mlp_bias": config.has_bias("up"),
        "classifier_bias": config.has_bias("transform"),
        "classifier_activation": config.output_head_config.activation,
        "classifier_pooling": "mean" if config.pooling == "mean" else "cls",
        "decoder_bias": config.output_head_config.bias is not False,
        "layer_types": ["full_attention"] * config.layers,
        "global_attn_every_n_layers": 1,
        "global_rope_theta": base,
        "local_rope_theta": base,
        "rope_parameters": {"full_attention": rope_parameters, "sliding_attention": rope_parameters},
        "tie_word_embeddings": config.embedding.tied,
    }


def _encoder_class(family: str, config: Config) -> str:
    """The class of an encoder in `transformers`, by its output head."""
    heads = {
        "masked-language-model": "ForMaskedLM",
        "sequence-classifier": "ForSequenceClassification",
        "token-classifier": "ForTokenClassification",
    }
    return family + heads.get(config.output_head, "Model")


SET_BY_OBJECTIVE = {"architecture", "masks", "output_head", "labels", "vocabulary_size"}  # not in a recipe's [model]
EXPORT_CONFIGS: Mapping[str, Callable[[Config], dict[str, Any]]] = {
    "llama": llama_config,
    "eurobert": eurobert_config,
    "modernbert": modernbert_config,
}


def export(folder: str | Path, model: Transformer, tokenizer: Tokenizer) -> str:
    """Write a folder that `transformers` opens; returns the family. Raises CheckpointError if none fits."""
    folder = Path(folder)
    model_type, family_config = _matching_family(model.config)
    tensors = _family_tensors(FAMILIES[model_type], family_config, model)
    token_ids = {"pad_token_id": tokenizer.pad_id, "bos_token_id": tokenizer.start_id, "eos_token_id": tokenizer.end_id}
    if model_type == "eurobert" and tokenizer.mask_id is not None:  # its default exceeds a small vocabulary
        token_ids["mask_token_id"] = tokenizer.mask_id
    config_json = {"model_type": model_type, "dtype": "float32", **token_ids, **family_config}
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": model.config.context_length}
    tokens = {
        f"{name}_token": tokenizer.backend.id_to_token(number)
        for name, number in (
            ("pad", tokenizer.pad_id), ("unk", tokenizer.unknown_id), ("mask", tokenizer.mask_id),
            ("bos", tokenizer.start_id), ("eos", tokenizer.end_id),
        )
        if number is not None
    }  # fmt: skip
    files = {
        SAFETENSORS_FILE: serialized(tensors, metadata={"format": "pt"}),
        CONFIG: json_bytes(config_json),
        TOKENIZER_FILE: tokenizer.to_bytes(),
        "tokenizer_config.json": json_bytes(tokenizer_config | tokens),
    }
    if task_of(model.config).continues_text:
        files[GENERATION_CONFIG] = json_bytes(generation_fields(model.config.generation, tokenizer))
    write_files(folder, files)
    return model_type


def _matching_family(config: Config) -> tuple[str, dict[str, Any]]:
    """The family that a config is exported as, and its fields. Raises CheckpointError with the obstacle."""
    wanted, differences = _exported_part(config).to_paths(), {}
    for model_type, to_family_config in EXPORT_CONFIGS.items():
        try:
            written = to_family_config(config) | _label_fields(config)
            read = make_plan(FAMILIES[model_type], ConfigReader(written, "export"), LazyTensors({})).config
        except (CheckpointError, UnknownNameError):
            continue
        theirs = read.replace(dropout=0.0).to_paths()
        found = differences[model_type] = {name: theirs[name] for name in theirs if theirs[name] != wanted[name]}
        if not found:
            return model_type, written
    raise CheckpointError(_obstacle(config, differences))


def _label_fields(config: Config) -> dict[str, Any]:
    """The names of labels, and what their logits mean if `transformers` cannot tell from their number."""
    if not config.labels:
        return {}
    labels = {str(number): label for number, label in enumerate(config.labels)}
    fields = {"id2label": labels, "label2id": {label: int(number) for number, label in labels.items()}}
    ours = config.output_head_config.problem_type
    theirs = next(theirs for theirs, name in PROBLEM_TYPE_NAMES.items() if name == ours)
    return fields | ({"problem_type": theirs} if ours != "single-label" else {})


def _obstacle(config: Config, differences: Mapping[str, Mapping[str, Any]]) -> str:
    """Why a model cannot be exported, and the recipe fields for an exportable model of its kind."""
    families = ", ".join(EXPORT_CONFIGS)
    near = {name: fields for name, fields in differences.items() if not set(fields) & SET_BY_OBJECTIVE}
    if not near:
        return (
            f"Models are exported as {families}; none of them is {'a' if config.architecture == 'decoder' else 'an'} "
            f"{config.architecture} with the output head {config.output_head} and the masks "
            f"{', '.join(config.masks) or 'none'}."
        )
    name = min(near, key=lambda each: len(near[each]))
    fields = ", ".join(f"{field} = {json.dumps(value)}" for field, value in near[name].items())
    return (
        f"This model is not exported as {name} because it was trained with other fields under [model]: {name} has "
        f"{fields}. Train with these, and the model can be exported. Other families: "
        f"{', '.join(each for each in EXPORT_CONFIGS if each != name)}."
    )


def _exported_part(config: Config) -> Config:
    """The config without rules for generation, settings of training, and what its output head does not use."""
    answer = (
        config.output_head_config
        if config.output_head != "language-model"
        else replace(config.output_head_config, activation="gelu")
    )
    return config.replace(dropout=0.0, output_head_config=answer, generation=GenerationConfig())


def _family_tensors(family: Family, values: dict[str, Any], model: Transformer) -> dict[str, Tensor]:
    """The parameters under the family's names; where the family stores several as one tensor, their rows are joined."""
    loader = WeightLoader(make_plan(family, ConfigReader(values, "export"), LazyTensors({})), LazyTensors({}))
    parts: dict[str, list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        parts.setdefault(loader.candidate_names(name)[0], []).append(parameter.detach().to("cpu", torch.float32))
    return {name: torch.cat(tensors).contiguous() for name, tensors in parts.items()}
