"""Families that differ from Llama in a part or two: OLMo 1 to 3, EXAONE 4, Granite, StableLM, Cohere, GLM, nanochat."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    ATTENTION_PROJECTIONS,
    MLP_ACTIVATIONS,
    attention_biases,
    block_rows,
    language_head,
    layer_masks,
    repeating_types,
    rope_config,
)
from headlight.checkpoints.families.gemma import soft_capped_head
from headlight.checkpoints.families.llama import (
    ATTENTION,
    BLOCK,
    FEED_FORWARD,
    FUSED_FEED_FORWARD,
    QK_NORM_RULES,
    llama,
    llama_family,
    shared_config,
    windows,
)
from headlight.checkpoints.weight_mapping import ConfigValues, WeightRule, WeightRules, flatten, flip_halves, rule
from headlight.config import EmbeddingConfig, PerLayerConfig


def olmo(fields: ConfigReader) -> ConfigValues:
    """LayerNorm without weights; queries, keys and values may be limited."""
    return shared_config(fields) | {
        "norm": "nonparametric-layernorm",
        "norm_epsilon": 1e-5,
        "attention.qkv_limit": fields.number("clip_qkv", 0.0),
        "biases": attention_biases(fields),
    }


def olmo2(fields: ConfigReader) -> ConfigValues:
    """Norm on the sublayer's output (post-sublayer), QK norm over all heads."""
    return shared_config(fields) | {
        "norm_placement": "post-sublayer",
        "attention.qk_norm": "all-heads",
        "biases": attention_biases(fields),
    }


def olmo3(fields: ConfigReader) -> ConfigValues:
    """OLMo 2 with a sliding window in three of four layers; rotary embeddings there are not scaled."""
    choices = olmo2(fields)
    layers = choices["layers"]
    default_types = repeating_types(fields, layers, 4)
    types = fields.list_of("layer_types", str, default_types)
    masks = layer_masks(fields, layers, default_types, fields.integer("sliding_window", 4096))
    sizes = (choices["head_dim"], choices["context_length"])
    ropes = {
        "full_attention": rope_config(fields, *sizes, layer_type="full_attention"),
        "sliding_attention": rope_config(fields.without("rope_scaling"), *sizes, layer_type="sliding_attention"),
    }
    per_layer = PerLayerConfig(masks=masks, ropes=tuple(ropes[each] for each in types))
    return choices | {"rope": ropes["full_attention"], "per_layer": per_layer}


def rope_within_windows(fields: ConfigReader, layers: int) -> PerLayerConfig:
    """Sliding windows with rotary embedding and full attention without it, if the model has a window."""
    window = fields.integer("sliding_window", 0 if "sliding_window" in fields.values else 4096)
    default_types = repeating_types(fields, layers, 4 if window else 1)
    types = fields.list_of("layer_types", str, default_types)
    masks = layer_masks(fields, layers, default_types, window)
    positions = tuple("rope" if each == "sliding_attention" else "none" for each in types)
    return PerLayerConfig(masks=masks, positional_encodings=positions if window else ())


def exaone4(fields: ConfigReader) -> ConfigValues:
    """Norms on the sublayers' outputs, QK norm per head, rotary embedding only in layers with a window."""
    choices = shared_config(fields)
    return choices | {
        "norm_placement": "post-sublayer",
        "attention.qk_norm": "per-head",
        "per_layer": rope_within_windows(fields, choices["layers"]),
    }


def granite(fields: ConfigReader) -> ConfigValues:
    """Fixed factors on the embeddings, the scores, the outputs added to the residual stream, and the logits."""
    choices = llama(fields)
    scale = fields.number("attention_multiplier", 1.0)
    return choices | {
        "embedding": EmbeddingConfig(scale=fields.number("embedding_multiplier", 1.0)),
        "per_layer": PerLayerConfig(score_scales=(scale,) * choices["layers"]),
    }


