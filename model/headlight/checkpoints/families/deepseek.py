"""DeepSeek-V2 and V3: latent attention, experts in groups, and a shared expert for every token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from headlight.checkpoints.config_reader import MAX_LAYERS, ConfigReader
from headlight.checkpoints.families.common import (
    attention_biases,
    block_rows,
    rope_config,
    scaling_fields,
    yarn_strength,
)
from headlight.checkpoints.families.llama import IGNORED_TENSORS, llama_family, shared_config
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    WeightOp,
    WeightRule,
    WeightRules,
    rule,
    unflatten_rows,
)
from headlight.config import Config, ExpertsConfig, LatentConfig, PerLayerConfig


def latent_attention(fields: ConfigReader) -> ConfigValues:
    """Llama with compressed queries, keys and values; the rotated part of each key is shared by all heads."""
    rotated = fields.integer("qk_rope_head_dim", 64)
    sizes = shared_config(fields.without("head_dim", "rope_scaling", "rope_parameters"))
    layers, context, heads = sizes["layers"], sizes["context_length"], sizes["heads"]
    fields.require_values({"num_key_value_heads": heads, "head_dim": rotated})
    head_dim = rotated + fields.integer("qk_nope_head_dim", 128)
    rope = rope_config(fields, rotated, context, interleaved=fields.boolean("rope_interleave", True))
    weight = scaling_fields(fields).number("mscale_all_dim", 0) if rope.scaling != "none" else 0
    scale = head_dim**-0.5 * yarn_strength(weight, rope.factor) ** 2
    return sizes | {
        "key_value_heads": heads,
        "head_dim": head_dim,
        "value_head_dim": fields.integer("v_head_dim", 128),
        "attention.latent": LatentConfig(
            query_channels=fields.integer("q_lora_rank", 0 if "q_lora_rank" in fields.values else 1536),
            key_value_channels=fields.integer("kv_lora_rank", 512),
            shared_key_channels=rotated,
        ),
        "rope": replace(rope, rotary_dim=rotated),
        "per_layer": PerLayerConfig(score_scales=(scale,) * layers if weight else ()),
        "biases": ("latent", "output") if attention_biases(fields) else (),
    }


def shared_experts(fields: ConfigReader, width: int, shared: int) -> ExpertsConfig:
    """The experts of layers above first_k_dense_replace; `width` and `shared` are the defaults of two sizes."""
    width = fields.integer("moe_intermediate_size", width)
    return ExpertsConfig(
        count=fields.integer("n_routed_experts", 256),
        per_token=fields.integer("num_experts_per_tok", 8),
        d_ff=width,
        dense_layers=tuple(range(min(fields.integer("first_k_dense_replace", 0), MAX_LAYERS))),
        share_scale=fields.number("routed_scaling_factor", 1.0),
        shared_d_ff=width * fields.integer("n_shared_experts", shared),
    )


def deepseek_v2(fields: ConfigReader) -> ConfigValues:
    """Shares are a softmax over all experts; the score of a group is its best expert's."""
    experts = replace(shared_experts(fields, 1407, 2), normalized=False)
    if fields.choice("topk_method", "greedy", {"greedy": "", "group_limited_greedy": "limited"}):
        experts = replace(experts, groups=fields.integer("n_group"), chosen_groups=fields.integer("topk_group"))
    return latent_attention(fields) | {"experts": experts}


def deepseek_v3(fields: ConfigReader) -> ConfigValues:
    """Shares are sigmoids; a learned bias per expert enters the choice; a group is scored by its best two."""
    experts = replace(
        shared_experts(fields, 2048, 1),
        scoring="sigmoid",
        normalized=fields.boolean("norm_topk_prob", True),
        groups=fields.integer("n_group", 8),
        chosen_groups=fields.integer("topk_group", 4),
        group_best=2,
        choice_bias=True,
    )
    return latent_attention(fields) | {"experts": experts}


def _rotated_first(tensor: Tensor, config: Config) -> Tensor:
    """Moves the rotated channels of each head, which are its last ones, before the others."""
    return (
        unflatten_rows(tensor, config.heads, -1).roll(config.attention.latent.shared_key_channels, dims=1).flatten(0, 1)
    )


def _keys_or_values(index: int) -> WeightOp:
    """The keys (0) or the values (1) of a tensor in which the values follow the keys in every head."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        sizes = [config.head_dim - config.attention.latent.shared_key_channels, config.value_head_dim]
        part: Tensor = unflatten_rows(tensor, config.heads, -1).split(sizes, dim=1)[index]  # type: ignore[no-untyped-call]
        return part.flatten(0, 1)

    return step


_ATTENTION: list[str | WeightRule] = [
    rule("self_attn.q_b_proj|self_attn.q_proj", _rotated_first),
    rule("self_attn.kv_b_proj", _keys_or_values(0)),
    rule("self_attn.kv_b_proj", _keys_or_values(1)),
    "self_attn.o_proj",
]
_EXPERTS = [f"mlp.experts.*.{name}_proj.weight" for name in ("gate", "up", "down")]
_BLOCK: WeightRules = {
    **block_rows("input_layernorm", _ATTENTION, "post_attention_layernorm", _EXPERTS),
    **{f"feed_forward.{name}.weight": f"mlp.{name}_proj.weight" for name in ("gate", "up", "down")},
    **{f"feed_forward.shared.{name}": f"mlp.shared_experts.{name}_proj" for name in ("gate", "up", "down")},
    "feed_forward.router": "mlp.gate",
    "feed_forward.choice_bias": "mlp.gate.e_score_correction_bias",
    "self_attention.query_compression.down": "self_attn.q_a_proj",
    "self_attention.query_compression.norm": "self_attn.q_a_layernorm",
    "self_attention.key_value_compression.down": "self_attn.kv_a_proj_with_mqa",
    "self_attention.key_value_compression.norm": "self_attn.kv_a_layernorm",
}
_REQUIRED: Mapping[str, Any] = {"mlp_bias": False, "moe_layer_freq": 1}
_SHARED: dict[str, Any] = {
    "attribute_map": {"num_experts": "n_routed_experts", "num_local_experts": "n_routed_experts"},
    "ignored_fields": (
        "aux_loss_alpha", "ep_size", "num_mtp_layers", "num_nextn_predict_layers", "output_router_logits",
        "pretraining_tp", "qk_head_dim", "seq_aux",
    ),
}  # fmt: skip
DEEPSEEK_V2 = llama_family(
    deepseek_v2,
    _BLOCK,
    required_values={**_REQUIRED, "norm_topk_prob": False, "scoring_func": "softmax", "rope_interleave": True},
    defaults={"vocab_size": 102_400, "n_routed_experts": 64},
    **_SHARED,
)
_DEEPSEEK_V3 = llama_family(
    deepseek_v3,
    _BLOCK,
    required_values={**_REQUIRED, "scoring_func": "sigmoid", "topk_method": "noaux_tc"},
    defaults={
        "vocab_size": 129_280, "hidden_size": 7168, "intermediate_size": 18_432, "max_position_embeddings": 4096,
        "num_hidden_layers": 61, "num_attention_heads": 128, "first_k_dense_replace": 3, "routed_scaling_factor": 2.5,
    },
    **_SHARED,
)  # fmt: skip
# The layer after the last one predicts further tokens in training.
DEEPSEEK_V3 = replace(_DEEPSEEK_V3, ignored_tensors=(*IGNORED_TENSORS, "layers.61.*"))
