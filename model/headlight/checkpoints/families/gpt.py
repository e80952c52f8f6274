"""GPT-2 and its descendants: GPT-Neo, GPT-J, GPT-NeoX (Pythia), and nanoGPT's own files."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    MLP_ACTIVATIONS,
    SUMMARY_FIELDS,
    block_rules,
    decoder_heads,
    language_head,
)
from headlight.checkpoints.families.rope import rope_config
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    WeightRule,
    WeightRules,
    chunk,
    per_head_qkv,
    rule,
    transpose,
)
from headlight.config_groups import PerLayerConfig, RopeConfig
from headlight.errors import CheckpointError


def shared_config(fields: ConfigReader, defaults: tuple[int, int, int, int, int]) -> ConfigValues:
    """Sizes under GPT-2's names; `defaults`: vocabulary, context, d_model, layers, heads."""
    vocabulary, context, width, layers, count = defaults
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", vocabulary),
        "context_length": fields.integer(("n_positions", "max_position_embeddings", "n_ctx"), context),
        "d_model": fields.integer(("n_embd", "hidden_size"), width),
        "layers": fields.layer_count(("n_layer", "num_layers", "num_hidden_layers"), layers),
        "heads": fields.integer(("n_head", "num_heads", "num_attention_heads"), count),
        "d_ff": fields.integer(("n_inner", "intermediate_size"), 0),
        "feed_forward": fields.choice("activation_function", "gelu_new", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
    }


