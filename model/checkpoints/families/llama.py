"""Llama and what is built like it: Mistral, Qwen2, Qwen3, SmolLM3, OLMo 2, Phi-3, EuroBERT."""

from __future__ import annotations

from dataclasses import replace

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import GATED, block, classifier, decoder_heads, labels, language
from model.checkpoints.families.rope import rotation, windows
from model.checkpoints.weight_mapping import Choices, Family, Head, Rows, cut
from model.checkpoints.weight_ops import part, stacked
from model.config_groups import Answer, ByLayer

ROWS: Rows = {
    "self_residual.norm": "input_layernorm",
    "self_attention.query": "self_attn.q_proj",
    "self_attention.key": "self_attn.k_proj",
    "self_attention.value": "self_attn.v_proj",
    "self_attention.output": "self_attn.o_proj",
    "feedforward_residual.norm": "post_attention_layernorm",
    "feedforward.gate": "mlp.gate_proj",
    "feedforward.rise": "mlp.up_proj",
    "feedforward.fall": "mlp.down_proj",
}
QUERY_NORMS: Rows = {
    "self_attention.query_norm.norm": "self_attn.q_norm",
    "self_attention.key_norm.norm": "self_attn.k_norm",
}
AROUND: Rows = {"embedding": "embed_tokens", "decoder.norm": "norm"}
_BOTH_WAYS: Rows = {"embedding": "embed_tokens", "encoder.norm": "norm"}
WEIGHTS = AROUND | block("decoder", "layers.{i}.", ROWS)
ATTENTION = ("query", "key", "value", "output")
FEEDFORWARD = ("gate", "rise", "fall")


def sizes(fields: Fields, act: str = "silu", original: int = 0, share: float | None = None) -> Choices:
    """Sizes, norm, activation and rotary positions, under the names that the whole kin uses."""
    width, heads = fields.size("hidden_size", 4096), fields.size("num_attention_heads", 32)
    head_width = fields.size("head_dim", 0) or width // max(heads, 1)
    context = fields.size("max_position_embeddings", 2048)
    turning = rotation(fields, head_width, context, original=original, share=share)
    if turning.scaling == "dynamic":
        context = int(context * turning.factor)
    return {
        "architecture": "decoder",
        "vocabulary": fields.size("vocab_size", 32_000),
        "context": context,
        "width": width,
        "layers": fields.depth("num_hidden_layers", 32),
        "heads": heads,
        "key_value_heads": fields.size("num_key_value_heads", heads),
        "head_width": head_width,
        "inner": fields.size("intermediate_size", 11_008),
        "feedforward": fields.choice(("hidden_act", "hidden_activation"), act, GATED),
        "norm": "rmsnorm",
        "norm_epsilon": fields.number("rms_norm_eps", 1e-6),
        "position": "rope",
        "rotation": turning,
    }


# Sizes that files of each family need not say.
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


def llama(fields: Fields) -> Choices:
    """Biases only where the config asks for them."""
    biases = ATTENTION * fields.flag("attention_bias", False) + FEEDFORWARD * fields.flag("mlp_bias", False)
    return sizes(fields) | {"biases": biases}


def eurobert(fields: Fields) -> Choices:
    """An encoder: every token looks everywhere."""
    return llama(fields.filled(**_EURO)) | {"architecture": "encoder", "masks": ()}


def eurobert_masked(fields: Fields) -> Choices:
    """Which token was masked, straight from the final norm."""
    answer = Answer(transform="none", bias=None if fields.flag("mlp_bias", False) else False)
    return {"top": "masked-language", "tied": fields.flag("tie_word_embeddings", False), "answer": answer}


def eurobert_sequence(fields: Fields) -> Choices:
    """A label of the text, from its first token or the mean of all."""
    pooling = fields.choice("classifier_pooling", "late", {"bos": "first", "mean": "mean"})
    answer = Answer(transform="dense", activation="gelu")
    biases = (*llama(fields)["biases"], "transform")
    return {
        "top": "sequence-classifier", "labels": labels(fields), "pooling": pooling, "answer": answer, "biases": biases,
    }  # fmt: skip


def mistral(fields: Fields) -> Choices:
    """Every layer looks through a window."""
    window = fields.size("sliding_window", 4096 if "sliding_window" not in fields.values else 0)
    masks = ("causal", f"window:{window}") if window else ("causal",)
    return sizes(fields.filled(**_MISTRAL)) | {"masks": masks, "key_value_heads": fields.size("num_key_value_heads", 8)}


def _sliding(fields: Fields, layers: int) -> ByLayer:
    """Qwen's upper layers look through a window where the config switches it on."""
    window = fields.size("sliding_window", 4096) if fields.flag("use_sliding_window", False) else 0
    full = fields.size("max_window_layers", 28)
    usual = ["sliding_attention" if window and layer >= full else "full_attention" for layer in range(layers)]
    return ByLayer(masks=windows(fields, layers, usual, window))


def qwen2(fields: Fields) -> Choices:
    """Queries, keys and values have biases, the output has none."""
    choices = sizes(fields.filled(**_QWEN))
    return choices | {"biases": ("query", "key", "value"), "by_layer": _sliding(fields, choices["layers"])}


