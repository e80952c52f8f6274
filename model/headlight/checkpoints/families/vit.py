"""ViT and models built like it: image patches in place of tokens (Dosovitskiy et al. 2021).

DeiT has a distillation token; BEiT has biases by the offset between patches; DINOv2 may have registers, and reads
images of any size. BEiT and DINOv2 scale the output of each sublayer, channel by channel (LayerScale, folded into the
sublayer's output weights here).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    GATED_MLP_ACTIVATIONS,
    MLP_ACTIVATIONS,
    block_rows,
    block_rules,
    classifier_head,
)
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    WeightOp,
    WeightRule,
    WeightRules,
    beside_each_other,
    chunk,
    rule,
)
from headlight.config import Config, ImageConfig, OutputHeadConfig, RelativePositionConfig, RopeConfig
from headlight.errors import CheckpointError

MAX_REGISTERS = 64  # published models have four


def vit(fields: ConfigReader, *extra_tokens: str) -> ConfigValues:
    """A bidirectional pre-norm encoder with a class token before the patches and learned positions.

    `extra_tokens` are the names of further tokens between it and the patches.
    """
    height, width = fields.integers("image_size", 2, 224)
    patch_height, patch_width = fields.integers("patch_size", 2, 16)
    image = ImageConfig(
        channels=fields.integer("num_channels", 3),
        height=height,
        width=width,
        patch_height=patch_height,
        patch_width=patch_width,
        extra_tokens=extra_tokens,
    )
    width, heads = fields.integer("hidden_size", 768), fields.integer("num_attention_heads", 12)
    projections = ("query", "key", "value") * fields.boolean("qkv_bias", True)
    return {
        "architecture": "encoder",
        "vocabulary_size": 1 + len(extra_tokens),
        "context_length": 1 + len(extra_tokens) + image.patch_rows * image.patch_columns,
        "image": image,
        "d_model": width,
        "layers": fields.layer_count("num_hidden_layers", 12),
        "heads": heads,
        "head_dim": fields.integer("head_dim", width // max(heads, 1)),
        "d_ff": fields.integer("intermediate_size", 3072),
        "feed_forward": fields.choice("hidden_act", "gelu", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-12),
        "positional_encoding": "learned",
        "masks": (),
        "biases": (*projections, "output", "up", "down", "norm"),
    }


def deit(fields: ConfigReader) -> ConfigValues:
    """ViT with a distillation token (Touvron et al. 2021)."""
    return vit(fields, "[DIST]")


def dinov2(fields: ConfigReader) -> ConfigValues:
    """ViT with LayerScale, and with registers if the config has some (Darcet et al. 2024)."""
    registers = fields.integer("num_register_tokens", 0)
    if registers > MAX_REGISTERS:
        raise CheckpointError(
            f"{fields.name}: its num_register_tokens is {registers:,}; at most {MAX_REGISTERS} are supported."
        )
    width = int(fields.integer("hidden_size", 768) * fields.number("mlp_ratio", 4))
    gated = fields.boolean("use_swiglu_ffn", False)
    width = -(int(width * 2 / 3) // -8) * 8 if gated else width
    choices = vit(fields.with_defaults(intermediate_size=width), *(f"[REG{number}]" for number in range(registers)))
    return choices | ({"feed_forward": "swiglu", "biases": ("gate", *choices["biases"])} if gated else {})


def dinov2_classifier(fields: ConfigReader) -> ConfigValues:
    """A classifier of the class token and the mean of the patches, beside each other; registers are left out."""
    skipped = fields.integer("num_register_tokens", 0)
    return {"output_head_config": OutputHeadConfig(second_pooling="mean-but-first", skipped_tokens=skipped)}


def dinov3(fields: ConfigReader) -> ConfigValues:
    """DINOv2 with registers, rotations in place of learned positions, and a field for each bias."""
    choices = dinov2(fields)
    gated = fields.boolean("use_gated_mlp", False)
    activations = GATED_MLP_ACTIVATIONS if gated else MLP_ACTIVATIONS
    fields_of = {"query": True, "key": False, "value": True, "proj": True, "mlp": True}
    given = [name for name, usual in fields_of.items() if fields.boolean(f"{name}_bias", usual)]
    of = {"proj": ("output",), "mlp": ("gate", "up", "down")}
    return choices | {
        "d_ff": fields.integer("intermediate_size", 1536),
        "feed_forward": fields.choice("hidden_act", "gelu", activations),
        "positional_encoding": "rope-patches",
        "rope": RopeConfig(theta=fields.number("rope_theta", 100.0)),
        "biases": ("norm", *(module for name in given for module in of.get(name, (name,)))),
    }


def beit(fields: ConfigReader) -> ConfigValues:
    """ViT with LayerScale, and biases by the offset between patches, for each layer or shared (Bao et al. 2022)."""
    choices = vit(fields)
    each_layer = fields.boolean("use_relative_position_bias", False)
    relative = each_layer or fields.boolean("use_shared_relative_position_bias", False)
    absolute = fields.boolean("use_absolute_position_embeddings", False)
    if each_layer:
        fields.require_values({"use_shared_relative_position_bias": False})
    return choices | {
        "positional_encoding": "relative-patches" if relative else "learned" if absolute else "none",
        "relative_position": RelativePositionConfig(
            absolute_positions=relative and absolute, each_layer=relative and each_layer
        ),
        "biases": tuple(name for name in choices["biases"] if name != "key"),
        "final_norm": not fields.boolean("use_mean_pooling", True),
    }


def beit_classifier(fields: ConfigReader) -> ConfigValues:
    """A classifier of the class token, or of the mean of all patches, which is normed in the head."""
    if not fields.boolean("use_mean_pooling", True):
        return {}
    return {"pooling": "mean-but-first", "output_head_config": OutputHeadConfig(transform="norm")}


def drop_batch_axis(tensor: Tensor, config: Config) -> Tensor:
    """Removes the batch axis."""
    return tensor.squeeze(0)


def _followed_by(name: str) -> WeightRule:
    """The class token, followed by the tokens of another tensor."""
    together = WeightRule(
        "embeddings.cls_token", second=name, combine=lambda first, other: torch.cat((first, other), 1)
    )
    return replace(together, ops=(drop_batch_axis,))


def _tables_beside_each_other(tensor: Tensor, config: Config) -> Tensor:
    """The tables of all layers as one, or the shared table."""
    return beside_each_other(tensor, config) if tensor.dim() == 3 else tensor


def _mean_of_both(tensor: Tensor, other: Tensor) -> Tensor:
    """The weight or bias for the mean of two heads' logits; weights beside each other, for a vector each."""
    axis = 1 if tensor.dim() == 2 else 0
    both = (tensor.float() / 2, other.float() / 2)
    return torch.cat(both, axis) if tensor.dim() == 2 else both[0] + both[1]


