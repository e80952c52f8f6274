"""OPT, BLOOM, Falcon and Phi."""

from __future__ import annotations

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import PLAIN, block, decoder_heads, language
from model.checkpoints.families.rope import rotation
from model.checkpoints.weight_mapping import Choices, Family, Rows, cut
from model.checkpoints.weight_ops import after, groups, heads
from model.config_groups import Embed, Slopes


def opt(fields: Fields) -> Choices:
    """Norms before or after; embeddings may be narrower and are widened before positions join them."""
    width = fields.size("hidden_size", 768)
    narrow = fields.size("word_embed_proj_dim", width)
    first = fields.flag("do_layer_norm_before", True)
    linear = ("query", "key", "value", "output", "rise", "fall") * fields.flag("enable_bias", True)
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", 50_272),
        "context": fields.size("max_position_embeddings", 2048),
        "width": width,
        "layers": fields.depth("num_hidden_layers", 12),
        "heads": fields.size("num_attention_heads", 12),
        "inner": fields.size("ffn_dim", 3072),
        "embed": Embed(width=narrow, project="none" if narrow == width else "tokens"),
        "feedforward": fields.choice("activation_function", "relu", PLAIN),
        "norm": "layernorm" if fields.flag("layer_norm_elementwise_affine", True) else "plain-layernorm",
        "placement": "pre" if first else "post",
        "final_norm": not fields.flag("_remove_final_layer_norm", False),
        "position": "learned",
        "biases": (*linear, "norm"),
    }


def bloom(fields: Fields) -> Choices:
    """Slopes as positions, normed embeddings; the stream may start from its norm."""
    from_normed = fields.flag("apply_residual_connection_post_layernorm", False)
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", 250_880),
        "context": fields.size("seq_length", 2048),
        "width": fields.size(("n_embed", "hidden_size"), 64),
        "layers": fields.depth(("n_layer", "num_hidden_layers"), 2),
        "heads": fields.size(("n_head", "num_attention_heads"), 8),
        "feedforward": "gelu-tanh",
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
        "placement": "from-normed" if from_normed else "pre",
        "embedding_norm": True,
        "position": "alibi",
        "bias": True,
    }


def falcon(fields: Fields) -> Choices:
    """Few key/value heads, attention and feed-forward side by side; an old kind has slopes and goes in turn."""
    width, count = fields.size(("n_embed", "hidden_size"), 4544), fields.size("num_attention_heads", 71)
    context, head = fields.size("max_position_embeddings", 2048), width // max(count, 1)
    grouped = fields.flag("new_decoder_architecture", False)
    fewer = 1 if fields.flag("multi_query", True) else count
    linear = ("query", "key", "value", "output", "rise", "fall") * fields.flag("bias", False)
    alibi = fields.flag("alibi", False)
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", 65_024),
        "context": context,
        "width": width,
        "layers": fields.depth("num_hidden_layers", 32),
        "heads": count,
        "key_value_heads": fields.size("num_kv_heads", count) if grouped else fewer,
        "inner": fields.size("ffn_hidden_size", 0),
        "feedforward": fields.choice("activation", "gelu", PLAIN),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
        "parallel": fields.flag("parallel_attn", True) or grouped,
        "position": "alibi" if alibi else "rope",
        "slopes": Slopes(scale=max(head, 1) ** -0.5, rounded=True),
        "rotation": rotation(fields, head, context),
        "biases": (*linear, "norm"),
    }


def phi(fields: Fields) -> Choices:
    """A part of each head turns; attention and feed-forward read the same norm side by side."""
    width, count = fields.size("hidden_size", 2048), fields.size("num_attention_heads", 32)
    context = fields.size("max_position_embeddings", 2048)
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", 51_200),
        "context": context,
        "width": width,
        "layers": fields.depth("num_hidden_layers", 24),
        "heads": count,
        "key_value_heads": fields.size("num_key_value_heads", count),
        "inner": fields.size("intermediate_size", 8192),
        "feedforward": fields.choice("hidden_act", "gelu_new", PLAIN),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
        "parallel": True,
        "query_norm": "head" if fields.flag("qk_layernorm", False) else "none",
        "position": "rope",
        "rotation": rotation(fields, width // max(count, 1), context, share=0.5),
        "bias": True,
    }


