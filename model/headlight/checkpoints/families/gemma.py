"""Gemma 1, 2 and 3 (text)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import GATED_MLP_ACTIVATIONS, block_rules, decoder_heads, language_head
from headlight.checkpoints.families.llama import (
    ATTENTION_PROJECTIONS,
    BLOCK,
    OUTSIDE_BLOCKS,
    QK_NORM_RULES,
    WEIGHTS,
    shared_config,
)
from headlight.checkpoints.families.rope import layer_masks, rope_config
from headlight.checkpoints.weight_mapping import ConfigValues, Family, HeadMapping, WeightRules
from headlight.config_groups import EmbeddingConfig, OutputHeadConfig, PerLayerConfig

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


def gemma(fields: ConfigReader, defaults: Mapping[str, Any] = _GEMMA_DEFAULTS) -> ConfigValues:
    """Embeddings scaled by sqrt(d_model), RMSNorm with a weight of 1 + w."""
    choices = shared_config(fields.with_defaults(**defaults))
    gates = GATED_MLP_ACTIVATIONS | {"gelu": "geglu-tanh"}  # the first files say gelu and mean its tanh approximation
    return choices | {
        "feed_forward": fields.choice("hidden_act", "gelu_pytorch_tanh", gates),
        "norm": "gemma-rmsnorm",
        "embedding": EmbeddingConfig(scale=choices["d_model"] ** 0.5),
        "biases": ATTENTION_PROJECTIONS * fields.boolean("attention_bias", False),
    }


def gemma2(fields: ConfigReader) -> ConfigValues:
    """Norms before and after each sublayer, soft caps on scores and logits, a window in every other layer."""
    choices = gemma(fields, _GEMMA2_DEFAULTS) | {
        "norm_placement": "sandwich",
        "feed_forward": _gated_activation(fields),
    }
    layers = choices["layers"]
    default_types = [("sliding_attention", "full_attention")[layer % 2] for layer in range(layers)]
    masks = layer_masks(fields, layers, default_types, fields.integer("sliding_window", 4096))
    return choices | {
        "per_layer": PerLayerConfig(masks=masks, score_scales=(_scale(fields),) * layers),
        "score_soft_cap": _soft_cap(fields, "attn_logit_softcapping", 50.0),
    }


def gemma3(fields: ConfigReader) -> ConfigValues:
    """Gemma 3: Gemma 2 with QK norm; layers with a sliding window have their own rope theta."""
    choices = gemma(fields, _GEMMA3_DEFAULTS) | {
        "norm_placement": "sandwich",
        "feed_forward": _gated_activation(fields),
    }
    layers, width, context = choices["layers"], choices["head_dim"], choices["context_length"]
    pattern = fields.integer("sliding_window_pattern", 6) or 1
    default_types = ["sliding_attention" if (layer + 1) % pattern else "full_attention" for layer in range(layers)]
    types = fields.list_of("layer_types", str, default_types)
    masks = layer_masks(fields, layers, default_types, fields.integer("sliding_window", 4096))
    global_rope = rope_config(fields, width, context, theta=1_000_000.0, layer_type="full_attention")
    # In old files rope_theta and rope_scaling hold for the layers without a window only.
    local = fields if fields.has("rope_parameters") else fields.without("rope_theta", "rope_scaling")
    local_rope = rope_config(
        local, width, context, layer_type="sliding_attention", field_names=("rope_local_base_freq", "-")
    )
    ropes = {"full_attention": global_rope, "sliding_attention": local_rope}
    rotations = tuple(ropes[each] for each in types)
    return choices | {
        "qk_norm": "per-head",
        "rope": global_rope,
        "per_layer": PerLayerConfig(masks=masks, ropes=rotations, score_scales=(_scale(fields),) * layers),
    }


def _gated_activation(fields: ConfigReader) -> str:
    """The activation, which later files keep in another field, where gelu is the exact one."""
    return fields.choice("hidden_activation", "gelu_pytorch_tanh", GATED_MLP_ACTIVATIONS)


def _scale(fields: ConfigReader) -> float:
    return 1 / math.sqrt(max(fields.number("query_pre_attn_scalar", 256), 1e-6))


def _soft_cap(fields: ConfigReader, name: str, default: float) -> float:
    return fields.number(name, 0.0 if name in fields.values else default)


def _soft_capped_head(default: float) -> HeadMapping:
    """A language-model head with a soft cap on the logits."""
    plain = language_head()

    def config(fields: ConfigReader) -> ConfigValues:
        return plain.config_values(fields) | {
            "output_head_config": OutputHeadConfig(logit_soft_cap=_soft_cap(fields, "final_logit_softcapping", default))
        }

    return HeadMapping(config, plain.weights)


_SANDWICH: WeightRules = BLOCK | {
    "self_attention_residual.output_norm": "post_attention_layernorm",
    "feed_forward_residual.norm": "pre_feedforward_layernorm",
    "feed_forward_residual.output_norm": "post_feedforward_layernorm",
}
_REQUIRED_VALUES = {"use_bidirectional_attention": False}
_IGNORED = ("*.rotary_emb.inv_freq",)
GEMMA = Family(gemma, WEIGHTS, decoder_heads(tied=True, default_pad_token_id=0), "model.", _IGNORED, _REQUIRED_VALUES)
GEMMA2 = Family(
    gemma2,
    OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _SANDWICH),
    decoder_heads(tied=True, default_pad_token_id=0) | {"ForCausalLM": _soft_capped_head(30.0)},
    "model.",
    _IGNORED,
    _REQUIRED_VALUES,
)
GEMMA3 = Family(
    gemma3,
    OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _SANDWICH | QK_NORM_RULES),
    decoder_heads(tied=True, default_pad_token_id=0) | {"ForCausalLM": _soft_capped_head(0.0)},
    "model.",
    _IGNORED,
    _REQUIRED_VALUES,
    ignored_fields=("attn_logit_softcapping",),  # a field of Gemma 2, without effect here
)
