"""ViT: image patches in place of tokens (Dosovitskiy et al. 2021)."""

from __future__ import annotations

from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    MLP_ACTIVATIONS,
    block_rules,
    classifier_head,
)
from headlight.checkpoints.weight_mapping import ConfigValues, Family, WeightRules, rule
from headlight.config import Config
from headlight.config_groups import ImageConfig


def vit(fields: ConfigReader) -> ConfigValues:
    """A bidirectional pre-norm encoder with a class token in front of the patches and learned positions."""
    height, width = fields.integers("image_size", 2, 224)
    patch_height, patch_width = fields.integers("patch_size", 2, 16)
    image = ImageConfig(
        channels=fields.integer("num_channels", 3),
        height=height,
        width=width,
        patch_height=patch_height,
        patch_width=patch_width,
    )
    width, heads = fields.integer("hidden_size", 768), fields.integer("num_attention_heads", 12)
    projections = ("query", "key", "value") * fields.boolean("qkv_bias", True)
    return {
        "architecture": "encoder",
        "vocabulary_size": 1,
        "context_length": 1 + image.patch_rows * image.patch_columns,
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


def drop_batch_axis(tensor: Tensor, config: Config) -> Tensor:
    """Without the batch axis."""
    return tensor.squeeze(0)


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
VIT = Family(
    vit,
    _OUTSIDE_BLOCKS | block_rules("encoder", "", _BLOCK),
    {"ForImageClassification": classifier_head("classifier")},
    base_model_prefix="vit.",
    ignored_tensors=("pooler.*", "embeddings.mask_token"),
    ignored_fields=("encoder_stride", "pooler_act", "pooler_output_size"),  # of heads that are not loaded
)
