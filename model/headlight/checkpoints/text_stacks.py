"""Models inside another model: the text stack of one that also reads images, and each tower of CLIP and SigLIP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.families.experts import LLAMA4
from headlight.checkpoints.families.gemma import GEMMA, GEMMA3
from headlight.checkpoints.families.gemma3n import GEMMA3N
from headlight.checkpoints.families.gemma4 import GEMMA4
from headlight.checkpoints.families.llama import LLAMA, MISTRAL, QWEN2_VL, QWEN3_VL
from headlight.checkpoints.families.qwen_hybrid import QWEN3_5, QWEN3_5_MOE
from headlight.checkpoints.families.two_models import ENCODERS, two_models
from headlight.checkpoints.families.vision.timm import timm_family, with_head_named
from headlight.checkpoints.source import TIMM, TOWER_FIELD, TWO_TOWERS
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.weight_mapping import Family, HeadMapping, WeightRule, WeightRules
from headlight.errors import CheckpointError, shortened
from headlight.registry import Registry


@dataclass(frozen=True)
class TextStack:
    """A `model_type` whose text stack is opened.

    default: the stack's family if `text_config` names none of FAMILIES.
    tied: whether its language-model head shares the embedding if no field states it.
    other: the inputs of the whole model besides texts.
    note: further information for the user; `dropped_fields` are the fields that the note is about.
    """

    default: Family
    tied: bool = False
    other: str = "images"
    note: str = ""
    dropped_fields: tuple[str, ...] = ()


TEXT_STACKS: Registry[TextStack] = Registry(
    "model with a text stack",
    {
        "gemma3": TextStack(GEMMA3, tied=True),
        "gemma3n": TextStack(GEMMA3N, tied=True, other="images and sounds"),
        "gemma4": TextStack(GEMMA4, tied=True, other="images and sounds"),
        "llama4": TextStack(LLAMA4),
        "paligemma": TextStack(
            GEMMA,
            tied=True,
            note="In its original code the tokens of a prompt see each other in both directions; here the mask is "
            "causal. You can choose another mask.",
            dropped_fields=("use_bidirectional_attention",),
        ),
        "qwen2_vl": TextStack(QWEN2_VL),
        "qwen2_5_vl": TextStack(QWEN2_VL),
        "qwen3_vl": TextStack(QWEN3_VL),
        "qwen3_5": TextStack(QWEN3_5),
        "qwen3_5_moe": TextStack(QWEN3_5_MOE),
        "mistral3": TextStack(MISTRAL, tied=True),
        "llava": TextStack(LLAMA),
        "idefics3": TextStack(replace(LLAMA, defaults={"rms_norm_eps": 1e-5})),
    },
)
READABLE_METHOD = "mxfp4"  # the quantisation whose tensors are unpacked when they are read
# Prefixes of the tensors of a text stack, in new and old files; the first one found is used.
_PREFIXES = ("model.language_model.", "language_model.model.", "model.text_model.", "language_model.", "text_model.")
_OTHER_TENSORS = ("*audio*", "*vision*", "*visual*", "*projector*", "*connector*", "*image_newline*")
_OTHER_FIELDS = (
    "audio_config", "audio_token_id", "boa_token_id", "boi_token_id", "boi_token_index", "eoa_token_index",
    "eoi_token_id", "eoi_token_index", "ignore_index", "image_seq_length", "image_token_id", "image_token_index",
    "mm_tokens_per_image", "multimodal_projector_bias", "num_image_tokens", "projection_dim", "projector_hidden_act",
    "scale_factor", "spatial_merge_size", "text_config", "video_token_id", "vision_config", "vision_end_token_id",
    "vision_feature_layer", "vision_feature_select_strategy", "vision_start_token_id", "vision_token_id",
)  # fmt: skip


def find_family(fields: ConfigReader, tensors: LazyTensors) -> tuple[Family, ConfigReader, tuple[str, ...]]:
    """The family that reads a config, the fields for it, and notes."""
    quantised = fields.nested("quantization_config")
    if quantised and quantised.string("quant_method", "") == READABLE_METHOD:
        rest = {name: value for name, value in fields.values.items() if name != "quantization_config"}
        fields = ConfigReader(rest, fields.name)
    model_type = fields.string("model_type")
    if model_type == TIMM:
        return timm_family(tuple(tensors)), with_head_named(fields), ()
    if model_type in FAMILIES:
        return FAMILIES[model_type], fields, ()
    if model_type in ENCODERS:
        return two_models(fields)
    if model_type in TWO_TOWERS:
        return _find_tower(model_type, fields)
    stack, inner = TEXT_STACKS[model_type], fields.nested("text_config") or fields
    name = inner.string("model_type", "")
    if name not in FAMILIES and not name.startswith(model_type) and inner.has("model_type"):
        raise CheckpointError(f"{fields.name}: its text stack is a {shortened(name)}, which is not a supported family.")
    note = f"Only the text stack of this {model_type} is opened; {stack.other} are not read."
    tied = fields.boolean("tie_word_embeddings", stack.tied) or inner.boolean("tie_word_embeddings", False)
    merged = {**inner.values, "tie_word_embeddings": tied, "architectures": fields.values.get("architectures")}
    merged = {name: value for name, value in merged.items() if name not in stack.dropped_fields}
    family = _inside(FAMILIES.get(name, stack.default), tensors)
    return family, ConfigReader(merged, fields.name), tuple(filter(None, (note, stack.note)))


def _find_tower(model_type: str, fields: ConfigReader) -> tuple[Family, ConfigReader, tuple[str, ...]]:
    """The tower that the path names, or else the text tower."""
    tower = fields.string(TOWER_FIELD, "text")
    inner = fields.nested(f"{tower}_config") or ConfigReader({}, fields.name)
    reads, other = ("texts", "vision") if tower == "text" else ("images", "text")
    note = f"Only the tower that reads {reads} is opened; add /{other} to the folder's path to open the other one."
    classes = fields.list_of("architectures", str)
    is_classifier = classes and classes[0].endswith("ForImageClassification")  # a note says that it is left out
    values = {**inner.values, "architectures": classes if is_classifier else ["Model"]}
    return FAMILIES[f"{model_type}_{tower}_model"], ConfigReader(values, fields.name), (note,)


def _inside(family: Family, tensors: LazyTensors) -> Family:
    """The family with the tensor names that it has inside a larger model."""
    prefix = next((each for each in _PREFIXES if any(name.startswith(each) for name in tensors)), "model.")
    head = family.heads_by_class["ForCausalLM"]
    head = replace(head, weights=_also_inside(head.weights))
    heads: Mapping[str, HeadMapping] = {**family.heads_by_class, "ForCausalLM": head, "ForConditionalGeneration": head}
    return replace(
        family,
        heads_by_class=heads,
        base_model_prefix=prefix,
        ignored_tensors=(*family.ignored_tensors, *_OTHER_TENSORS),
        ignored_fields=(*family.ignored_fields, *_OTHER_FIELDS),
    )


def _also_inside(weights: WeightRules) -> WeightRules:
    """A head's rules; its tensors may also be inside the text stack."""
    rows = {name: row if isinstance(row, WeightRule) else WeightRule(row) for name, row in weights.items()}
    return {name: replace(row, source=f"{row.source}|language_model.{row.source}") for name, row in rows.items()}
