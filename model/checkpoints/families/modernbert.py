"""ModernBERT and DeBERTa-v2/v3."""

from __future__ import annotations

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import GATED, PLAIN, block, labels
from model.checkpoints.families.rope import rotation, windows
from model.checkpoints.weight_mapping import Choices, Family, Head, Rows, cut
from model.checkpoints.weight_ops import part, stacked
from model.config_groups import Answer, ByLayer

POOLINGS = {"cls": "first", "mean": "mean"}


def modernbert(fields: Fields) -> Choices:
    """Gated feed-forward, normed embeddings, most layers look through a window and turn by a base of their own."""
    width, count, layers = (
        fields.size("hidden_size", 768),
        fields.size("num_attention_heads", 12),
        fields.depth("num_hidden_layers", 22),
    )
    context, head = fields.size("max_position_embeddings", 8192), width // max(count, 1)
    every = fields.size("global_attn_every_n_layers", 3) or 1
    usual = ["sliding_attention" if layer % every else "full_attention" for layer in range(layers)]
    types = fields.listing("layer_types", str, usual)
    masks = windows(fields, layers, usual, fields.size("local_attention", 128) // 2 + 1)
    turned = {
        kind: rotation(fields, head, context, base=base, layer_type=kind, names=(name, "-"))
        for kind, base, name in (
            ("full_attention", 160_000.0, "global_rope_theta"),
            ("sliding_attention", 10_000.0, "local_rope_theta"),
        )
    }
    attention = ("query", "key", "value", "output") * fields.flag("attention_bias", False)
    feedforward = ("gate", "rise", "fall") * fields.flag("mlp_bias", False)
    return {
        "architecture": "encoder",
        "vocabulary": fields.size("vocab_size", 50_368),
        "context": context,
        "width": width,
        "layers": layers,
        "heads": count,
        "inner": fields.size("intermediate_size", 1152),
        "feedforward": fields.choice("hidden_activation", "gelu", GATED),
        "norm": "layernorm",
        "norm_epsilon": fields.number("norm_eps", 1e-5),
        "embedding_norm": True,
        "first_norm": False,
        "masks": (),
        "position": "rope",
        "rotation": turned["full_attention"],
        "by_layer": ByLayer(masks=masks, rotations=tuple(turned[each] for each in types) if masks else ()),
        "biases": (*attention, *feedforward, *_modern_biases(fields)),
    }


def _modern_biases(fields: Fields) -> tuple[str, ...]:
    return ("norm",) * fields.flag("norm_bias", False) + ("transform",) * fields.flag("classifier_bias", False)


def _modern_answer(fields: Fields) -> Answer:
    return Answer(activation=fields.choice("classifier_activation", "gelu", PLAIN), transform="dense-norm")


def modern_masked(fields: Fields) -> Choices:
    """Which token was masked."""
    activation = fields.choice("classifier_activation", "gelu", PLAIN)
    answer = Answer(activation=activation, bias=None if fields.flag("decoder_bias", True) else False)
    return {"top": "masked-language", "tied": fields.flag("tie_word_embeddings", True), "answer": answer}


def modern_sequence(fields: Fields) -> Choices:
    """A label of the text, from its first token or the mean of all."""
    pooling = fields.choice("classifier_pooling", "cls", POOLINGS)
    answer = _modern_answer(fields)
    return {"top": "sequence-classifier", "labels": labels(fields), "pooling": pooling, "answer": answer}


def modern_tokens(fields: Fields) -> Choices:
    """A label of each token."""
    return {"top": "token-classifier", "labels": labels(fields), "answer": _modern_answer(fields)}


_MODERN: Rows = {
    "self_residual.norm": "attn_norm",
    "self_attention.query": cut("attn.Wqkv", stacked(0)),
    "self_attention.key": cut("attn.Wqkv", stacked(1)),
    "self_attention.value": cut("attn.Wqkv", stacked(2)),
    "self_attention.output": "attn.Wo",
    "feedforward_residual.norm": "mlp_norm",
    "feedforward.gate": cut("mlp.Wi", part(0, 2)),
    "feedforward.rise": cut("mlp.Wi", part(1, 2)),
    "feedforward.fall": "mlp.Wo",
}
_MODERN_AROUND: Rows = {
    "embedding": "embeddings.tok_embeddings",
    "encoder.embedding_norm": "embeddings.norm",
    "encoder.norm": "final_norm",
}
_CLASSES: Rows = {"top.transform.dense": "head.dense", "top.transform.norm": "head.norm", "top.project": "classifier"}
MODERNBERT = Family(
    modernbert,
    _MODERN_AROUND | block("encoder", "layers.{i}.", _MODERN),
    {
        "ForMaskedLM": Head(
            modern_masked, {"top.transform": "head.dense", "top.norm": "head.norm", "top.project": "decoder"}
        ),
        "ForSequenceClassification": Head(modern_sequence, _CLASSES),
        "ForTokenClassification": Head(modern_tokens, _CLASSES),
    },
    base="model.",
    inert=(
        "cls_token_id", "sep_token_id", "deterministic_flash_attn", "initializer_cutoff_factor", "mlp_dropout",
        "sparse_pred_ignore_index", "sparse_prediction",
    ),
)  # fmt: skip
