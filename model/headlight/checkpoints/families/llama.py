"""Llama and models with its names: Mistral, Qwen2, Qwen3, SmolLM3, Phi-3, EuroBERT, and llama2.c's own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader, FieldNames
from headlight.checkpoints.families.common import (
    GATED_MLP_ACTIVATIONS,
    attention_biases,
    block_rows,
    block_rules,
    classifier_head,
    decoder_heads,
    fused,
    head_and_context,
    language_head,
    layer_masks,
    rope_config,
    sizes,
)
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    HeadMapping,
    WeightRule,
    WeightRules,
    chunk,
    rule,
    stacked_qkv,
)
from headlight.config import OutputHeadConfig, PerLayerConfig

ATTENTION = [f"self_attn.{name}_proj" for name in "qkvo"]
FEED_FORWARD = ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]
FUSED_FEED_FORWARD: list[str | WeightRule] = [
    rule("mlp.gate_up_proj", chunk(0, 2)),
    rule("mlp.gate_up_proj", chunk(1, 2)),
    "mlp.down_proj",
]
BLOCK = block_rows("input_layernorm", ATTENTION, "post_attention_layernorm", FEED_FORWARD)
QK_NORM_RULES: WeightRules = {
    "self_attention.query_norm.norm": "self_attn.q_norm",
    "self_attention.key_norm.norm": "self_attn.k_norm",
}
FEEDFORWARD_PROJECTIONS = ("gate", "up", "down")


def outside_blocks(stack: str = "decoder", embedding: str = "embed_tokens", norm: str = "norm") -> WeightRules:
    """Embedding and final norm."""
    return {"embedding": embedding, f"{stack}.final_norm": norm}


_NORM_EPSILONS: Mapping[str, tuple[FieldNames, float]] = {
    "rmsnorm": ("rms_norm_eps", 1e-6),
    "layernorm": (("layer_norm_eps", "norm_epsilon"), 1e-5),
}


def shared_config(
    fields: ConfigReader,
    activations: Mapping[str, str] = GATED_MLP_ACTIVATIONS,
    *,
    norm: str = "rmsnorm",
    d_ff: str = "intermediate_size",
    **rope_choices: Any,
) -> ConfigValues:
    """Sizes, norm, activation and rotary embedding, under the names that all these families share.

    `d_ff` is the field for the width of the feed-forward network, `rope_choices` are options of `rope_config`.
    """
    found = sizes(fields, 32_000, 2048, 4096, 32, 32, 11_008, d_ff=d_ff)
    head_width, context = head_and_context(found)
    head_width = fields.integer("head_dim", 0) or head_width
    rope = rope_config(fields, head_width, context, **rope_choices)
    if rope.scaling == "dynamic":
        context = int(context * rope.factor)
    return found | {
        "architecture": "decoder",
        "context_length": context,
        "key_value_heads": fields.integer("num_key_value_heads", found["heads"]),
        "head_dim": head_width,
        "feed_forward": fields.choice(("hidden_act", "hidden_activation"), "silu", activations),
        "norm": norm,
        "norm_epsilon": fields.number(*_NORM_EPSILONS[norm]),
        "positional_encoding": "rope",
        "rope": rope,
    }


def windows(fields: ConfigReader, default: int = 0) -> tuple[str, ...]:
    """Causal attention in all layers, within the sliding_window if there is one."""
    window = fields.integer("sliding_window", 0 if "sliding_window" in fields.values else default)
    return ("causal", f"window:{window}") if window else ("causal",)


def llama(fields: ConfigReader) -> ConfigValues:
    """Biases according to attention_bias and mlp_bias."""
    feed_forward = FEEDFORWARD_PROJECTIONS * fields.boolean("mlp_bias", False)
    return shared_config(fields) | {"biases": (*attention_biases(fields), *feed_forward)}


def eurobert(fields: ConfigReader) -> ConfigValues:
    """A bidirectional encoder."""
    return llama(fields) | {"architecture": "encoder", "masks": ()}


def eurobert_masked_head(fields: ConfigReader) -> ConfigValues:
    """One linear map after the final norm."""
    return {"transform": "none", "bias": None if fields.boolean("mlp_bias", False) else False}


def eurobert_classifier(fields: ConfigReader) -> ConfigValues:
    """A sequence classifier on the first token or on the mean of all."""
    return {
        "pooling": fields.choice("classifier_pooling", "late", {"bos": "first", "mean": "mean"}),
        "output_head_config": OutputHeadConfig(transform="dense", activation="gelu"),
        "biases": (*llama(fields)["biases"], "transform"),
    }


def mistral(fields: ConfigReader) -> ConfigValues:
    """Sliding-window attention in every layer."""
    return shared_config(fields) | {"masks": windows(fields, 4096)}


def upper_windows(fields: ConfigReader, layers: int) -> PerLayerConfig:
    """Sliding-window attention in the upper layers, if use_sliding_window is set."""
    window = fields.integer("sliding_window", 4096) if fields.boolean("use_sliding_window", False) else 0
    full = fields.integer("max_window_layers", 28)
    default_types = ["sliding_attention" if window and layer >= full else "full_attention" for layer in range(layers)]
    return PerLayerConfig(masks=layer_masks(fields, layers, default_types, window))


def qwen2(fields: ConfigReader) -> ConfigValues:
    """Biases on queries, keys and values."""
    choices = shared_config(fields)
    return choices | {"biases": ("query", "key", "value"), "per_layer": upper_windows(fields, choices["layers"])}


def qwen3(fields: ConfigReader, d_ff: str = "intermediate_size") -> ConfigValues:
    """QK norm per head; `d_ff` is the field for the width of the feed-forward network."""
    choices = shared_config(fields, d_ff=d_ff)
    per_layer = upper_windows(fields, choices["layers"])
    return choices | {"attention.qk_norm": "per-head", "biases": attention_biases(fields), "per_layer": per_layer}


def smollm3(fields: ConfigReader) -> ConfigValues:
    """No positional encoding in some layers (NoPE)."""
    choices = llama(fields)
    layers = choices["layers"]
    every = fields.integer("no_rope_layer_interval", 4) or 1
    rope_layers = fields.list_of("no_rope_layers", int, [int((layer + 1) % every != 0) for layer in range(layers)])
    window = fields.integer("sliding_window", 0) if fields.boolean("use_sliding_window", False) else 0
    default_types = ["sliding_attention" if window and not rope else "full_attention" for rope in rope_layers]
    positions = tuple("rope" if rope else "none" for rope in rope_layers)
    masks = layer_masks(fields, layers, default_types, fields.integer("sliding_window", 0))
    return choices | {"per_layer": PerLayerConfig(positional_encodings=positions, masks=masks)}


def phi3(fields: ConfigReader) -> ConfigValues:
    """Sliding-window attention in every layer, if the config has a window."""
    return shared_config(fields, original_context=4096, rotary_fraction=1.0) | {"masks": windows(fields)}


def llama2c(fields: ConfigReader) -> ConfigValues:
    """Interleaved rotary embedding."""
    return shared_config(fields, interleaved=True)


def llama_family(
    read: Callable[[ConfigReader], ConfigValues],
    block: WeightRules = BLOCK,
    *,
    tied: bool = False,
    default_pad_token_id: int | None = None,
    heads: Mapping[str, HeadMapping] = MappingProxyType({}),
    **choices: Any,
) -> Family:
    """A family with Llama's names outside the blocks; `choices` are further fields of Family.

    `tied`: whether the language-model head shares the embedding if no field says; `heads` replace the usual ones.
    """
    return Family(
        read,
        outside_blocks() | block_rules("decoder", "layers.{i}.", block),
        decoder_heads(tied, default_pad_token_id=default_pad_token_id) | dict(heads),
        "model.",
        IGNORED_TENSORS,
        **choices,
    )


_LLAMA2C_BLOCK = block_rows("attention_norm", ["wq", "wk", "wv", "wo"], "ffn_norm", ["w1", "w3", "w2"])
_PHI3_BLOCK = block_rows(
    "input_layernorm",
    [*fused("self_attn.qkv_proj", stacked_qkv), "self_attn.o_proj"],
    "post_attention_layernorm",
    FUSED_FEED_FORWARD,
)
IGNORED_TENSORS = ("*.rotary_emb.inv_freq",)
_QWEN = {"vocab_size": 151_936, "max_position_embeddings": 32_768, "intermediate_size": 22_016}

LLAMA = llama_family(llama, ignored_fields=("pretraining_tp",))
EUROBERT = Family(
    eurobert,
    outside_blocks("encoder") | block_rules("encoder", "layers.{i}.", BLOCK),
    {
        "ForMaskedLM": language_head(
            tied_by_default=False, output_head="masked-language-model", read=eurobert_masked_head
        ),
        "ForSequenceClassification": classifier_head(
            "classifier", rows={"output_head.transform.dense": "dense"}, read=eurobert_classifier
        ),
        "ForTokenClassification": classifier_head("classifier", output_head="token-classifier"),
    },
    "model.",
    IGNORED_TENSORS,
    ignored_fields=("pretraining_tp", "mask_token_id"),
    defaults={
        "vocab_size": 128_256, "max_position_embeddings": 8192, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "rms_norm_eps": 1e-5,
    },
)  # fmt: skip
MISTRAL = llama_family(
    mistral,
    defaults={"max_position_embeddings": 131_072, "intermediate_size": 14_336, "num_key_value_heads": 8},
)
QWEN2 = llama_family(qwen2, defaults=_QWEN)
QWEN3 = llama_family(qwen3, BLOCK | QK_NORM_RULES, defaults=_QWEN | {"head_dim": 128})
QWEN2_VL = replace(
    QWEN2,
    defaults={
        "vocab_size": 152_064, "max_position_embeddings": 32_768, "hidden_size": 8192, "num_hidden_layers": 80,
        "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 29_568, "rms_norm_eps": 1e-5,
        "max_window_layers": 80, "rope_theta": 1_000_000.0,
    },
)  # fmt: skip
QWEN3_VL = replace(QWEN3, defaults=QWEN3.defaults | {"max_position_embeddings": 128_000, "rope_theta": 500_000.0})
SMOLLM3 = llama_family(
    smollm3,
    tied=True,
    default_pad_token_id=128_004,
    defaults={
        "vocab_size": 128_256, "max_position_embeddings": 32_768, "hidden_size": 2048, "num_hidden_layers": 36,
        "num_attention_heads": 16, "num_key_value_heads": 4, "rope_theta": 2_000_000.0,
    },
)  # fmt: skip
PHI3 = llama_family(
    phi3,
    _PHI3_BLOCK,
    default_pad_token_id=32_000,
    ignored_fields=("original_max_position_embeddings",),  # only has an effect with rotary scaling
    defaults={
        "vocab_size": 32_064, "max_position_embeddings": 4096, "hidden_size": 3072, "intermediate_size": 8192,
        "rms_norm_eps": 1e-5,
    },
)  # fmt: skip
LLAMA2C = Family(
    llama2c,
    outside_blocks(embedding="tok_embeddings") | block_rules("decoder", "layers.{i}.", _LLAMA2C_BLOCK),
    {"ForCausalLM": language_head("output")},
    ignored_tensors=("freq_cis_real.weight", "freq_cis_imag.weight"),
)