def _has_layer_scale(fields: ConfigReader) -> bool:
    """Only whether the value is above 0 matters: the scales themselves are stored."""
    value = fields.values.get("layer_scale_init_value")
    return not isinstance(value, int | float) or value > 0


def _scaled(name: str, scale: str, has_scale: Callable[[ConfigReader], bool] = lambda fields: True) -> WeightRule:
    """The weight or bias of a module, multiplied by LayerScale (Touvron et al. 2021, section 2)."""

    def combine(tensor: Tensor, by: Tensor) -> Tensor:
        return tensor.float() * by.float().reshape(-1, *(1 for _ in tensor.shape[1:]))

    return WeightRule(name, second=scale, has_second=has_scale, combine=combine)


def _fitted(antialias: bool) -> WeightOp:
    """A table of positions for a square of patches, resized to the config's patches; extra tokens have no position."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        table = tensor.squeeze(0).float()
        patches, rows, columns = table[1:], config.image.patch_rows, config.image.patch_columns
        if len(patches) != rows * columns or rows != columns:
            side = math.isqrt(len(patches))
            grid = patches.reshape(1, side, side, -1).permute(0, 3, 1, 2)
            fitted = nn.functional.interpolate(grid, (rows, columns), mode="bicubic", antialias=antialias)
            patches = fitted[0].flatten(1).T
        return torch.cat((table[:1], table.new_zeros(len(config.image.extra_tokens), table.shape[1]), patches))

    return step


def _second_half_if_gated(tensor: Tensor, config: Config) -> Tensor:
    """The rows after those of the gate, if the feed-forward network has one."""
    return tensor.chunk(2)[1] if config.feed_forward == "swiglu" else tensor


# Names in files, and the module names in transformers 5, for weights saved from there.
_LAYER = {
    "self_attention_residual.norm": ("layernorm_before", "layernorm_before"),
    "self_attention.query": ("attention.attention.query", "attention.q_proj"),
    "self_attention.key": ("attention.attention.key", "attention.k_proj"),
    "self_attention.value": ("attention.attention.value", "attention.v_proj"),
    "self_attention.output": ("attention.output.dense", "attention.o_proj"),
    "feed_forward_residual.norm": ("layernorm_after", "layernorm_after"),
    "feed_forward.up": ("intermediate.dense", "mlp.fc1"),
    "feed_forward.down": ("output.dense", "mlp.fc2"),
}
_BLOCK: WeightRules = {
    ours: f"encoder.layer.{{i}}.{stored}|layers.{{i}}.{running}" for ours, (stored, running) in _LAYER.items()
}
_OUTSIDE_BLOCKS: WeightRules = {
    "embedding.weight": rule("embeddings.cls_token", drop_batch_axis),
    "patch_embedding.projection": "embeddings.patch_embeddings.projection",
    "encoder.positional_encoding.table.weight": rule("embeddings.position_embeddings", drop_batch_axis),
    "encoder.final_norm": "layernorm",
}
_DINOV2_BLOCK: WeightRules = {
    "self_attention_residual.norm": "norm1",
    "self_attention.query": "attention.attention.query",
    "self_attention.key": "attention.attention.key",
    "self_attention.value": "attention.attention.value",
    "self_attention.output": _scaled("attention.output.dense", "encoder.layer.{i}.layer_scale1.lambda1"),
    "feed_forward_residual.norm": "norm2",
    "feed_forward.gate": rule("mlp.weights_in", chunk(0, 2)),
    "feed_forward.up": WeightRule("mlp.fc1|mlp.weights_in", (_second_half_if_gated,)),
    "feed_forward.down": _scaled("mlp.fc2|mlp.weights_out", "encoder.layer.{i}.layer_scale2.lambda1"),
}
_HEADS = {"ForImageClassification": classifier_head("classifier")}
_IGNORED_TENSORS = ("pooler.*", "embeddings.mask_token")
_IGNORED_FIELDS = ("encoder_stride", "pooler_act", "pooler_output_size")  # of heads that are not loaded
VIT = Family(
    vit,
    _OUTSIDE_BLOCKS | block_rules("encoder", "", _BLOCK),
    _HEADS,
    base_model_prefix="vit.",
    ignored_tensors=_IGNORED_TENSORS,
    ignored_fields=_IGNORED_FIELDS,
)
_TEACHER_HEAD = classifier_head(
    "-",
    rows={
        f"output_head.projection.{leaf}": WeightRule(
            f"cls_classifier.{leaf}", second=f"distillation_classifier.{leaf}", combine=_mean_of_both
        )
        for leaf in ("weight", "bias")
    },
    output_head_config=OutputHeadConfig(second_pooling="second"),
)
DEIT = replace(
    VIT,
    config_values=deit,
    weights=VIT.weights | {"embedding.weight": _followed_by("embeddings.distillation_token")},
    heads_by_class={**_HEADS, "ForImageClassificationWithTeacher": _TEACHER_HEAD},
    base_model_prefix="deit.",
)


def _dinov2(antialias: bool, more: WeightRules, defaults: dict[str, Any], **choices: Any) -> Family:
    """A family of DINOv2's; `antialias`: whether positions are smoothed when resized to smaller images."""
    outside = {"encoder.positional_encoding.table.weight": rule("embeddings.position_embeddings", _fitted(antialias))}
    return Family(
        dinov2,
        _OUTSIDE_BLOCKS | outside | more | block_rules("encoder", "encoder.layer.{i}.", _DINOV2_BLOCK),
        {"ForImageClassification": classifier_head("classifier", read=dinov2_classifier)},
        ignored_tensors=_IGNORED_TENSORS,
        ignored_fields=(
            *_IGNORED_FIELDS, "apply_layernorm", "drop_path_rate", "layerscale_value", "mlp_ratio", "out_features",
            "out_indices", "reshape_hidden_states", "stage_names", "use_mask_token",
        ),
        any_image_size=True,
        defaults={"layer_norm_eps": 1e-6, **defaults},
        **choices,
    )  # fmt: skip


