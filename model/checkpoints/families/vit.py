"""ViT: a picture's patches in place of tokens (Dosovitskiy et al. 2021)."""

from __future__ import annotations

from torch import Tensor

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import PLAIN, block, classifier
from model.checkpoints.weight_mapping import Choices, Family, Rows, cut
from model.config import Config
from model.config_groups import Picture


def vit(fields: Fields) -> Choices:
    """Both ways, norms before the sublayers, a class token in front of the patches, learned positions."""
    height, width = fields.sizes("image_size", 2, 224)
    patch_height, patch_width = fields.sizes("patch_size", 2, 16)
    picture = Picture(
        channels=fields.size("num_channels", 3),
        height=height,
        width=width,
        patch_height=patch_height,
        patch_width=patch_width,
    )
    width, heads = fields.size("hidden_size", 768), fields.size("num_attention_heads", 12)
    projections = ("query", "key", "value") * fields.flag("qkv_bias", True)
    return {
        "architecture": "encoder",
        "vocabulary": 1,
        "context": 1 + picture.rows * picture.columns,
        "picture": picture,
        "width": width,
        "layers": fields.depth("num_hidden_layers", 12),
        "heads": heads,
        "head_width": fields.size("head_dim", width // max(heads, 1)),
        "inner": fields.size("intermediate_size", 3072),
        "feedforward": fields.choice("hidden_act", "gelu", PLAIN),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-12),
        "position": "learned",
        "masks": (),
        "biases": (*projections, "output", "rise", "fall", "norm"),
    }


def row(tensor: Tensor, config: Config) -> Tensor:
    """Without the axis of the batch."""
    return tensor.squeeze(0)


# What files say, and the same in programs since the fifth version, for weights that somebody kept from there.
_LAYER = {
    "self_residual.norm": ("layernorm_before", "layernorm_before"),
    "self_attention.query": ("attention.attention.query", "attention.q_proj"),
    "self_attention.key": ("attention.attention.key", "attention.k_proj"),
    "self_attention.value": ("attention.attention.value", "attention.v_proj"),
    "self_attention.output": ("attention.output.dense", "attention.o_proj"),
    "feedforward_residual.norm": ("layernorm_after", "layernorm_after"),
    "feedforward.rise": ("intermediate.dense", "mlp.fc1"),
    "feedforward.fall": ("output.dense", "mlp.fc2"),
}
_BLOCK: Rows = {
    ours: f"encoder.layer.{{i}}.{stored}|layers.{{i}}.{running}" for ours, (stored, running) in _LAYER.items()
}
_AROUND: Rows = {
    "embedding.weight": cut("embeddings.cls_token", row),
    "patches.project": "embeddings.patch_embeddings.projection",
    "encoder.position.table.weight": cut("embeddings.position_embeddings", row),
    "encoder.norm": "layernorm",
}
VIT = Family(
    vit,
    _AROUND | block("encoder", "", _BLOCK),
    {"ForImageClassification": classifier("classifier")},
    base="vit.",
    ignored=("pooler.*", "embeddings.mask_token"),
    inert=("encoder_stride", "pooler_act", "pooler_output_size"),  # of tops that give no answer here
)
