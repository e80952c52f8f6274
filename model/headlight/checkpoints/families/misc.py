"""OPT, BLOOM, Falcon and Phi."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.bart import BLOCK as BART_BLOCK
from headlight.checkpoints.families.common import MLP_ACTIVATIONS, block_rules, decoder_heads, language_head
from headlight.checkpoints.families.rope import rope_config
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    WeightRules,
    grouped_qkv,
    per_head_qkv,
    rule,
    skip_rows,
)
from headlight.config_groups import AlibiConfig, EmbeddingConfig


def opt(fields: ConfigReader) -> ConfigValues:
    """Pre-norm or post-norm; embeddings smaller than d_model are projected up before positions are added."""
    width = fields.integer("hidden_size", 768)
    embedding_size = fields.integer("word_embed_proj_dim", width)
    norm_first = fields.boolean("do_layer_norm_before", True)
    linear_biases = ("query", "key", "value", "output", "up", "down") * fields.boolean("enable_bias", True)
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", 50_272),
        "context_length": fields.integer("max_position_embeddings", 2048),
        "d_model": width,
        "layers": fields.layer_count("num_hidden_layers", 12),
        "heads": fields.integer("num_attention_heads", 12),
        "d_ff": fields.integer("ffn_dim", 3072),
        "embedding": EmbeddingConfig(dim=embedding_size, projection="none" if embedding_size == width else "tokens"),
        "feed_forward": fields.choice("activation_function", "relu", MLP_ACTIVATIONS),
        "norm": "layernorm" if fields.boolean("layer_norm_elementwise_affine", True) else "nonparametric-layernorm",
        "norm_placement": "pre" if norm_first else "post",
        "final_norm": not fields.boolean("_remove_final_layer_norm", False),
        "positional_encoding": "learned",
        "biases": (*linear_biases, "norm"),
    }


def bloom(fields: ConfigReader) -> ConfigValues:
    """ALiBi, LayerNorm on the embeddings; residual connections may start from the norm's output."""
    residual_from_norm = fields.boolean("apply_residual_connection_post_layernorm", False)
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", 250_880),
        "context_length": fields.integer("seq_length", 2048),
        "d_model": fields.integer(("n_embed", "hidden_size"), 64),
        "layers": fields.layer_count(("n_layer", "num_hidden_layers"), 2),
        "heads": fields.integer(("n_head", "num_attention_heads"), 8),
        "feed_forward": "gelu-tanh",
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
        "norm_placement": "residual-from-norm" if residual_from_norm else "pre",
        "embedding_norm": True,
        "positional_encoding": "alibi",
        "bias": True,
    }


def falcon(fields: ConfigReader) -> ConfigValues:
    """Multi-query or grouped-query attention parallel to the feed-forward; in old models ALiBi, and in sequence."""
    width, count = fields.integer(("n_embed", "hidden_size"), 4544), fields.integer("num_attention_heads", 71)
    context, head = fields.integer("max_position_embeddings", 2048), width // max(count, 1)
    grouped = fields.boolean("new_decoder_architecture", False)
    key_value_heads = 1 if fields.boolean("multi_query", True) else count
    linear_biases = ("query", "key", "value", "output", "up", "down") * fields.boolean("bias", False)
    alibi = fields.boolean("alibi", False)
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", 65_024),
        "context_length": context,
        "d_model": width,
        "layers": fields.layer_count("num_hidden_layers", 32),
        "heads": count,
        "key_value_heads": fields.integer("num_kv_heads", count) if grouped else key_value_heads,
        "d_ff": fields.integer("ffn_hidden_size", 0),
        "feed_forward": fields.choice("activation", "gelu", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
        "parallel_residual": fields.boolean("parallel_attn", True) or grouped,
        "positional_encoding": "alibi" if alibi else "rope",
        "alibi": AlibiConfig(scale=max(head, 1) ** -0.5, bfloat16=True),
        "rope": rope_config(fields, head, context),
        "biases": (*linear_biases, "norm"),
    }