def qwen3(fields: Fields) -> Choices:
    """Queries and keys are normed head by head."""
    choices = sizes(fields.filled(head_dim=128, **_QWEN))
    biases = ATTENTION * fields.flag("attention_bias", False)
    return choices | {"query_norm": "head", "biases": biases, "by_layer": _sliding(fields, choices["layers"])}


def smollm3(fields: Fields) -> Choices:
    """Every few layers know no positions."""
    choices = llama(fields.filled(**_SMOLLM))
    layers = choices["layers"]
    every = fields.size("no_rope_layer_interval", 4) or 1
    turned = fields.listing("no_rope_layers", int, [int((layer + 1) % every != 0) for layer in range(layers)])
    window = fields.size("sliding_window", 0) if fields.flag("use_sliding_window", False) else 0
    usual = ["sliding_attention" if window and not rope else "full_attention" for rope in turned]
    positions = tuple("rope" if rope else "none" for rope in turned)
    masks = windows(fields, layers, usual, fields.size("sliding_window", 0))
    return choices | {"by_layer": ByLayer(positions=positions, masks=masks)}


def olmo2(fields: Fields) -> Choices:
    """What is written is normed, not what is read; queries and keys of all heads are normed together."""
    biases = ATTENTION * fields.flag("attention_bias", False)
    return sizes(fields.filled(**_OLMO)) | {"placement": "written", "query_norm": "width", "biases": biases}


def phi3(fields: Fields) -> Choices:
    """A window in every layer, where there is one."""
    window = fields.size("sliding_window", 0)
    return sizes(fields.filled(**_PHI), original=4096, share=1.0) | {
        "masks": ("causal", f"window:{window}") if window else ("causal",)
    }


def llama2c(fields: Fields) -> Choices:
    """Neighbouring channels turn together."""
    choices = sizes(fields)
    return choices | {"rotation": replace(choices["rotation"], interleaved=True)}


_C_ROWS: Rows = {
    "self_residual.norm": "attention_norm",
    "self_attention.query": "wq",
    "self_attention.key": "wk",
    "self_attention.value": "wv",
    "self_attention.output": "wo",
    "feedforward_residual.norm": "ffn_norm",
    "feedforward.gate": "w1",
    "feedforward.rise": "w3",
    "feedforward.fall": "w2",
}
_C_AROUND: Rows = {"embedding": "tok_embeddings", "decoder.norm": "norm"}
_WRITTEN: Rows = (
    {name: theirs for name, theirs in ROWS.items() if "norm" not in name}
    | QUERY_NORMS
    | {
        "self_residual.after_norm": "post_attention_layernorm",
        "feedforward_residual.after_norm": "post_feedforward_layernorm",
    }
)
_FUSED: Rows = ROWS | {
    "self_attention.query": cut("self_attn.qkv_proj", stacked(0)),
    "self_attention.key": cut("self_attn.qkv_proj", stacked(1)),
    "self_attention.value": cut("self_attn.qkv_proj", stacked(2)),
    "feedforward.gate": cut("mlp.gate_up_proj", part(0, 2)),
    "feedforward.rise": cut("mlp.gate_up_proj", part(1, 2)),
}
_IGNORED = ("*.rotary_emb.inv_freq",)

LLAMA = Family(llama, WEIGHTS, decoder_heads(tied=False), "model.", _IGNORED, inert=("pretraining_tp",))
EUROBERT = Family(
    eurobert,
    _BOTH_WAYS | block("encoder", "layers.{i}.", ROWS),
    {
        "ForMaskedLM": Head(eurobert_masked, {"top.project": "lm_head"}),
        "ForSequenceClassification": Head(
            eurobert_sequence, {"top.transform.dense": "dense", "top.project": "classifier"}
        ),
        "ForTokenClassification": classifier("classifier", top="token-classifier"),
    },
    "model.",
    _IGNORED,
    inert=("pretraining_tp", "mask_token_id"),
)
MISTRAL = Family(mistral, WEIGHTS, decoder_heads(tied=False), "model.", _IGNORED)
QWEN2 = Family(qwen2, WEIGHTS, decoder_heads(tied=False), "model.", _IGNORED)
QWEN3 = Family(
    qwen3, AROUND | block("decoder", "layers.{i}.", ROWS | QUERY_NORMS), decoder_heads(tied=False), "model.", _IGNORED
)
SMOLLM3 = Family(smollm3, WEIGHTS, decoder_heads(tied=True, padding=128_004), "model.", _IGNORED)
OLMO2 = Family(
    olmo2, AROUND | block("decoder", "layers.{i}.", _WRITTEN), decoder_heads(tied=False, padding=1), "model.", _IGNORED
)
PHI3 = Family(
    phi3,
    AROUND | block("decoder", "layers.{i}.", _FUSED),
    decoder_heads(tied=False, padding=32_000),
    "model.",
    _IGNORED,
)
LLAMA2C = Family(
    llama2c,
    _C_AROUND | block("decoder", "layers.{i}.", _C_ROWS),
    {"ForCausalLM": language("output")},
    ignored=("freq_cis_real.weight", "freq_cis_imag.weight"),
)
