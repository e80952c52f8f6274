"""Llama and models with its architecture: Mistral, Qwen2, Qwen3, SmolLM3, OLMo 2, Phi-3, EuroBERT."""

from __future__ import annotations

from dataclasses import replace

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    GATED_MLP_ACTIVATIONS,
    block_rules,
    classifier_head,
    decoder_heads,
    language_head,
    masked_language_head,
)
from headlight.checkpoints.families.rope import layer_masks, rope_config
from headlight.checkpoints.weight_mapping import ConfigValues, Family, WeightRules, chunk, rule, stacked_qkv
from headlight.config_groups import OutputHeadConfig, PerLayerConfig

BLOCK: WeightRules = {
    "self_attention_residual.norm": "input_layernorm",
    "self_attention.query": "self_attn.q_proj",
    "self_attention.key": "self_attn.k_proj",
    "self_attention.value": "self_attn.v_proj",
    "self_attention.output": "self_attn.o_proj",
    "feed_forward_residual.norm": "post_attention_layernorm",
    "feed_forward.gate": "mlp.gate_proj",
    "feed_forward.up": "mlp.up_proj",
    "feed_forward.down": "mlp.down_proj",
}
QK_NORM_RULES: WeightRules = {
    "self_attention.query_norm.norm": "self_attn.q_norm",
    "self_attention.key_norm.norm": "self_attn.k_norm",
}
OUTSIDE_BLOCKS: WeightRules = {"embedding": "embed_tokens", "decoder.final_norm": "norm"}
_ENCODER_OUTSIDE_BLOCKS: WeightRules = {"embedding": "embed_tokens", "encoder.final_norm": "norm"}
WEIGHTS = OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", BLOCK)
ATTENTION_PROJECTIONS = ("query", "key", "value", "output")
FEEDFORWARD_PROJECTIONS = ("gate", "up", "down")


def shared_config(
    fields: ConfigReader, activation: str = "silu", original_context: int = 0, rotary_fraction: float | None = None
) -> ConfigValues:
    """Sizes, norm, activation and rotary embedding, under the names that all these families share."""
    width, heads = fields.integer("hidden_size", 4096), fields.integer("num_attention_heads", 32)
    head_width = fields.integer("head_dim", 0) or width // max(heads, 1)
    context = fields.integer("max_position_embeddings", 2048)
    rope = rope_config(fields, head_width, context, original_context=original_context, rotary_fraction=rotary_fraction)
    if rope.scaling == "dynamic":
        context = int(context * rope.factor)
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", 32_000),
        "context_length": context,
        "d_model": width,
        "layers": fields.layer_count("num_hidden_layers", 32),
        "heads": heads,
        "key_value_heads": fields.integer("num_key_value_heads", heads),
        "head_dim": head_width,
        "d_ff": fields.integer("intermediate_size", 11_008),
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
    "vocab_size": 128_256,
    "max_position_embeddings": 32_768,
    "hidden_size": 2048,
    "num_hidden_layers": 36,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "rope_theta": 2_000_000.0,
}
_OLMO = {"vocab_size": 50_304, "rms_norm_eps": 1e-5}
_PHI = {
    "vocab_size": 32_064,
    "max_position_embeddings": 4096,
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "rms_norm_eps": 1e-5,
}
_EURO = {
    "vocab_size": 128_256,
    "max_position_embeddings": 8192,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "rms_norm_eps": 1e-5,
}


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


_LLAMA2C_BLOCK: WeightRules = {
    "self_attention_residual.norm": "attention_norm",
    "self_attention.query": "wq",
    "self_attention.key": "wk",
    "self_attention.value": "wv",
    "self_attention.output": "wo",
    "feed_forward_residual.norm": "ffn_norm",
    "feed_forward.gate": "w1",
    "feed_forward.up": "w3",
    "feed_forward.down": "w2",
}
_LLAMA2C_OUTSIDE_BLOCKS: WeightRules = {"embedding": "tok_embeddings", "decoder.final_norm": "norm"}
_OLMO2_BLOCK: WeightRules = (
    {name: theirs for name, theirs in BLOCK.items() if "norm" not in name}
    | QK_NORM_RULES
    | {
        "self_attention_residual.output_norm": "post_attention_layernorm",
        "feed_forward_residual.output_norm": "post_feedforward_layernorm",
    }
)
_PHI3_BLOCK: WeightRules = BLOCK | {
    "self_attention.query": rule("self_attn.qkv_proj", stacked_qkv(0)),
    "self_attention.key": rule("self_attn.qkv_proj", stacked_qkv(1)),
    "self_attention.value": rule("self_attn.qkv_proj", stacked_qkv(2)),
    "feed_forward.gate": rule("mlp.gate_up_proj", chunk(0, 2)),
    "feed_forward.up": rule("mlp.gate_up_proj", chunk(1, 2)),
}
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