def phi(fields: ConfigReader) -> ConfigValues:
    """Partial rotary embedding; attention and feed-forward in parallel after one norm."""
    width, count = fields.integer("hidden_size", 2048), fields.integer("num_attention_heads", 32)
    context = fields.integer("max_position_embeddings", 2048)
    return {
        "architecture": "decoder",
        "vocabulary_size": fields.integer("vocab_size", 51_200),
        "context_length": context,
        "d_model": width,
        "layers": fields.layer_count("num_hidden_layers", 24),
        "heads": count,
        "key_value_heads": fields.integer("num_key_value_heads", count),
        "d_ff": fields.integer("intermediate_size", 8192),
        "feed_forward": fields.choice("hidden_act", "gelu_new", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
        "parallel_residual": True,
        "qk_norm": "per-head" if fields.boolean("qk_layernorm", False) else "none",
        "positional_encoding": "rope",
        "rope": rope_config(fields, width // max(count, 1), context, rotary_fraction=0.5),
        "bias": True,
    }


_OPT_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "decoder.embed_tokens",
    "decoder.token_project_in": "decoder.project_in",
    "decoder.project_out": "decoder.project_out",
    "decoder.positional_encoding.table": rule("decoder.embed_positions", skip_rows(2)),
    "decoder.final_norm": "decoder.final_layer_norm",
}
_BLOOM_BLOCK: WeightRules = {
    "self_attention_residual.norm": "input_layernorm",
    "self_attention.query": rule("self_attention.query_key_value", per_head_qkv(0)),
    "self_attention.key": rule("self_attention.query_key_value", per_head_qkv(1)),
    "self_attention.value": rule("self_attention.query_key_value", per_head_qkv(2)),
    "self_attention.output": "self_attention.dense",
    "feed_forward_residual.norm": "post_attention_layernorm",
    "feed_forward.up": "mlp.dense_h_to_4h",
    "feed_forward.down": "mlp.dense_4h_to_h",
}
_FALCON_BLOCK: WeightRules = _BLOOM_BLOCK | {
    "self_attention_residual.norm": "ln_attn|input_layernorm",
    "self_attention.query": rule("self_attention.query_key_value", grouped_qkv(0)),
    "self_attention.key": rule("self_attention.query_key_value", grouped_qkv(1)),
    "self_attention.value": rule("self_attention.query_key_value", grouped_qkv(2)),
    "feed_forward_residual.norm": "ln_mlp|post_attention_layernorm|input_layernorm",
}
_BLOOM_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "word_embeddings",
    "decoder.embedding_norm": "word_embeddings_layernorm",
    "decoder.final_norm": "ln_f",
}
_PHI_BLOCK: WeightRules = {
    "self_attention_residual.norm": "input_layernorm",
    "self_attention.query": "self_attn.q_proj",
    "self_attention.key": "self_attn.k_proj",
    "self_attention.value": "self_attn.v_proj",
    "self_attention.output": "self_attn.dense",
    "self_attention.query_norm.norm": "self_attn.q_layernorm",
    "self_attention.key_norm.norm": "self_attn.k_layernorm",
    "feed_forward_residual.norm": "input_layernorm",
    "feed_forward.up": "mlp.fc1",
    "feed_forward.down": "mlp.fc2",
}
_PHI_OUTSIDE_BLOCKS: WeightRules = {"embedding": "embed_tokens", "decoder.final_norm": "final_layernorm"}
_CLASS_HEADS = decoder_heads(tied=True, token_classifier="classifier")
OPT = Family(
    opt,
    _OPT_OUTSIDE_BLOCKS | block_rules("decoder", "decoder.layers.{i}.", BART_BLOCK),
    decoder_heads(tied=True, token_classifier="classifier", default_pad_token_id=1),
    base_model_prefix="model.",
)
BLOOM = Family(
    bloom,
    _BLOOM_OUTSIDE_BLOCKS | block_rules("decoder", "h.{i}.", _BLOOM_BLOCK),
    _CLASS_HEADS,
    base_model_prefix="transformer.",
    required_values={"slow_but_exact": False, "pretraining_tp": 1},
)
FALCON = Family(
    falcon,
    _BLOOM_OUTSIDE_BLOCKS | block_rules("decoder", "h.{i}.", _FALCON_BLOCK),
    _CLASS_HEADS,
    base_model_prefix="transformer.",
    ignored_tensors=("*.rotary_emb.inv_freq",),
    # The first is known from the norms' tensors; the second has no effect in the old architecture.
    ignored_fields=("num_ln_in_parallel_attn", "num_kv_heads"),
)
PHI = Family(
    phi,
    _PHI_OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _PHI_BLOCK),
    decoder_heads(tied=False) | {"ForCausalLM": language_head(tied_by_default=False, bias=True)},
    base_model_prefix="model.",
    ignored_tensors=("*.rotary_emb.inv_freq",),
)
