"""GPT-2 and its descendants: GPT-Neo, GPT-J, GPT-NeoX (Pythia), and nanoGPT's own files."""

from __future__ import annotations

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import PLAIN, SUMMARY, block, decoder_heads, language
from model.checkpoints.families.rope import rotation
from model.checkpoints.weight_mapping import Choices, Cut, Family, Rows, cut
from model.checkpoints.weight_ops import heads, part, transposed
from model.config_groups import ByLayer, Rotation
from model.errors import CheckpointError


def sizes(fields: Fields, defaults: tuple[int, int, int, int, int]) -> Choices:
    """Sizes under the names of GPT-2's kin; `defaults`: vocabulary, context, width, layers, heads."""
    vocabulary, context, width, layers, count = defaults
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", vocabulary),
        "context": fields.size(("n_positions", "max_position_embeddings", "n_ctx"), context),
        "width": fields.size(("n_embd", "hidden_size"), width),
        "layers": fields.depth(("n_layer", "num_layers", "num_hidden_layers"), layers),
        "heads": fields.size(("n_head", "num_heads", "num_attention_heads"), count),
        "inner": fields.size(("n_inner", "intermediate_size"), 0),
        "feedforward": fields.choice("activation_function", "gelu_new", PLAIN),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-5),
    }


def gpt2(fields: Fields) -> Choices:
    """Learned positions, norms before, biases everywhere; scores may shrink with depth."""
    choices = sizes(fields, (50_257, 1024, 768, 12, 12)) | {"position": "learned", "bias": True}
    scaled, deeper = fields.flag("scale_attn_weights", True), fields.flag("scale_attn_by_inverse_layer_idx", False)
    first = (choices["width"] // max(choices["heads"], 1) or 1) ** -0.5 if scaled else 1.0
    scales = tuple(first / (layer + 1) for layer in range(choices["layers"])) if deeper else ()
    return choices | {"scale": scaled or deeper, "by_layer": ByLayer(scales=scales)}


def gpt_neo(fields: Fields) -> Choices:
    """Unscaled scores; every other layer (as attention_types says) looks through a window."""
    choices = sizes(fields, (50_257, 2048, 2048, 24, 16))
    kinds = [
        kind
        for pattern in fields.listing("attention_types", list, [[["global", "local"], choices["layers"] // 2]])
        for kind in _repeated(fields, pattern)
    ]
    masks = {"global": "none", "local": f"window:{fields.size('window_size', 256)}"}
    if not set(kinds) <= set(masks) or len(kinds) != choices["layers"]:
        raise CheckpointError(f"{fields.name}: its attention_types do not say global or local once for each layer.")
    biases = ("output", "rise", "fall", "norm")
    by_layer = ByLayer(masks=tuple(masks[kind] for kind in kinds))
    return choices | {"position": "learned", "scale": False, "biases": biases, "by_layer": by_layer}


def _repeated(fields: Fields, pattern: list[object]) -> list[str]:
    match pattern:
        case [list() as kinds, int() as times] if 0 <= times <= 2000 and all(isinstance(kind, str) for kind in kinds):
            return [str(kind) for kind in kinds] * times
    raise CheckpointError(f"{fields.name}: its attention_types is no list of kinds and how often they follow.")


def gptj(fields: Fields) -> Choices:
    """Attention and feed-forward read the same norm of the stream; neighbouring channels turn together."""
    choices = sizes(fields, (50_400, 2048, 4096, 28, 16))
    return choices | {
        "position": "rope",
        "rotation": Rotation(interleaved=True, channels=fields.size("rotary_dim", 64)),
        "parallel": True,
        "biases": ("rise", "fall", "norm"),
    }


def gpt_neox(fields: Fields) -> Choices:
    """A part of each head turns; attention and feed-forward side by side or in turn."""
    width, count = fields.size("hidden_size", 6144), fields.size("num_attention_heads", 64)
    context = fields.size("max_position_embeddings", 2048)
    names = ("rotary_emb_base", "rotary_pct")
    attention = ("query", "key", "value", "output") * fields.flag("attention_bias", True)
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", 50_432),
        "context": context,
        "width": width,
        "layers": fields.depth("num_hidden_layers", 44),
        "heads": count,
        "inner": fields.size("intermediate_size", 24_576),
        "feedforward": fields.choice("hidden_act", "gelu", PLAIN),
        "norm": "layernorm",
        "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
        "position": "rope",
        "rotation": rotation(fields, width // max(count, 1), context, share=0.25, names=names),
        "parallel": fields.flag("use_parallel_residual", True),
        "biases": (*attention, "rise", "fall", "norm"),
    }


def nanogpt(fields: Fields) -> Choices:
    """GPT-2 as nanoGPT writes it: exact GELU, biases everywhere or nowhere."""
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", 50_304),
        "context": fields.size("block_size", 1024),
        "width": fields.size("n_embd", 768),
        "layers": fields.depth("n_layer", 12),
        "heads": fields.size("n_head", 12),
        "feedforward": "gelu",
        "norm": "layernorm",
        "position": "learned",
        "bias": fields.flag("bias", True),
    }


_BLOCK: Rows = {
    "self_residual.norm": "ln_1",
    "self_attention.query": cut("attn.c_attn", transposed, part(0, 3)),
    "self_attention.key": cut("attn.c_attn", transposed, part(1, 3)),
    "self_attention.value": cut("attn.c_attn", transposed, part(2, 3)),
    "self_attention.output": cut("attn.c_proj", transposed),
    "feedforward_residual.norm": "ln_2",
    "feedforward.rise": cut("mlp.c_fc", transposed),
    "feedforward.fall": cut("mlp.c_proj", transposed),
}
_AROUND: Rows = {"embedding": "wte", "decoder.position.table": "wpe", "decoder.norm": "ln_f"}
GPT2 = Family(
    gpt2,
    _AROUND | block("decoder", "h.{i}.", _BLOCK),
    decoder_heads(tied=True, tokens="classifier") | {"LMHeadModel": language()},
    base="transformer.",
    ignored=("h.*.attn.bias", "h.*.attn.masked_bias"),
    inert=("reorder_and_upcast_attn", *SUMMARY),
)
GPT_NEO = Family(
    gpt_neo,
    _AROUND
    | block(
        "decoder",
        "h.{i}.",
        {
            "self_residual.norm": "ln_1",
            "self_attention.query": "attn.attention.q_proj",
            "self_attention.key": "attn.attention.k_proj",
            "self_attention.value": "attn.attention.v_proj",
            "self_attention.output": "attn.attention.out_proj",
            "feedforward_residual.norm": "ln_2",
            "feedforward.rise": "mlp.c_fc",
            "feedforward.fall": "mlp.c_proj",
        },
    ),
    decoder_heads(tied=True, tokens="classifier"),
    base="transformer.",
    ignored=("h.*.attn.attention.bias", "h.*.attn.attention.masked_bias"),
    inert=("attention_layers",),  # what follows from attention_types
)
_TURNED: Rows = {"embedding": "wte", "decoder.norm": "ln_f"}
GPTJ = Family(
    gptj,
    _TURNED
    | block(
        "decoder",
        "h.{i}.",
        {
            "self_residual.norm": "ln_1",
            "self_attention.query": "attn.q_proj",
            "self_attention.key": "attn.k_proj",
            "self_attention.value": "attn.v_proj",
            "self_attention.output": "attn.out_proj",
            "feedforward_residual.norm": "ln_1",
            "feedforward.rise": "mlp.fc_in",
            "feedforward.fall": "mlp.fc_out",
        },
    ),
    decoder_heads(tied=False, tokens="classifier") | {"ForCausalLM": language(default=False, bias=True)},
    base="transformer.",
    ignored=("h.*.attn.bias", "h.*.attn.masked_bias"),
)
_PYTHIA: Rows = {"embedding": "embed_in", "decoder.norm": "final_layer_norm"}
GPT_NEOX = Family(
    gpt_neox,
    _PYTHIA
    | block(
        "decoder",
        "layers.{i}.",
        {
            "self_residual.norm": "input_layernorm",
            "self_attention.query": cut("attention.query_key_value", heads(0)),
            "self_attention.key": cut("attention.query_key_value", heads(1)),
            "self_attention.value": cut("attention.query_key_value", heads(2)),
            "self_attention.output": "attention.dense",
            "feedforward_residual.norm": "post_attention_layernorm",
            "feedforward.rise": "mlp.dense_h_to_4h",
            "feedforward.fall": "mlp.dense_4h_to_h",
        },
    ),
    decoder_heads(tied=False, tokens="classifier") | {"ForCausalLM": language("embed_out|lm_head", default=False)},
    base="gpt_neox.",
    ignored=("layers.*.attention.bias", "layers.*.attention.masked_bias", "layers.*.attention.rotary_emb.inv_freq"),
    inert=("is_decoder",),
)
_UNTRANSPOSED: Rows = {
    name: cut(row.name, *row.steps[1:]) if isinstance(row, Cut) else row for name, row in _BLOCK.items()
}
NANOGPT = Family(
    nanogpt,
    _AROUND | block("decoder", "h.{i}.", _UNTRANSPOSED),
    {"ForCausalLM": language()},
    base="transformer.",
    ignored=("h.*.attn.bias",),
    inert=("dropout",),
)
