"""DeBERTa: disentangled attention (He et al. 2021)."""

from __future__ import annotations

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.bert import AROUND, sizes
from model.checkpoints.families.common import PLAIN, block, classifier, labels
from model.checkpoints.weight_mapping import Choices, Family, Head, Rows
from model.config_groups import Answer, ByLayer, Distances, Embed
from model.errors import CheckpointError


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
