"""CLIP and SigLIP: a tower for texts and one for images, each a model of its own (Radford et al. 2021).

The text tower of Chinese-CLIP is a BERT (Yang et al. 2022).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.bert import BERT
from headlight.checkpoints.families.common import MLP_ACTIVATIONS, block_rows, block_rules, sizes
from headlight.checkpoints.families.vit import vit
from headlight.checkpoints.weight_mapping import ConfigValues, Family, HeadMapping, WeightRules, no_head, rule
from headlight.config import Config


def text_tower(fields: ConfigReader) -> ConfigValues:
    """A pre-norm stack with learned positions; the last token represents the text."""
    return {
        "architecture": "encoder",
        **sizes(fields, 32_000, 64, 768, 12, 12, 3072),
        "feed_forward": fields.choice("hidden_act", "gelu_pytorch_tanh", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-6),
        "positional_encoding": "learned",
        "masks": (),
        "bias": True,
    }


def causal_text_tower(fields: ConfigReader) -> ConfigValues:
    """The same with causal attention."""
    return text_tower(fields) | {"architecture": "decoder", "masks": ("causal",)}


def clip_vision(fields: ConfigReader) -> ConfigValues:
    """ViT with a norm before the first block, and no bias in the embedding of patches."""
    choices = vit(fields)
    return choices | {"embedding.norm": True, "image": replace(choices["image"], patch_bias=False)}


def siglip_vision(fields: ConfigReader) -> ConfigValues:
    """ViT without a class token."""
    choices = vit(fields)
    image = replace(choices["image"], class_token=False)
    return choices | {"image": image, "context_length": choices["context_length"] - 1}


def _as_row(tensor: Tensor, config: Config) -> Tensor:
    return tensor[None]


def _unused_row(tensor: Tensor, config: Config) -> Tensor:
    """Zeros for the unused table of tokens."""
    return torch.zeros_like(tensor[:1])


_BLOCK = block_rows(
    "layer_norm1",
    ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"],
    "layer_norm2",
    ["mlp.fc1", "mlp.fc2"],
)
_IGNORED_FIELDS = (
    "projection_dim", "projection_size", "vision_use_head", "logit_scale_init_value",
    *(f"{tower}_config{form}" for tower in ("text", "vision") for form in ("", "_dict")),
)  # fmt: skip


_IGNORED_TENSORS = ("*_projection.*", "logit_scale", "logit_bias", "head.*", "embeddings.position_ids")


def _tower(family: Family, stack: str, prefix: str) -> Family:
    """The family with the common part of both towers: the blocks; tensors of the other tower are ignored."""
    other = "vision_model.*" if prefix == "text_model." else "text_model.*"
    return replace(
        family,
        weights=family.weights | block_rules(stack, "encoder.layers.{i}.", _BLOCK),
        heads_by_class={"ModelWithProjection": HeadMapping(no_head)},
        base_model_prefix=prefix,
        ignored_tensors=(other, *_IGNORED_TENSORS),
        ignored_fields=_IGNORED_FIELDS,
    )


def _text_family(stack: str, family: Family) -> Family:
    outside: WeightRules = {
        "embedding": "embeddings.token_embedding",
        f"{stack}.positional_encoding.table": "embeddings.position_embedding",
        f"{stack}.final_norm": "final_layer_norm",
    }
    return _tower(replace(family, weights=outside), stack, "text_model.")


_VISION: WeightRules = {
    "patch_embedding.projection": "embeddings.patch_embedding",
    "encoder.positional_encoding.table": "embeddings.position_embedding",
    "encoder.final_norm": "post_layernorm",
}
CLIP_TEXT = _text_family(
    "decoder",
    Family(
        causal_text_tower,
        {},
        {},
        defaults={
            "vocab_size": 49_408, "max_position_embeddings": 77, "hidden_size": 512, "num_attention_heads": 8,
            "intermediate_size": 2048, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5,
        },
    ),
)  # fmt: skip
CHINESE_CLIP_TEXT = replace(
    BERT,
    heads_by_class={},
    base_model_prefix="text_model.",
    ignored_tensors=(*BERT.ignored_tensors, *_IGNORED_TENSORS, "vision_model.*"),
    ignored_fields=_IGNORED_FIELDS,
)
SIGLIP_TEXT = _text_family("encoder", Family(text_tower, {}, {}))
_CLIP_VISION: WeightRules = _VISION | {
    "embedding.weight": rule("embeddings.class_embedding", _as_row),
    "encoder.embedding_norm": "pre_layrnorm",
}
_SIGLIP_VISION = _VISION | {"embedding.weight": rule("embeddings.position_embedding.weight", _unused_row)}
_SIGLIP_DEFAULTS: dict[str, Any] = {"hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6}
_CLIP_DEFAULTS: dict[str, Any] = {"patch_size": 32, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5}
CLIP_VISION, SIGLIP_VISION = (
    _tower(Family(read, weights, {}, defaults=defaults), "encoder", "vision_model.")
    for read, weights, defaults in (
        (clip_vision, _CLIP_VISION, _CLIP_DEFAULTS),
        (siglip_vision, _SIGLIP_VISION, _SIGLIP_DEFAULTS),
    )
)