def gpt2(fields: ConfigReader) -> ConfigValues:
    """Learned positions, pre-norm, biases; scores may be divided by the layer's number."""
    choices = shared_config(fields, (50_257, 1024, 768, 12, 12)) | {"positional_encoding": "learned", "bias": True}
    scaled, by_layer_index = (
        fields.boolean("scale_attn_weights", True),
        fields.boolean("scale_attn_by_inverse_layer_idx", False),
    )
    first_scale = (choices["d_model"] // max(choices["heads"], 1) or 1) ** -0.5 if scaled else 1.0
    scales = tuple(first_scale / (layer + 1) for layer in range(choices["layers"])) if by_layer_index else ()
    return choices | {"scale": scaled or by_layer_index, "per_layer": PerLayerConfig(score_scales=scales)}


def gpt_neo(fields: ConfigReader) -> ConfigValues:
    """Unscaled scores, and sliding-window attention in the layers that attention_types calls local."""
    choices = shared_config(fields, (50_257, 2048, 2048, 24, 16))
    kinds = [
        kind
        for pattern in fields.list_of("attention_types", list, [[["global", "local"], choices["layers"] // 2]])
        for kind in _repeat_pattern(fields, pattern)
    ]
    masks = {"global": "none", "local": f"window:{fields.integer('window_size', 256)}"}
    if not set(kinds) <= set(masks) or len(kinds) != choices["layers"]:
        raise CheckpointError(f"{fields.name}: its attention_types do not say global or local once for each layer.")
    biases = ("output", "up", "down", "norm")
    by_layer = PerLayerConfig(masks=tuple(masks[kind] for kind in kinds))
    return choices | {"positional_encoding": "learned", "scale": False, "biases": biases, "per_layer": by_layer}


def _repeat_pattern(fields: ConfigReader, pattern: list[object]) -> list[str]:
    match pattern:
        case [list() as kinds, int() as times] if 0 <= times <= 2000 and all(isinstance(kind, str) for kind in kinds):
            return [str(kind) for kind in kinds] * times
    raise CheckpointError(f"{fields.name}: its attention_types is no list of kinds and how often they follow.")


def gptj(fields: ConfigReader) -> ConfigValues:
    """Attention and feed-forward in parallel, interleaved rotary embedding."""
    choices = shared_config(fields, (50_400, 2048, 4096, 28, 16))
    return choices | {
        "positional_encoding": "rope",
        "rope": RopeConfig(interleaved=True, rotary_dim=fields.integer("rotary_dim", 64)),
        "parallel_residual": True,
        "biases": ("up", "down", "norm"),
    }


def gpt_neox(fields: ConfigReader) -> ConfigValues:
    """Partial rotary embedding; attention and feed-forward in parallel or in sequence."""
    width, count = fields.integer("hidden_size", 6144), fields.integer("num_attention_heads", 64)
    context = fields.integer("max_position_embeddings", 2048)
    names = ("rotary_emb_base", "rotary_pct")
    attention = ("query", "key", "value", "output") * fields.boolean("attention_bias", True)
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", 50_432),
        "context_length": context,
        "d_model": width,
        "layers": fields.layer_count("num_hidden_layers", 44),
        "heads": count,
        "d_ff": fields.integer("intermediate_size", 24_576),
        "feed_forward": fields.choice("hidden_act", "gelu", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
        "positional_encoding": "rope",
        "rope": rope_config(fields, width // max(count, 1), context, rotary_fraction=0.25, field_names=names),
        "parallel_residual": fields.boolean("use_parallel_residual", True),
        "biases": (*attention, "up", "down", "norm"),
    }


def nanogpt(fields: ConfigReader) -> ConfigValues:
    """GPT-2 as nanoGPT writes it: exact GELU, all biases or none."""
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", 50_304),
        "context_length": fields.integer("block_size", 1024),
        "d_model": fields.integer("n_embd", 768),
        "layers": fields.layer_count("n_layer", 12),
        "heads": fields.integer("n_head", 12),
        "feed_forward": "gelu",
        "norm": "layernorm",
        "positional_encoding": "learned",
        "bias": fields.boolean("bias", True),
    }


_BLOCK: WeightRules = {
    "self_attention_residual.norm": "ln_1",
    "self_attention.query": rule("attn.c_attn", transpose, chunk(0, 3)),
    "self_attention.key": rule("attn.c_attn", transpose, chunk(1, 3)),
    "self_attention.value": rule("attn.c_attn", transpose, chunk(2, 3)),
    "self_attention.output": rule("attn.c_proj", transpose),
    "feed_forward_residual.norm": "ln_2",
    "feed_forward.up": rule("mlp.c_fc", transpose),
    "feed_forward.down": rule("mlp.c_proj", transpose),
}
_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "wte",
    "decoder.positional_encoding.table": "wpe",
    "decoder.final_norm": "ln_f",
}
GPT2 = Family(
    gpt2,
    _OUTSIDE_BLOCKS | block_rules("decoder", "h.{i}.", _BLOCK),
    decoder_heads(tied=True, token_classifier="classifier") | {"LMHeadModel": language_head()},
    base_model_prefix="transformer.",
    ignored_tensors=("h.*.attn.bias", "h.*.attn.masked_bias"),
    ignored_fields=("reorder_and_upcast_attn", *SUMMARY_FIELDS),
)
GPT_NEO = Family(
    gpt_neo,
    _OUTSIDE_BLOCKS
    | block_rules(
        "decoder",
        "h.{i}.",
        {
            "self_attention_residual.norm": "ln_1",
            "self_attention.query": "attn.attention.q_proj",
            "self_attention.key": "attn.attention.k_proj",
            "self_attention.value": "attn.attention.v_proj",
            "self_attention.output": "attn.attention.out_proj",
            "feed_forward_residual.norm": "ln_2",
            "feed_forward.up": "mlp.c_fc",
            "feed_forward.down": "mlp.c_proj",
        },
    ),
    decoder_heads(tied=True, token_classifier="classifier"),
    base_model_prefix="transformer.",
    ignored_tensors=("h.*.attn.attention.bias", "h.*.attn.attention.masked_bias"),
    ignored_fields=("attention_layers",),  # derived from attention_types
)
_GPTJ_OUTSIDE_BLOCKS: WeightRules = {"embedding": "wte", "decoder.final_norm": "ln_f"}
GPTJ = Family(
    gptj,
    _GPTJ_OUTSIDE_BLOCKS
    | block_rules(
        "decoder",
        "h.{i}.",
        {
            "self_attention_residual.norm": "ln_1",
            "self_attention.query": "attn.q_proj",
            "self_attention.key": "attn.k_proj",
            "self_attention.value": "attn.v_proj",
            "self_attention.output": "attn.out_proj",
            "feed_forward_residual.norm": "ln_1",
            "feed_forward.up": "mlp.fc_in",
            "feed_forward.down": "mlp.fc_out",
        },
    ),
    decoder_heads(tied=False, token_classifier="classifier")
    | {"ForCausalLM": language_head(tied_by_default=False, bias=True)},
    base_model_prefix="transformer.",
    ignored_tensors=("h.*.attn.bias", "h.*.attn.masked_bias"),
)
_NEOX_OUTSIDE_BLOCKS: WeightRules = {"embedding": "embed_in", "decoder.final_norm": "final_layer_norm"}
GPT_NEOX = Family(
    gpt_neox,
    _NEOX_OUTSIDE_BLOCKS
    | block_rules(
        "decoder",
        "layers.{i}.",
        {
            "self_attention_residual.norm": "input_layernorm",
            "self_attention.query": rule("attention.query_key_value", per_head_qkv(0)),
            "self_attention.key": rule("attention.query_key_value", per_head_qkv(1)),
            "self_attention.value": rule("attention.query_key_value", per_head_qkv(2)),
            "self_attention.output": "attention.dense",
            "feed_forward_residual.norm": "post_attention_layernorm",
            "feed_forward.up": "mlp.dense_h_to_4h",
            "feed_forward.down": "mlp.dense_4h_to_h",
        },
    ),
    decoder_heads(tied=False, token_classifier="classifier")
    | {"ForCausalLM": language_head("embed_out|lm_head", tied_by_default=False)},
    base_model_prefix="gpt_neox.",
    ignored_tensors=(
        "layers.*.attention.bias",
        "layers.*.attention.masked_bias",
        "layers.*.attention.rotary_emb.inv_freq",
    ),
    ignored_fields=("is_decoder",),
)
_NANOGPT_BLOCK: WeightRules = {
    name: rule(row.source, *row.ops[1:]) if isinstance(row, WeightRule) else row for name, row in _BLOCK.items()
}
NANOGPT = Family(
    nanogpt,
    _OUTSIDE_BLOCKS | block_rules("decoder", "h.{i}.", _NANOGPT_BLOCK),
    {"ForCausalLM": language_head()},
    base_model_prefix="transformer.",
    ignored_tensors=("h.*.attn.bias",),
    ignored_fields=("dropout",),
)