DINOV2 = _dinov2(False, {}, {"patch_size": 14}, base_model_prefix="dinov2.")
DINOV2_WITH_REGISTERS = _dinov2(
    True,
    {"embedding.weight": _followed_by("embeddings.register_tokens")},
    {"num_register_tokens": 4},
    base_model_prefix="dinov2_with_registers.",
)
_BIASES = "relative_position_bias.relative_position_bias_table"
_BEIT_BLOCK: WeightRules = block_rules("encoder", "", _BLOCK) | {
    f"encoder.blocks.{{i}}.{name}": _scaled(
        f"encoder.layer.{{i}}.{module}", f"encoder.layer.{{i}}.{scale}", _has_layer_scale
    )
    for name, module, scale in (
        ("self_attention.output", "attention.output.dense", "lambda_1"),
        ("feed_forward.down", "output.dense", "lambda_2"),
    )
}
BEIT = Family(
    beit,
    _OUTSIDE_BLOCKS
    | {
        "encoder.positional_encoding.absolute.table.weight": rule("embeddings.position_embeddings", drop_batch_axis),
        "encoder.positional_encoding.bias_table.weight": rule(
            f"encoder.layer.*.attention.attention.{_BIASES}|encoder.{_BIASES}", _tables_beside_each_other
        ),
    }
    | _BEIT_BLOCK,
    {
        "ForImageClassification": classifier_head(
            "classifier",
            rows={"output_head.transform.norm": "beit.pooler.layernorm|pooler.layernorm"},
            read=beit_classifier,
        )
    },
    base_model_prefix="beit.",
    ignored_tensors=(*_IGNORED_TENSORS, "encoder.layer.*.relative_position_index", "encoder.*.relative_position_index"),
    ignored_fields=(
        *_IGNORED_FIELDS, "layer_scale_init_value", "drop_path_rate", "use_mask_token", "add_fpn", "vocab_size",
        "auxiliary_channels", "auxiliary_concat_input", "auxiliary_loss_weight", "auxiliary_num_convs",
        "use_auxiliary_head", "pool_scales", "semantic_loss_ignore_index", "out_features", "out_indices",
        "reshape_hidden_states", "stage_names",
    ),
)  # fmt: skip
_DINOV3_BLOCK = block_rows(
    "norm1",
    [*(f"attention.{name}_proj" for name in "qkv"), _scaled("attention.o_proj", "layer.{i}.layer_scale1.lambda1")],
    "norm2",
    ["mlp.gate_proj", "mlp.up_proj", _scaled("mlp.down_proj", "layer.{i}.layer_scale2.lambda1")],
)
_DINOV3_OUTSIDE_BLOCKS: WeightRules = {
    "embedding.weight": _followed_by("embeddings.register_tokens"),
    "patch_embedding.projection": "embeddings.patch_embeddings",
    "encoder.final_norm": "norm",
}
DINOV3 = replace(
    DINOV2_WITH_REGISTERS,
    config_values=dinov3,
    weights=_DINOV3_OUTSIDE_BLOCKS | block_rules("encoder", "layer.{i}.", _DINOV3_BLOCK),
    base_model_prefix="",
    heads_by_class={},
    ignored_fields=(*DINOV2.ignored_fields, "pos_embed_jitter", "pos_embed_rescale", "pos_embed_shift", "qkv_bias"),
    defaults={"hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536, "layer_norm_eps": 1e-5},
)
