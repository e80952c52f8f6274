"""Vision transformers as timm stores them (Wightman 2019): ViT, DeiT, DeiT III, and DINOv2 with or without registers.

The config names an architecture, and `model_args` where a model differs from it. The names of the
tensors show whether a model has LayerScale, QK norm, a class token and biases of queries, keys and values, and which
norm comes last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, get_args

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import block_rows, block_rules, fused
from headlight.checkpoints.families.vit import MAX_REGISTERS, drop_batch_axis
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    HeadMapping,
    WeightRule,
    WeightRules,
    chunk,
    join_names,
    rule,
)
from headlight.config import Config, ImageConfig, ImageProcessorConfig, OutputHeadConfig, ResamplingFilter
from headlight.errors import CheckpointError, shortened

# Width, layers and heads of each size.
_SIZES = {
    "tiny": (192, 12, 3), "small": (384, 12, 6), "medium": (512, 12, 8), "base": (768, 12, 12),
    "large": (1024, 24, 16), "huge": (1280, 32, 16),
}  # fmt: skip
_ARCHITECTURE = re.compile(
    rf"(?:vit|deit3?)_(?P<size>{'|'.join(_SIZES)})_patch(?P<patch>\d{{1,3}})(?:_reg(?P<registers>\d{{1,2}}))?(?:_gap)?"
    r"_(?P<side>\d{1,4}|dinov2)(?:_(?:dino|mae|sam|miil|in21k|in21ft1k))?(?:\.\w+)?",
    re.ASCII,
)
_DINOV2_SIDE = 518  # pixels
_IMAGENET_MEAN, _IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_USUAL_CROP = 0.875  # of timm, where a file names no share
# Arguments of the model that are read, or whose effect is in the tensors.
_KNOWN_ARGUMENTS = (
    "img_size", "patch_size", "in_chans", "embed_dim", "depth", "num_heads", "mlp_ratio", "reg_tokens", "global_pool",
    "num_classes", "qkv_bias", "qk_norm", "init_values", "class_token", "no_embed_class", "fc_norm",
    # In training only, or without effect at the model's own image size:
    "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate", "attn_drop_rate", "drop_path_rate",
    "weight_init", "fix_init", "dynamic_img_size",
)  # fmt: skip
_KNOWN_TENSORS = re.compile(
    r"(?:timm_model\.)?(?:cls_token|reg_token|pos_embed|(?:patch_embed\.proj|norm|fc_norm|head)\.(?:weight|bias)"
    r"|blocks\.\d+\.(?:(?:norm[12]|attn\.(?:qkv|proj|[qk]_norm)|mlp\.fc[12])\.(?:weight|bias)|ls[12]\.weight))"
)


def timm(fields: ConfigReader) -> ConfigValues:
    """ViT with the sizes of its architecture."""
    if others := sorted(name for name in fields.tensor_names if not _KNOWN_TENSORS.fullmatch(name)):
        raise CheckpointError(f"{fields.name}: no supported part of a timm ViT uses {join_names(others, 4)}.")
    named, given = _named_sizes(fields), _arguments(fields)
    width, layers, heads = _SIZES[named["size"]]
    image, width = _image(fields, named, given), given.integer("embed_dim", width)
    first = image.first_tokens
    return {
        "architecture": "encoder",
        "vocabulary_size": max(first, 1),
        "context_length": first + image.patch_rows * image.patch_columns,
        "image": image,
        "d_model": width,
        "layers": given.layer_count("depth", layers),
        "heads": given.integer("num_heads", heads),
        "d_ff": int(width * given.number("mlp_ratio", 4)),
        "feed_forward": "gelu",
        "norm": "layernorm",
        "norm_epsilon": 1e-6,
        "positional_encoding": "learned",
        "masks": (),
        "attention.qk_norm": "per-head" if _has(fields.tensor_names, "attn.q_norm.weight") else "none",
        "biases": (
            *(("query", "key", "value") * (not fields.tensor_names or _has(fields.tensor_names, "attn.qkv.bias"))),
            "output", "up", "down", "norm",
        ),
        "final_norm": not _has(fields.tensor_names, "fc_norm.weight"),
    }  # fmt: skip


def _has(names: Iterable[str], ending: str) -> bool:
    """Whether a tensor's name ends so."""
    return any(name.endswith(ending) for name in names)


