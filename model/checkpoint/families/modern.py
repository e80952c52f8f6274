"""ModernBERT and DeBERTa-v2/v3."""

from __future__ import annotations

from model.checkpoint.cuts import part, stacked
from model.checkpoint.families.bert import AROUND, sizes
from model.checkpoint.families.common import GATED, PLAIN, block, classifier, labels
from model.checkpoint.families.rotary import rotation, windows
from model.checkpoint.family import Choices, Family, Head, Rows, cut
from model.checkpoint.fields import Fields
from model.choices import Answer, ByLayer, Distances, Embed
from model.errors import CheckpointError

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


def deberta(fields: Fields) -> Choices:
    """Contents ask for distances and distances for contents; positions are nowhere else."""
    usual = {"num_hidden_layers": 24, "num_attention_heads": 24, "intermediate_size": 6144}
    choices = sizes(fields.filled(**usual), vocabulary=128_100, width=1536)
    width, heads = choices["width"], max(choices["heads"], 1)
    head = fields.size("attention_head_size", 0) or width // heads
    fields.require({"embedding_size": width})
    asked = fields.values.get("pos_att_type") or []
    asked = asked.split("|") if isinstance(asked, str) else asked
    fields.read.add("pos_att_type")
    if not isinstance(asked, list) or not {*map(str, asked)} <= {"c2p", "p2c"}:
        raise CheckpointError(f"{fields.name}: its pos_att_type is {str(asked)[:60]!r}; known are c2p and p2c.")
    relative, absolute = fields.flag("relative_attention", False), fields.flag("position_biased_input", True)
    if relative and absolute:
        raise CheckpointError(f"{fields.name}: its position_biased_input beside relative_attention is not supported.")
    scale = (max(head, 1) * (1 + len(set(asked)))) ** -0.5
    return choices | {
        "head_width": head,
        "embed": Embed(segments=fields.size("type_vocab_size", 0)),
        "norm_epsilon": fields.number("layer_norm_eps", 1e-7),
        "position": "disentangled" if relative else "learned" if absolute else "none",
        "distances": _distances(fields, choices["context"], asked) if relative else Distances(),
        "by_layer": ByLayer(scales=(scale,) * choices["layers"]),
    }


def _distances(fields: Fields, context: int, asked: list[str]) -> Distances:
    def count(name: str) -> int:
        value = fields.number(name, -1)
        return int(value) if 0 < value < 1e6 else 0

    furthest, buckets = count("max_relative_positions") or context, count("position_buckets")
    norms = fields.word("norm_rel_ebd", "none").lower().split("|")
    return Distances(
        buckets=buckets or furthest,
        furthest=furthest,
        exact=not buckets,
        to_position="c2p" in asked,
        from_position="p2c" in asked,
        normed="layer_norm" in [norm.strip() for norm in norms],
    )


def deberta_masked(fields: Fields) -> Choices:
    """Which token was masked."""
    answer = Answer(activation=fields.choice("hidden_act", "gelu", PLAIN))
    return {"top": "masked-language", "tied": fields.flag("tie_word_embeddings", True), "answer": answer}


def deberta_sequence(fields: Fields) -> Choices:
    """A label of the text, from its first token."""
    answer = Answer(transform="dense", activation=fields.choice("pooler_hidden_act", "gelu", PLAIN))
    return {"top": "sequence-classifier", "labels": labels(fields), "answer": answer}


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
_DEBERTA: Rows = {
    "self_attention.query": "attention.self.query_proj",
    "self_attention.key": "attention.self.key_proj",
    "self_attention.value": "attention.self.value_proj",
    "self_attention.places.key": "attention.self.pos_key_proj|attention.self.key_proj",
    "self_attention.places.query": "attention.self.pos_query_proj|attention.self.query_proj",
    "self_attention.output": "attention.output.dense",
    "self_residual.norm": "attention.output.LayerNorm",
    "feedforward.rise": "intermediate.dense",
    "feedforward.fall": "output.dense",
    "feedforward_residual.norm": "output.LayerNorm",
}
_RELATIVE: Rows = {"encoder.position.rows": "encoder.rel_embeddings", "encoder.position.norm": "encoder.LayerNorm"}
_PREDICTIONS: Rows = {
    "top.transform": "cls.predictions.transform.dense|lm_predictions.lm_head.dense",
    "top.norm": "cls.predictions.transform.LayerNorm|lm_predictions.lm_head.LayerNorm",
    "top.project": "cls.predictions.decoder",
    "top.project.bias": "cls.predictions.decoder.bias|cls.predictions.bias|lm_predictions.lm_head.bias",
}
DEBERTA = Family(
    deberta,
    AROUND | _RELATIVE | block("encoder", "encoder.layer.{i}.", _DEBERTA),
    {
        "ForMaskedLM": Head(deberta_masked, _PREDICTIONS, ignored=("cls.predictions.bias",)),
        "ForSequenceClassification": Head(
            deberta_sequence, {"top.transform.dense": "pooler.dense", "top.project": "classifier"}
        ),
        "ForTokenClassification": classifier("classifier", top="token-classifier"),
    },
    base="deberta.",
    # The norm is of the distances, and is there without them, too.
    ignored=("embeddings.position_ids", "mask_predictions.*", "lm_predictions.*", "pooler.*", "encoder.LayerNorm.*"),
    accepted={"conv_kernel_size": 0, "is_decoder": False},
    inert=("legacy", "pooler_hidden_size"),  # both are seen by the weights
)