def stablelm(fields: ConfigReader) -> ConfigValues:
    """LayerNorm, partial rotary embedding; sublayers may be parallel, and each head may have its own QK norm."""
    return shared_config(fields, norm="layernorm", rotary_fraction=0.25) | {
        "residual.parallel": fields.boolean("use_parallel_residual", False),
        "attention.qk_norm": "each-head" if fields.boolean("qk_layernorm", False) else "none",
        "biases": ("norm", *ATTENTION_PROJECTIONS[:3] * fields.boolean("use_qkv_bias", False)),
    }


def cohere(fields: ConfigReader) -> ConfigValues:
    """One LayerNorm without biases before both parallel sublayers; interleaved rotary embedding."""
    return shared_config(fields, norm="layernorm", interleaved=True) | {
        "residual.parallel": True,
        "attention.qk_norm": "each-head" if fields.boolean("use_qk_norm", False) else "none",
        "biases": attention_biases(fields),
    }


def cohere2(fields: ConfigReader) -> ConfigValues:
    """Cohere with a sliding window in three of four layers, and rotary embedding only in those."""
    choices = cohere(fields)
    return choices | {"per_layer": rope_within_windows(fields, choices["layers"])}


def glm(fields: ConfigReader) -> ConfigValues:
    """Half of each head's channels are rotated, as neighbours; biases on queries, keys and values."""
    choices = shared_config(fields, rotary_fraction=0.5, interleaved=True)
    return choices | {"biases": attention_biases(fields, True)[:3]}


def glm4(fields: ConfigReader) -> ConfigValues:
    """GLM with norms on the sublayers' outputs as well."""
    return glm(fields) | {"norm_placement": "sandwich"}


def starcoder2(fields: ConfigReader) -> ConfigValues:
    """LayerNorm, a feed-forward network without gate, biases everywhere."""
    biases = (*ATTENTION_PROJECTIONS, "up", "down") * fields.boolean("use_bias", True)
    return shared_config(fields, MLP_ACTIVATIONS, norm="layernorm") | {
        "masks": windows(fields),
        "biases": ("norm", *biases),
    }


def nanochat(fields: ConfigReader) -> ConfigValues:
    """Norms without weights, of the embeddings and of queries and keys too; squared ReLU."""
    return shared_config(fields, MLP_ACTIVATIONS) | {
        "norm": "nonparametric-rmsnorm",
        "embedding.norm": True,
        "attention.qk_norm": "per-head",
        "biases": attention_biases(fields),
    }


_POST_NORM_BLOCK: WeightRules = {
    **{name: theirs for name, theirs in BLOCK.items() if "norm" not in name},
    **QK_NORM_RULES,
    "self_attention_residual.output_norm": "post_attention_layernorm",
    "feed_forward_residual.output_norm": "post_feedforward_layernorm",
}
_STABLELM_BLOCK: WeightRules = BLOCK | {
    "feed_forward_residual.norm": "post_attention_layernorm|input_layernorm",
    "self_attention.query_norm": rule("self_attn.q_layernorm.norms.*", flatten),
    "self_attention.key_norm": rule("self_attn.k_layernorm.norms.*", flatten),
}
_COHERE_BLOCK: WeightRules = {
    **block_rows("input_layernorm", ATTENTION, "input_layernorm", FEED_FORWARD),
    "self_attention.query_norm": rule("self_attn.q_norm", flatten),
    "self_attention.key_norm": rule("self_attn.k_norm", flatten),
}
_GLM_BLOCK = block_rows("input_layernorm", ATTENTION, "post_attention_layernorm", FUSED_FEED_FORWARD)
_GLM4_BLOCK: WeightRules = _GLM_BLOCK | {
    "self_attention_residual.output_norm": "post_self_attn_layernorm",
    "feed_forward_residual.output_norm": "post_mlp_layernorm",
}
_STARCODER_BLOCK = block_rows("input_layernorm", ATTENTION, "post_attention_layernorm", ["mlp.c_fc", "mlp.c_proj"])
# nanochat rotates in the opposite direction, which equals exchanging the halves of each query and key.
_NANOCHAT_ATTENTION: list[str | WeightRule] = [
    rule("self_attn.q_proj", flip_halves),
    rule("self_attn.k_proj", flip_halves),
    *ATTENTION[2:],
]
_NANOCHAT_BLOCK = block_rows("-", _NANOCHAT_ATTENTION, "-", ["mlp.fc1", "mlp.fc2"])
_OLMO = {"vocab_size": 50_304, "rms_norm_eps": 1e-5}
_COHERE = {
    "vocab_size": 256_000, "max_position_embeddings": 8192, "hidden_size": 8192, "num_hidden_layers": 40,
    "num_attention_heads": 64, "intermediate_size": 22_528,
}  # fmt: skip
_GLM = {
    "vocab_size": 151_552, "max_position_embeddings": 131_072, "num_hidden_layers": 40, "num_key_value_heads": 2,
    "intermediate_size": 13_696, "head_dim": 128, "rms_norm_eps": 1.5625e-7,
}  # fmt: skip
_COHERE_HEADS = {
    "ForCausalLM": language_head(read=lambda fields: {"logit_scale": fields.number("logit_scale", 0.0625)})
}

