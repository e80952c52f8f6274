"""Llama and models with its architecture: Mistral, Qwen2, Qwen3, SmolLM3, OLMo 2, Phi-3, EuroBERT, Gemma 1 to 3."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    ATTENTION_PROJECTIONS,
    GATED_MLP_ACTIVATIONS,
    block_rows,
    block_rules,
    classifier_head,
    decoder_heads,
    fused,
    head_and_context,
    language_head,
    layer_masks,
    masked_language_head,
    rope_config,
    sizes,
)
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    HeadMapping,
    WeightRules,
    chunk,
    rule,
    stacked_qkv,
)
from headlight.config_groups import EmbeddingConfig, OutputHeadConfig, PerLayerConfig

BLOCK = block_rows(
    "input_layernorm",
    ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"],
    "post_attention_layernorm",
    ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"],
)
QK_NORM_RULES: WeightRules = {
    "self_attention.query_norm.norm": "self_attn.q_norm",
    "self_attention.key_norm.norm": "self_attn.k_norm",
}
OUTSIDE_BLOCKS: WeightRules = {"embedding": "embed_tokens", "decoder.final_norm": "norm"}
_ENCODER_OUTSIDE_BLOCKS: WeightRules = {"embedding": "embed_tokens", "encoder.final_norm": "norm"}
WEIGHTS = OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", BLOCK)
FEEDFORWARD_PROJECTIONS = ("gate", "up", "down")


def shared_config(
    fields: ConfigReader, activation: str = "silu", original_context: int = 0, rotary_fraction: float | None = None
) -> ConfigValues:
    """Sizes, norm, activation and rotary embedding, under the names that all these families share."""
    found = sizes(fields, 32_000, 2048, 4096, 32, 32, 11_008)
    head_width, context = head_and_context(found)
    head_width = fields.integer("head_dim", 0) or head_width
    rope = rope_config(fields, head_width, context, original_context=original_context, rotary_fraction=rotary_fraction)
    if rope.scaling == "dynamic":
        context = int(context * rope.factor)
    return found | {
        "architecture": "decoder",
        "context_length": context,
        "key_value_heads": fields.integer("num_key_value_heads", found["heads"]),
        "head_dim": head_width,
        "feed_forward": fields.choice(("hidden_act", "hidden_activation"), activation, GATED_MLP_ACTIVATIONS),
        "norm": "rmsnorm",
        "norm_epsilon": fields.number("rms_norm_eps", 1e-6),
        "positional_encoding": "rope",
        "rope": rope,
    }


# Each family's default sizes.
_MISTRAL = {"max_position_embeddings": 131_072, "intermediate_size": 14_336}
_QWEN = {"vocab_size": 151_936, "max_position_embeddings": 32_768, "intermediate_size": 22_016}
_SMOLLM = {
    "vocab_size": 128_256, "max_position_embeddings": 32_768, "hidden_size": 2048, "num_hidden_layers": 36,
    "num_attention_heads": 16, "num_key_value_heads": 4, "rope_theta": 2_000_000.0,
}  # fmt: skip
_OLMO = {"vocab_size": 50_304, "rms_norm_eps": 1e-5}
_PHI = {
    "vocab_size": 32_064, "max_position_embeddings": 4096, "hidden_size": 3072, "intermediate_size": 8192,
    "rms_norm_eps": 1e-5,
}  # fmt: skip
_EURO = {
    "vocab_size": 128_256, "max_position_embeddings": 8192, "hidden_size": 768, "num_hidden_layers": 12,
    "num_attention_heads": 12, "intermediate_size": 3072, "rms_norm_eps": 1e-5,
}  # fmt: skip


def llama(fields: ConfigReader) -> ConfigValues:
    """Biases as attention_bias and mlp_bias say."""
    biases = ATTENTION_PROJECTIONS * fields.boolean("attention_bias", False) + FEEDFORWARD_PROJECTIONS * fields.boolean(
        "mlp_bias", False
    )
    return shared_config(fields) | {"biases": biases}


def eurobert(fields: ConfigReader) -> ConfigValues:
    """A bidirectional encoder."""
    return llama(fields.with_defaults(**_EURO)) | {"architecture": "encoder", "masks": ()}


def eurobert_masked_head(fields: ConfigReader) -> OutputHeadConfig:
    """One linear map after the final norm."""
    return OutputHeadConfig(transform="none", bias=None if fields.boolean("mlp_bias", False) else False)


def eurobert_classifier(fields: ConfigReader) -> ConfigValues:
    """A sequence classifier on the first token or on the mean of all."""
    return {
        "pooling": fields.choice("classifier_pooling", "late", {"bos": "first", "mean": "mean"}),
        "output_head_config": OutputHeadConfig(transform="dense", activation="gelu"),
        "biases": (*llama(fields)["biases"], "transform"),
    }


def mistral(fields: ConfigReader) -> ConfigValues:
    """Sliding-window attention in every layer."""
    window = fields.integer("sliding_window", 4096 if "sliding_window" not in fields.values else 0)
    masks = ("causal", f"window:{window}") if window else ("causal",)
    return shared_config(fields.with_defaults(**_MISTRAL)) | {
        "masks": masks,
        "key_value_heads": fields.integer("num_key_value_heads", 8),
    }


def _sliding_window_layers(fields: ConfigReader, layers: int) -> PerLayerConfig:
    """Sliding-window attention in the upper layers, where use_sliding_window is set."""
    window = fields.integer("sliding_window", 4096) if fields.boolean("use_sliding_window", False) else 0
    full = fields.integer("max_window_layers", 28)
    default_types = ["sliding_attention" if window and layer >= full else "full_attention" for layer in range(layers)]
    return PerLayerConfig(masks=layer_masks(fields, layers, default_types, window))


def qwen2(fields: ConfigReader) -> ConfigValues:
    """Biases on queries, keys and values."""
    choices = shared_config(fields.with_defaults(**_QWEN))
    return choices | {
        "biases": ("query", "key", "value"),
        "per_layer": _sliding_window_layers(fields, choices["layers"]),
    }


def qwen3(fields: ConfigReader) -> ConfigValues:
    """QK norm per head."""
    choices = shared_config(fields.with_defaults(head_dim=128, **_QWEN))
    biases = ATTENTION_PROJECTIONS * fields.boolean("attention_bias", False)
    return choices | {
        "qk_norm": "per-head",
        "biases": biases,
        "per_layer": _sliding_window_layers(fields, choices["layers"]),
    }


def smollm3(fields: ConfigReader) -> ConfigValues:
    """No positional encoding in some layers (NoPE)."""
    choices = llama(fields.with_defaults(**_SMOLLM))
    layers = choices["layers"]
    every = fields.integer("no_rope_layer_interval", 4) or 1
    rope_layers = fields.list_of("no_rope_layers", int, [int((layer + 1) % every != 0) for layer in range(layers)])
    window = fields.integer("sliding_window", 0) if fields.boolean("use_sliding_window", False) else 0
    default_types = ["sliding_attention" if window and not rope else "full_attention" for rope in rope_layers]
    positions = tuple("rope" if rope else "none" for rope in rope_layers)
    masks = layer_masks(fields, layers, default_types, fields.integer("sliding_window", 0))
    return choices | {"per_layer": PerLayerConfig(positional_encodings=positions, masks=masks)}


def olmo2(fields: ConfigReader) -> ConfigValues:
    """Norm on the sublayer's output (post-sublayer), QK norm over all heads."""
    biases = ATTENTION_PROJECTIONS * fields.boolean("attention_bias", False)
    return shared_config(fields.with_defaults(**_OLMO)) | {
        "norm_placement": "post-sublayer",
        "qk_norm": "all-heads",
        "biases": biases,
    }