def _named_sizes(fields: ConfigReader) -> dict[str, str]:
    """The parts of the name of the architecture."""
    name = fields.string("architecture")
    found = _ARCHITECTURE.fullmatch(name)
    if found is None:
        raise CheckpointError(
            f"{fields.name}: its timm architecture is {shortened(name)}, whose heads, activation or norms are not "
            f"known; known are vit, deit and deit3 with a size ({', '.join(_SIZES)}), as in vit_base_patch16_224."
        )
    return found.groupdict(default="")


def _arguments(fields: ConfigReader) -> ConfigReader:
    """The arguments of the model that differ from its architecture."""
    given = fields.nested("model_args") or ConfigReader({}, fields.name)
    if unknown := [name for name, value in given.values.items() if name not in _KNOWN_ARGUMENTS and value is not None]:
        raise CheckpointError(
            f"{fields.name}: its model_args set {shortened(unknown[0])}, which may change the computation and is not "
            "supported."
        )
    return given


def _image(fields: ConfigReader, named: dict[str, str], given: ConfigReader) -> ImageConfig:
    """The size of images and patches, and how images are prepared."""
    prepared = fields.nested("pretrained_cfg") or ConfigReader({}, fields.name)
    side = _DINOV2_SIDE if named["side"] == "dinov2" else int(named["side"])
    channels, height, width = prepared.integers("input_size", 3, 0) if prepared.has("input_size") else (3, side, side)
    height, width = given.integers("img_size", 2, 0) if given.has("img_size") else (height, width)
    patch_height, patch_width = given.integers("patch_size", 2, int(named["patch"]))
    registers = given.integer("reg_tokens", int(named["registers"] or 0))
    class_token = not fields.tensor_names or _has(fields.tensor_names, "cls_token")
    if (registers and not class_token) or registers > MAX_REGISTERS:
        raise CheckpointError(
            f"{fields.name}: its number of registers is {registers:,}; supported are up to {MAX_REGISTERS}, with a "
            "class token."
        )
    return ImageConfig(
        channels=given.integer("in_chans", channels),
        height=height,
        width=width,
        patch_height=patch_height,
        patch_width=patch_width,
        class_token=class_token,
        extra_tokens=tuple(f"[REG{number}]" for number in range(registers)),
        processor=_processor(prepared, height, width),
    )


def _processor(fields: ConfigReader, height: int, width: int) -> ImageProcessorConfig:
    """timm's preparation of an image: resized so that `crop_pct` of a side remains, and its centre cut out."""
    share = fields.number("crop_pct", _USUAL_CROP)
    mode = fields.choice("crop_mode", "center", {"center": "center", "squash": "squash"})
    if not 0.01 <= share <= 1 or (mode == "center" and height != width):
        raise CheckpointError(
            f"{fields.name}: its crop_pct is {share:g} for {height} x {width} pixels, which is not supported; known "
            "are 0.01 to 1, and for images that are not square only the crop_mode squash."
        )
    filters = {name: name for name in get_args(ResamplingFilter)}
    resized: dict[str, Any] = {"height": math.floor(height / share), "width": math.floor(width / share)}
    return ImageProcessorConfig(
        **(resized if mode == "squash" else {"shortest_edge": resized["height"]}),
        resample=fields.choice("interpolation", "bicubic", filters),  # type: ignore[arg-type] # one of the filters
        crop_height=height,
        crop_width=width,
        crop_to_even=True,
        mean=_numbers(fields, "mean", _IMAGENET_MEAN),
        std=_numbers(fields, "std", _IMAGENET_STD),
    )


def _numbers(fields: ConfigReader, name: str, usual: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(number) for number in fields.list_of(name, (int, float), usual))