OLMO = llama_family(olmo, default_pad_token_id=1, defaults={"vocab_size": 50_304})
OLMO2 = llama_family(olmo2, _POST_NORM_BLOCK, default_pad_token_id=1, defaults=_OLMO)
OLMO3 = llama_family(olmo3, _POST_NORM_BLOCK, default_pad_token_id=1, defaults=_OLMO | {"rope_theta": 500_000.0})
EXAONE4 = llama_family(
    exaone4,
    _POST_NORM_BLOCK,
    ignored_fields=("sliding_window_pattern",),  # equivalent to layer_types
    defaults={"vocab_size": 102_400, "intermediate_size": 16_384, "rms_norm_eps": 1e-5},
)
GRANITE = llama_family(
    granite,
    heads={
        "ForCausalLM": language_head(
            tied_by_default=False,
            read=lambda fields: {"logit_scale": 1 / (fields.number("logits_scaling", 1.0) or 1.0)},
        )
    },
    factors=lambda fields: dict.fromkeys(
        ("self_attention.output", "feed_forward.down"), fields.number("residual_multiplier", 1.0)
    ),
)
STABLELM = llama_family(
    stablelm,
    _STABLELM_BLOCK,
    defaults={
        "vocab_size": 50_304, "max_position_embeddings": 4096, "hidden_size": 2560, "intermediate_size": 6912,
    },
)  # fmt: skip
COHERE = llama_family(cohere, _COHERE_BLOCK, heads=_COHERE_HEADS, defaults=_COHERE | {"rope_theta": 500_000.0})
COHERE2 = llama_family(cohere2, _COHERE_BLOCK, heads=_COHERE_HEADS, defaults=_COHERE)
GLM = llama_family(glm, _GLM_BLOCK, default_pad_token_id=151_329, defaults=_GLM)
GLM4 = llama_family(glm4, _GLM4_BLOCK, default_pad_token_id=151_329, defaults=_GLM)
STARCODER2 = llama_family(
    starcoder2,
    _STARCODER_BLOCK,
    tied=True,
    ignored_fields=("residual_dropout",),
    defaults={
        "vocab_size": 49_152, "max_position_embeddings": 4096, "hidden_size": 3072, "num_hidden_layers": 30,
        "num_attention_heads": 24, "num_key_value_heads": 2, "intermediate_size": 12_288,
        "hidden_act": "gelu_pytorch_tanh",
    },
)  # fmt: skip
NANOCHAT = llama_family(
    nanochat,
    _NANOCHAT_BLOCK,
    heads={"ForCausalLM": soft_capped_head(15.0, tied=False)},
    defaults={
        "vocab_size": 50_304, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 6,
        "intermediate_size": 8192, "hidden_act": "relu2",
    },
)  # fmt: skip