_OPT: Rows = {
    "self_residual.norm": "self_attn_layer_norm",
    "self_attention.query": "self_attn.q_proj",
    "self_attention.key": "self_attn.k_proj",
    "self_attention.value": "self_attn.v_proj",
    "self_attention.output": "self_attn.out_proj",
    "feedforward_residual.norm": "final_layer_norm",
    "feedforward.rise": "fc1",
    "feedforward.fall": "fc2",
}
_OPT_AROUND: Rows = {
    "embedding": "decoder.embed_tokens",
    "decoder.widen_tokens": "decoder.project_in",
    "decoder.narrow": "decoder.project_out",
    "decoder.position.table": cut("decoder.embed_positions", after(2)),
    "decoder.norm": "decoder.final_layer_norm",
}
_BLOOM: Rows = {
    "self_residual.norm": "input_layernorm",
    "self_attention.query": cut("self_attention.query_key_value", heads(0)),
    "self_attention.key": cut("self_attention.query_key_value", heads(1)),
    "self_attention.value": cut("self_attention.query_key_value", heads(2)),
    "self_attention.output": "self_attention.dense",
    "feedforward_residual.norm": "post_attention_layernorm",
    "feedforward.rise": "mlp.dense_h_to_4h",
    "feedforward.fall": "mlp.dense_4h_to_h",
}
_FALCON: Rows = _BLOOM | {
    "self_residual.norm": "ln_attn|input_layernorm",
    "self_attention.query": cut("self_attention.query_key_value", groups(0)),
    "self_attention.key": cut("self_attention.query_key_value", groups(1)),
    "self_attention.value": cut("self_attention.query_key_value", groups(2)),
    "feedforward_residual.norm": "ln_mlp|post_attention_layernorm|input_layernorm",
}
_WORDS: Rows = {
    "embedding": "word_embeddings",
    "decoder.embedding_norm": "word_embeddings_layernorm",
    "decoder.norm": "ln_f",
}
_PHI: Rows = {
    "self_residual.norm": "input_layernorm",
    "self_attention.query": "self_attn.q_proj",
    "self_attention.key": "self_attn.k_proj",
    "self_attention.value": "self_attn.v_proj",
    "self_attention.output": "self_attn.dense",
    "self_attention.query_norm.norm": "self_attn.q_layernorm",
    "self_attention.key_norm.norm": "self_attn.k_layernorm",
    "feedforward_residual.norm": "input_layernorm",
    "feedforward.rise": "mlp.fc1",
    "feedforward.fall": "mlp.fc2",
}
_PHI_AROUND: Rows = {"embedding": "embed_tokens", "decoder.norm": "final_layernorm"}
_OLD_CLASSES = decoder_heads(tied=True, tokens="classifier")
OPT = Family(
    opt,
    _OPT_AROUND | block("decoder", "decoder.layers.{i}.", _OPT),
    decoder_heads(tied=True, tokens="classifier", padding=1),
    base="model.",
)
BLOOM = Family(
    bloom, _WORDS | block("decoder", "h.{i}.", _BLOOM), _OLD_CLASSES, base="transformer.",
    accepted={"slow_but_exact": False, "pretraining_tp": 1},
)  # fmt: skip
FALCON = Family(
    falcon,
    _WORDS | block("decoder", "h.{i}.", _FALCON),
    _OLD_CLASSES,
    base="transformer.",
    ignored=("*.rotary_emb.inv_freq",),
    inert=("num_ln_in_parallel_attn",),  # which norms there are is seen by their weights
)
PHI = Family(
    phi,
    _PHI_AROUND | block("decoder", "layers.{i}.", _PHI),
    decoder_heads(tied=False) | {"ForCausalLM": language(default=False, bias=True)},
    base="model.",
    ignored=("*.rotary_emb.inv_freq",),
)