def _classifier(fields: ConfigReader) -> ConfigValues:
    """A classifier of the class token, or of the mean of all patches, which may be normalized in the head."""
    count, names = fields.integer("num_classes", 1000), fields.list_of("label_names", str)
    if names and len(names) != count:
        raise CheckpointError(f"{fields.name}: it has {len(names)} label_names for {count} classes.")
    labels = tuple(names) or tuple(f"LABEL_{number}" for number in range(min(count, 100_000)))
    arguments = _arguments(fields)
    pool = fields.string("global_pool", arguments.string("global_pool", "token"))
    has_norm = _has(fields.tensor_names, "fc_norm.weight")
    image = _image(fields, _named_sizes(fields), arguments)
    choices = {"output_head": "sequence-classifier", "labels": labels}
    before = "1 token" if image.first_tokens == 1 else f"{image.first_tokens} tokens"
    if pool == "token" and image.class_token and not has_norm:
        return choices
    if pool != "avg" or image.extra_tokens:
        raise CheckpointError(
            f"{fields.name}: its global_pool is {shortened(pool)!r} with {before} before the patches"
            f"{' and fc_norm in its head' if has_norm else ''}, which is not supported; known are token without "
            "fc_norm, and avg without registers."
        )
    head = {"output_head_config": OutputHeadConfig(transform="norm")} if has_norm else {}
    return choices | head | {"pooling": "mean-but-first" if image.class_token else "mean"}


def _positions(tensor: Tensor, config: Config) -> Tensor:
    """The table of positions; where it covers the patches alone (no_embed_class), the tokens before them have none."""
    table = tensor.squeeze(0)
    missing = config.context_length - len(table)
    before = config.image.first_tokens if missing == config.image.first_tokens else 0
    return torch.cat((table.new_zeros(before, table.shape[1]), table))


def _unused_row(tensor: Tensor, config: Config) -> Tensor:
    """Zeros for the unused table of tokens."""
    return torch.zeros_like(tensor[0, :1])


def _by_channel(tensor: Tensor, scale: Tensor) -> Tensor:
    """A weight or bias with its output channels multiplied by LayerScale (Touvron et al. 2021, section 2)."""
    return tensor.float() * scale.float().reshape(-1, *(1 for _ in tensor.shape[1:]))


def _followed_by_registers(first: Tensor, registers: Tensor) -> Tensor:
    return torch.cat((first, registers), 1)


def _embedding(names: Iterable[str]) -> WeightRule:
    """The class token, and the registers behind it."""
    if names and not _has(names, "cls_token"):
        return rule("pos_embed", _unused_row)
    if _has(names, "reg_token"):
        return WeightRule("cls_token", (drop_batch_axis,), "reg_token", combine=_followed_by_registers)
    return rule("cls_token", drop_batch_axis)


_HEAD: WeightRules = {"output_head.projection": "head", "output_head.transform.norm": "fc_norm"}


def timm_family(names: Iterable[str] = ()) -> Family:
    """The family with the parts that the names of the tensors show; `gamma` has been renamed to `weight`."""
    has_scale = _has(names, "ls1.weight")
    output, down = (
        WeightRule(module, (), f"blocks.{{i}}.{scale}.weight", combine=_by_channel) if has_scale else WeightRule(module)
        for module, scale in (("attn.proj", "ls1"), ("mlp.fc2", "ls2"))
    )
    rows: WeightRules = block_rows(
        "norm1", [*fused("attn.qkv", lambda index: chunk(index, 3)), output], "norm2", ["mlp.fc1", down]
    ) | {f"self_attention.{side}_norm.norm": f"attn.{side[0]}_norm" for side in ("query", "key")}
    weights: WeightRules = {
        "embedding.weight": _embedding(names),
        "patch_embedding.projection": "patch_embed.proj",
        "encoder.positional_encoding.table.weight": rule("pos_embed", _positions),
        "encoder.final_norm": "norm",
    }
    return Family(
        timm,
        weights | block_rules("encoder", "blocks.{i}.", rows),
        {"ForImageClassification": HeadMapping(_classifier, _HEAD)},
        base_model_prefix="timm_model.",
        ignored_tensors=("fc_norm.*",),
        ignored_fields=("do_pooling", "label_descriptions", "num_features"),
    )


def with_head_named(fields: ConfigReader) -> ConfigReader:
    """The fields of timm's own config.json, with the class that follows from its number of classes."""
    if fields.has("architectures"):
        return fields
    kind = "ForImageClassification" if fields.integer("num_classes", 1000) else "Model"
    return ConfigReader({**fields.values, "architectures": [kind]}, fields.name)