def phi3(fields: ConfigReader) -> ConfigValues:
    """Sliding-window attention in every layer, if the config has a window."""
    window = fields.integer("sliding_window", 0)
    return shared_config(fields.with_defaults(**_PHI), original_context=4096, rotary_fraction=1.0) | {
        "masks": ("causal", f"window:{window}") if window else ("causal",)
    }


def llama2c(fields: ConfigReader) -> ConfigValues:
    """Interleaved rotary embedding."""
    choices = shared_config(fields)
    return choices | {"rope": replace(choices["rope"], interleaved=True)}


_LLAMA2C_BLOCK = block_rows("attention_norm", ["wq", "wk", "wv", "wo"], "ffn_norm", ["w1", "w3", "w2"])
_LLAMA2C_OUTSIDE_BLOCKS: WeightRules = {"embedding": "tok_embeddings", "decoder.final_norm": "norm"}
_OLMO2_BLOCK: WeightRules = (
    {name: theirs for name, theirs in BLOCK.items() if "norm" not in name}
    | QK_NORM_RULES
    | {
        "self_attention_residual.output_norm": "post_attention_layernorm",
        "feed_forward_residual.output_norm": "post_feedforward_layernorm",
    }
)
_PHI3_BLOCK = block_rows(
    "input_layernorm",
    [*fused("self_attn.qkv_proj", stacked_qkv), "self_attn.o_proj"],
    "post_attention_layernorm",
    [rule("mlp.gate_up_proj", chunk(0, 2)), rule("mlp.gate_up_proj", chunk(1, 2)), "mlp.down_proj"],
)
_IGNORED = ("*.rotary_emb.inv_freq",)

