"""GPT-2 and its descendants, nanoGPT's own files, and CodeGen, StarCoder, OPT, BLOOM, MPT, Falcon and Phi."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader, FieldNames
from headlight.checkpoints.families.common import (
    ATTENTION_PROJECTIONS,
    MLP_ACTIVATIONS,
    SUMMARY_FIELDS,
    block_rows,
    block_rules,
    decoder_heads,
    fused,
    head_and_context,
    language_head,
    rope_config,
    sizes,
)
from headlight.checkpoints.families.encoder_decoders import BLOCK as BART_BLOCK
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    WeightOp,
    WeightRule,
    WeightRules,
    chunk,
    grouped_qkv,
    per_head_qkv,
    rule,
    skip_rows,
    stacked_qkv,
    transpose,
)
from headlight.config import AlibiConfig, Config, EmbeddingConfig, PerLayerConfig, RopeConfig
from headlight.errors import CheckpointError


def shared_config(fields: ConfigReader, defaults: tuple[int, int, int, int, int]) -> ConfigValues:
    """Sizes under GPT-2's names; `defaults`: vocabulary, context, d_model, layers, heads."""
    names = {
        "context_length": ("n_positions", "max_position_embeddings", "n_ctx"),
        "d_model": ("n_embd", "hidden_size"),
        "layers": ("n_layer", "num_layers", "num_hidden_layers"),
        "heads": ("n_head", "num_heads", "num_attention_heads"),
        "d_ff": ("n_inner", "intermediate_size"),
    }
    return {
        "architecture": "decoder",
        **sizes(fields, *defaults, 0, **names),
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
    return choices | {"attention.scale": scaled or by_layer_index, "per_layer": PerLayerConfig(score_scales=scales)}


def gpt_neo(fields: ConfigReader) -> ConfigValues:
    """Unscaled scores, and sliding-window attention in the layers that are local in attention_types."""
    choices = shared_config(fields, (50_257, 2048, 2048, 24, 16))
    kinds = [
        kind
        for pattern in fields.list_of("attention_types", list, [[["global", "local"], choices["layers"] // 2]])
        for kind in _repeat_pattern(fields, pattern)
    ]
    masks = {"global": "none", "local": f"window:{fields.integer('window_size', 256)}"}
    if not set(kinds) <= set(masks) or len(kinds) != choices["layers"]:
        raise CheckpointError(f"{fields.name}: its attention_types do not state global or local once for each layer.")
    biases = ("output", "up", "down", "norm")
    by_layer = PerLayerConfig(masks=tuple(masks[kind] for kind in kinds))
    return choices | {
        "positional_encoding": "learned",
        "attention.scale": False,
        "biases": biases,
        "per_layer": by_layer,
    }


def _repeat_pattern(fields: ConfigReader, pattern: list[object]) -> list[str]:
    match pattern:
        case [list() as kinds, int() as times] if 0 <= times <= 2000 and all(isinstance(kind, str) for kind in kinds):
            return [str(kind) for kind in kinds] * times
    raise CheckpointError(f"{fields.name}: its attention_types is not a list of kinds with their counts.")


def gptj(fields: ConfigReader) -> ConfigValues:
    """Attention and feed-forward in parallel, interleaved rotary embedding."""
    choices = shared_config(fields, (50_400, 2048, 4096, 28, 16))
    return choices | {
        "positional_encoding": "rope",
        "rope": RopeConfig(interleaved=True, rotary_dim=fields.integer("rotary_dim", 64)),
        "residual.parallel": True,
        "biases": ("up", "down", "norm"),
    }


def gpt_bigcode(fields: ConfigReader) -> ConfigValues:
    """GPT-2 with one key/value head shared by all heads, or one for each."""
    choices = shared_config(fields.with_defaults(activation_function="gelu_pytorch_tanh"), (50_257, 1024, 768, 12, 12))
    return choices | {
        "key_value_heads": 1 if fields.boolean("multi_query", True) else choices["heads"],
        "positional_encoding": "learned",
        "attention.scale": fields.boolean("scale_attn_weights", True),
        "bias": True,
    }


def mpt(fields: ConfigReader) -> ConfigValues:
    """ALiBi, no biases; queries, keys and values may be limited."""
    names = {"context_length": "max_seq_len", "d_model": "d_model", "layers": "n_layers", "heads": "n_heads"}
    found = sizes(fields, 50_368, 2048, 2048, 24, 16, 0, **names, d_ff="-")
    attention = fields.nested("attn_config") or ConfigReader({}, fields.name)
    attention.require_values(_MPT_ATTENTION)
    scale = attention.number("softmax_scale", max(head_and_context(found)[0], 1) ** -0.5)
    return found | {
        "architecture": "decoder",
        "feed_forward": "gelu",
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
        "positional_encoding": "alibi",
        "attention.qkv_limit": attention.number("clip_qkv", 0.0),
        "per_layer": PerLayerConfig(score_scales=(scale,) * found["layers"]),
    }


def gpt_neox(fields: ConfigReader) -> ConfigValues:
    """Partial rotary embedding; attention and feed-forward in parallel or in sequence."""
    found = sizes(fields, 50_432, 2048, 6144, 44, 64, 24_576)
    names = ("rotary_emb_base", "rotary_pct")
    attention = ATTENTION_PROJECTIONS * fields.boolean("attention_bias", True)
    return found | {
        "architecture": "decoder",
        "feed_forward": fields.choice("hidden_act", "gelu", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
        "positional_encoding": "rope",
        "rope": rope_config(fields, *head_and_context(found), rotary_fraction=0.25, field_names=names),
        "residual.parallel": fields.boolean("use_parallel_residual", True),
        "biases": (*attention, "up", "down", "norm"),
    }


def nanogpt(fields: ConfigReader) -> ConfigValues:
    """GPT-2 as nanoGPT writes it: exact GELU, all biases or none."""
    names = {"context_length": "block_size", "d_model": "n_embd", "layers": "n_layer", "heads": "n_head", "d_ff": "-"}
    return {
        "architecture": "decoder",
        **sizes(fields, 50_304, 1024, 768, 12, 12, 0, **names),
        "feed_forward": "gelu",
        "norm": "layernorm",
        "positional_encoding": "learned",
        "bias": fields.boolean("bias", True),
    }


_BLOCK = block_rows(
    "ln_1",
    [*(rule("attn.c_attn", transpose, chunk(index, 3)) for index in range(3)), rule("attn.c_proj", transpose)],
    "ln_2",
    [rule("mlp.c_fc", transpose), rule("mlp.c_proj", transpose)],
)
_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "wte",
    "decoder.positional_encoding.table": "wpe",
    "decoder.final_norm": "ln_f",
}
GPT2 = Family(
    gpt2,
    _OUTSIDE_BLOCKS | block_rules("decoder", "h.{i}.", _BLOCK),
    decoder_heads(tied=True, token_classifier="classifier")
    | {"LMHeadModel": language_head(), "DoubleHeadsModel": language_head()},
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
        block_rows(
            "ln_1",
            [f"attn.attention.{name}_proj" for name in ("q", "k", "v", "out")],
            "ln_2",
            ["mlp.c_fc", "mlp.c_proj"],
        ),
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
        block_rows(
            "ln_1",
            [f"attn.{name}_proj" for name in ("q", "k", "v", "out")],
            "ln_1",
            ["mlp.fc_in", "mlp.fc_out"],
        ),
    ),
    decoder_heads(tied=False, token_classifier="classifier")
    | {"ForCausalLM": language_head(tied_by_default=False, bias=True)},
    base_model_prefix="transformer.",
    ignored_tensors=("h.*.attn.bias", "h.*.attn.masked_bias"),
)
CODEGEN_SHARDS = 4


def codegen_qkv(part: int) -> WeightOp:
    """Query (0), value (1) or key (2) of a fused weight ordered by CodeGen's four shards."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        return tensor.reshape(CODEGEN_SHARDS, 3, -1, *tensor.shape[1:])[:, part].flatten(0, 1)

    return step


_CODEGEN_QKV = [rule("attn.qkv_proj", codegen_qkv(part)) for part in (0, 2, 1)]
CODEGEN = replace(
    GPTJ,
    weights=_GPTJ_OUTSIDE_BLOCKS
    | block_rules(
        "decoder",
        "h.{i}.",
        block_rows("ln_1", [*_CODEGEN_QKV, "attn.out_proj"], "ln_1", ["mlp.fc_in", "mlp.fc_out"]),
    ),
    ignored_tensors=("h.*.attn.causal_mask", "h.*.attn.bias", "h.*.attn.masked_bias"),
    ignored_fields=("n_ctx", *SUMMARY_FIELDS),
)
_BIGCODE_BLOCK = block_rows(
    "ln_1", [*fused("attn.c_attn", grouped_qkv), "attn.c_proj"], "ln_2", ["mlp.c_fc", "mlp.c_proj"]
)
GPT_BIGCODE = replace(
    GPT2,
    config_values=gpt_bigcode,
    weights=_OUTSIDE_BLOCKS | block_rules("decoder", "h.{i}.", _BIGCODE_BLOCK),
    ignored_fields=(
        "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "attn_soft_precision", "inference_runner",
        "max_batch_size", "max_sequence_length", "num_key_value_heads", "pad_key_length", "pre_allocate_kv_cache",
        "validate_runner_input", *SUMMARY_FIELDS,
    ),
)  # fmt: skip
_MPT_ATTENTION = {
    "attn_type": "multihead_attention", "prefix_lm": False, "qk_ln": False, "attn_uses_sequence_id": False,
    "alibi": True, "alibi_bias_max": 8,
}  # fmt: skip
_MPT_BLOCK = block_rows(
    "norm_1", [*fused("attn.Wqkv", stacked_qkv), "attn.out_proj"], "norm_2", ["ffn.up_proj", "ffn.down_proj"]
)
_MPT_OUTSIDE_BLOCKS: WeightRules = {"embedding": "wte", "decoder.final_norm": "norm_f"}
MPT = Family(
    mpt,
    _MPT_OUTSIDE_BLOCKS | block_rules("decoder", "blocks.{i}.", _MPT_BLOCK),
    decoder_heads(tied=True, token_classifier="classifier"),
    base_model_prefix="transformer.",
    required_values={"no_bias": True, "logit_scale": (), "embedding_fraction": 1},
    ignored_fields=(
        "emb_pdrop",
        "expansion_ratio",
        "init_config",
        "init_device",
        "learned_pos_emb",
        "norm_type",
        "verbose",
    ),
    attribute_map={"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"},
)
_NEOX_OUTSIDE_BLOCKS: WeightRules = {"embedding": "embed_in", "decoder.final_norm": "final_layer_norm"}
GPT_NEOX = Family(
    gpt_neox,
    _NEOX_OUTSIDE_BLOCKS
    | block_rules(
        "decoder",
        "layers.{i}.",
        block_rows(
            "input_layernorm",
            [*fused("attention.query_key_value", per_head_qkv), "attention.dense"],
            "post_attention_layernorm",
            ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"],
        ),
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


def opt(fields: ConfigReader) -> ConfigValues:
    """Pre-norm or post-norm; embeddings smaller than d_model are projected up before positions are added."""
    found = sizes(fields, 50_272, 2048, 768, 12, 12, 3072, d_ff="ffn_dim")
    embedding_size = fields.integer("word_embed_proj_dim", found["d_model"])
    norm_first = fields.boolean("do_layer_norm_before", True)
    linear_biases = (*ATTENTION_PROJECTIONS, "up", "down") * fields.boolean("enable_bias", True)
    projection: Literal["none", "tokens"] = "none" if embedding_size == found["d_model"] else "tokens"
    return found | {
        "architecture": "decoder",
        "embedding": EmbeddingConfig(dim=embedding_size, projection=projection),
        "feed_forward": fields.choice("activation_function", "relu", MLP_ACTIVATIONS),
        "norm": "layernorm" if fields.boolean("layer_norm_elementwise_affine", True) else "nonparametric-layernorm",
        "norm_placement": "pre" if norm_first else "post",
        "final_norm": not fields.boolean("_remove_final_layer_norm", False),
        "positional_encoding": "learned",
        "biases": (*linear_biases, "norm"),
    }


def bloom(fields: ConfigReader) -> ConfigValues:
    """ALiBi, LayerNorm on the embeddings; residual connections may start from the norm's output."""
    names: dict[str, FieldNames] = {
        "context_length": "seq_length",
        "d_model": ("n_embed", "hidden_size"),
        "layers": ("n_layer", "num_hidden_layers"),
        "heads": ("n_head", "num_attention_heads"),
        "d_ff": "-",
    }
    residual_from_norm = fields.boolean("apply_residual_connection_post_layernorm", False)
    return {
        "architecture": "decoder",
        **sizes(fields, 250_880, 2048, 64, 2, 8, 0, **names),
        "feed_forward": "gelu-tanh",
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
        "norm_placement": "residual-from-norm" if residual_from_norm else "pre",
        "embedding.norm": True,
        "positional_encoding": "alibi",
        "bias": True,
    }


def falcon(fields: ConfigReader) -> ConfigValues:
    """Multi-query or grouped-query attention parallel to the feed-forward; in old models ALiBi, and in sequence."""
    names: dict[str, FieldNames] = {"d_model": ("n_embed", "hidden_size"), "d_ff": "ffn_hidden_size"}
    found = sizes(fields, 65_024, 2048, 4544, 32, 71, 0, **names)
    count, (head, context) = found["heads"], head_and_context(found)
    grouped = fields.boolean("new_decoder_architecture", False)
    key_value_heads = 1 if fields.boolean("multi_query", True) else count
    linear_biases = (*ATTENTION_PROJECTIONS, "up", "down") * fields.boolean("bias", False)
    alibi = fields.boolean("alibi", False)
    return found | {
        "architecture": "decoder",
        "key_value_heads": fields.integer("num_kv_heads", count) if grouped else key_value_heads,
        "feed_forward": fields.choice("activation", "gelu", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
        "residual.parallel": fields.boolean("parallel_attn", True) or grouped,
        "positional_encoding": "alibi" if alibi else "rope",
        "alibi": AlibiConfig(scale=max(head, 1) ** -0.5, bfloat16=True),
        "rope": rope_config(fields, head, context),
        "biases": (*linear_biases, "norm"),
    }


def phi(fields: ConfigReader) -> ConfigValues:
    """Partial rotary embedding; attention and feed-forward in parallel after one norm."""
    found = sizes(fields, 51_200, 2048, 2048, 24, 32, 8192)
    return found | {
        "architecture": "decoder",
        "key_value_heads": fields.integer("num_key_value_heads", found["heads"]),
        "feed_forward": fields.choice("hidden_act", "gelu_new", MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
        "residual.parallel": True,
        "attention.qk_norm": "per-head" if fields.boolean("qk_layernorm", False) else "none",
        "positional_encoding": "rope",
        "rope": rope_config(fields, *head_and_context(found), rotary_fraction=0.5),
        "bias": True,
    }


_OPT_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "decoder.embed_tokens",
    "decoder.token_project_in": "decoder.project_in",
    "decoder.project_out": "decoder.project_out",
    "decoder.positional_encoding.table": rule("decoder.embed_positions", skip_rows(2)),
    "decoder.final_norm": "decoder.final_layer_norm",
}
_BLOOM_BLOCK = block_rows(
    "input_layernorm",
    [*fused("self_attention.query_key_value", per_head_qkv), "self_attention.dense"],
    "post_attention_layernorm",
    ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"],
)
_FALCON_BLOCK = block_rows(
    "ln_attn|input_layernorm",
    [*fused("self_attention.query_key_value", grouped_qkv), "self_attention.dense"],
    "ln_mlp|post_attention_layernorm|input_layernorm",
    ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"],
)
_BLOOM_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "word_embeddings",
    "decoder.embedding_norm": "word_embeddings_layernorm",
    "decoder.final_norm": "ln_f",
}
_PHI_BLOCK = block_rows(
    "input_layernorm",
    ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.dense"],
    "input_layernorm",
    ["mlp.fc1", "mlp.fc2"],
) | {
    "self_attention.query_norm.norm": "self_attn.q_layernorm",
    "self_attention.key_norm.norm": "self_attn.k_layernorm",
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
    # The first follows from the norms' tensors; the second has no effect in the old architecture.
    ignored_fields=("num_ln_in_parallel_attn", "num_kv_heads"),
)
PHI = Family(
    phi,
    _PHI_OUTSIDE_BLOCKS | block_rules("decoder", "layers.{i}.", _PHI_BLOCK),
    decoder_heads(tied=False) | {"ForCausalLM": language_head(tied_by_default=False, bias=True)},
    base_model_prefix="model.",
    ignored_tensors=("*.rotary_emb.inv_freq",),
)
