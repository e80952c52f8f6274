"""Gemma 1 to 3: scaled embeddings, RMSNorm with a weight of 1 + w, soft caps, sliding windows."""

from __future__ import annotations

import math
from dataclasses import replace

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    GATED_MLP_ACTIVATIONS,
    attention_biases,
    block_rules,
    language_head,
    layer_masks,
    repeating_types,
    rope_config,
)
from headlight.checkpoints.families.llama import BLOCK, QK_NORM_RULES, llama_family, outside_blocks, shared_config
from headlight.checkpoints.weight_mapping import ConfigValues, HeadMapping, WeightRules
from headlight.config import EmbeddingConfig, PerLayerConfig, RopeConfig

_GEMMA_DEFAULTS = {
    "vocab_size": 256_000, "max_position_embeddings": 8192, "head_dim": 256, "num_hidden_layers": 28,
    "hidden_size": 3072, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 24_576,
    "hidden_activation": "gelu_pytorch_tanh",
}  # fmt: skip
_GEMMA2_DEFAULTS = _GEMMA_DEFAULTS | {
    "num_hidden_layers": 26, "hidden_size": 2304, "num_attention_heads": 8, "num_key_value_heads": 4,
    "intermediate_size": 9216,
}  # fmt: skip
_GEMMA3_DEFAULTS = _GEMMA2_DEFAULTS | {"vocab_size": 262_208, "max_position_embeddings": 131_072}


def gemma(fields: ConfigReader) -> ConfigValues:
    """Embeddings scaled by sqrt(d_model), RMSNorm with a weight of 1 + w."""
    choices = shared_config(fields)
    gates = GATED_MLP_ACTIVATIONS | {"gelu": "geglu-tanh"}  # the first files state gelu, but use its tanh approximation
    return choices | {
        "feed_forward": fields.choice("hidden_act", "gelu_pytorch_tanh", gates),
        "norm": "gemma-rmsnorm",
        "embedding": EmbeddingConfig(scale=choices["d_model"] ** 0.5),
        "biases": attention_biases(fields),
    }


def gemma2(fields: ConfigReader) -> ConfigValues:
    """Norms before and after each sublayer, soft caps on scores and logits, a window in every other layer."""
    choices = gemma(fields) | {
        "norm_placement": "sandwich",
        "feed_forward": gated_activation(fields),
    }
    layers = choices["layers"]
    default_types = [("sliding_attention", "full_attention")[layer % 2] for layer in range(layers)]
    masks = layer_masks(fields, layers, default_types, fields.integer("sliding_window", 4096))
    return choices | {
        "per_layer": PerLayerConfig(masks=masks, score_scales=(_scale(fields),) * layers),
        "attention.score_soft_cap": soft_cap(fields, "attn_logit_softcapping", 50.0),
    }


def gemma3(fields: ConfigReader) -> ConfigValues:
    """Gemma 2 with QK norm; layers with a sliding window have their own rope theta; EmbeddingGemma is an encoder."""
    choices = gemma(fields) | {
        "norm_placement": "sandwich",
        "feed_forward": gated_activation(fields),
    }
    layers, width, context = choices["layers"], choices["head_dim"], choices["context_length"]
    default_types = repeating_types(fields, layers, 6)
    types = fields.list_of("layer_types", str, default_types)
    window, both_ways = fields.integer("sliding_window", 4096), fields.boolean("use_bidirectional_attention", False)
    masks = layer_masks(fields, layers, default_types, window // 2 + 1 if both_ways else window)
    ropes = layer_ropes(fields, width, context)
    rotations = tuple(ropes[each] for each in types)
    encoder = {"architecture": "encoder", "masks": ()} if both_ways else {}
    return (
        choices
        | encoder
        | {
            "attention.qk_norm": "per-head",
            "rope": ropes["full_attention"],
            "per_layer": PerLayerConfig(masks=masks, ropes=rotations, score_scales=(_scale(fields),) * layers),
        }
    )


def layer_ropes(fields: ConfigReader, width: int, context: int) -> dict[str, RopeConfig]:
    """The rotary embedding of each type of layer."""
    # In old files rope_theta and rope_scaling only apply to the layers without a window.
    local = fields if fields.has("rope_parameters") else fields.without("rope_theta", "rope_scaling")
    names = ("rope_local_base_freq", "-")
    return {
        "full_attention": rope_config(fields, width, context, theta=1_000_000.0, layer_type="full_attention"),
        "sliding_attention": rope_config(local, width, context, layer_type="sliding_attention", field_names=names),
    }


def gated_activation(fields: ConfigReader) -> str:
    """The activation; later files have it in another field, in which gelu is the exact one."""
    return fields.choice("hidden_activation", "gelu_pytorch_tanh", GATED_MLP_ACTIVATIONS)


def _scale(fields: ConfigReader) -> float:
    return 1 / math.sqrt(max(fields.number("query_pre_attn_scalar", 256), 1e-6))


def soft_cap(fields: ConfigReader, name: str, default: float) -> float:
    """A soft cap; null means none."""
    return fields.number(name, 0.0 if name in fields.values else default)


def soft_capped_head(default: float, tied: bool = True) -> HeadMapping:
    """A language-model head with a soft cap on the logits."""
    return language_head(
        tied_by_default=tied,
        read=lambda fields: {"logit_soft_cap": soft_cap(fields, "final_logit_softcapping", default)},
    )


SANDWICH: WeightRules = BLOCK | {
    "self_attention_residual.output_norm": "post_attention_layernorm",
    "feed_forward_residual.norm": "pre_feedforward_layernorm",
    "feed_forward_residual.output_norm": "post_feedforward_layernorm",
}
_REQUIRED_VALUES = {"use_bidirectional_attention": False}
GEMMA = llama_family(
    gemma, tied=True, default_pad_token_id=0, required_values=_REQUIRED_VALUES, defaults=_GEMMA_DEFAULTS
)
GEMMA2 = llama_family(
    gemma2,
    SANDWICH,
    tied=True,
    default_pad_token_id=0,
    heads={"ForCausalLM": soft_capped_head(30.0)},
    required_values=_REQUIRED_VALUES,
    defaults=_GEMMA2_DEFAULTS,
)
_GEMMA3_BLOCK = SANDWICH | QK_NORM_RULES
_GEMMA3_DECODER = llama_family(
    gemma3,
    _GEMMA3_BLOCK,
    tied=True,
    default_pad_token_id=0,
    heads={"ForCausalLM": soft_capped_head(0.0)},
    ignored_fields=("attn_logit_softcapping",),  # a field of Gemma 2, without effect here
    defaults=_GEMMA3_DEFAULTS,
)
GEMMA3 = replace(
    _GEMMA3_DECODER,
    weights=_GEMMA3_DECODER.weights | outside_blocks("encoder") | block_rules("encoder", "layers.{i}.", _GEMMA3_BLOCK),
)