LLAMA = Family(llama, WEIGHTS, decoder_heads(tied=False), "model.", _IGNORED, ignored_fields=("pretraining_tp",))
EUROBERT = Family(
    eurobert,
    _ENCODER_OUTSIDE_BLOCKS | block_rules("encoder", "layers.{i}.", BLOCK),
    {
        "ForMaskedLM": masked_language_head(
            {"output_head.projection": "lm_head"}, eurobert_masked_head, tied_by_default=False
        ),
        "ForSequenceClassification": classifier_head(
            "classifier", rows={"output_head.transform.dense": "dense"}, read=eurobert_classifier
        ),
        "ForTokenClassification": classifier_head("classifier", output_head="token-classifier"),
    },
    "model.",
    _IGNORED,
    ignored_fields=("pretraining_tp", "mask_token_id"),
)
MISTRAL = Family(mistral, WEIGHTS, decoder_heads(tied=False), "model.", _IGNORED)
QWEN2 = Family(qwen2, WEIGHTS, decoder_heads(tied=False), "model.", _IGNORED)
QWEN3 = Family(
    qwen3,
    OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", BLOCK | QK_NORM_RULES),
    decoder_heads(tied=False),
    "model.",
    _IGNORED,
)
SMOLLM3 = Family(smollm3, WEIGHTS, decoder_heads(tied=True, default_pad_token_id=128_004), "model.", _IGNORED)
OLMO2 = Family(
    olmo2,
    OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _OLMO2_BLOCK),
    decoder_heads(tied=False, default_pad_token_id=1),
    "model.",
    _IGNORED,
)
PHI3 = Family(
    phi3,
    OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _PHI3_BLOCK),
    decoder_heads(tied=False, default_pad_token_id=32_000),
    "model.",
    _IGNORED,
    ignored_fields=("original_max_position_embeddings",),  # has an effect with rotary scaling alone
)
LLAMA2C = Family(
    llama2c,
    _LLAMA2C_OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _LLAMA2C_BLOCK),
    {"ForCausalLM": language_head("output")},
    ignored_tensors=("freq_cis_real.weight", "freq_cis_imag.weight"),
)


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
_GEMMA_REQUIRED_VALUES = {"use_bidirectional_attention": False}
GEMMA = Family(
    gemma, WEIGHTS, decoder_heads(tied=True, default_pad_token_id=0), "model.", _IGNORED, _GEMMA_REQUIRED_VALUES
)
GEMMA2 = Family(
    gemma2,
    OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _SANDWICH),
    decoder_heads(tied=True, default_pad_token_id=0) | {"ForCausalLM": _soft_capped_head(30.0)},
    "model.",
    _IGNORED,
    _GEMMA_REQUIRED_VALUES,
)
GEMMA3 = Family(
    gemma3,
    OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _SANDWICH | QK_NORM_RULES),
    decoder_heads(tied=True, default_pad_token_id=0) | {"ForCausalLM": _soft_capped_head(0.0)},
    "model.",
    _IGNORED,
    _GEMMA_REQUIRED_VALUES,
    ignored_fields=("attn_logit_softcapping",),  # a field of Gemma 2, without effect here
)
