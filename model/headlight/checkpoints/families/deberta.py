"""DeBERTa: disentangled attention (He et al. 2021)."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.bert import OUTSIDE_BLOCKS, predictions_head, shared_config
from headlight.checkpoints.families.common import MLP_ACTIVATIONS, block_rules, classifier_head
from headlight.checkpoints.weight_mapping import ConfigValues, Family, WeightRules
from headlight.config_groups import EmbeddingConfig, OutputHeadConfig, PerLayerConfig, RelativePositionConfig
from headlight.errors import CheckpointError


def deberta(fields: ConfigReader) -> ConfigValues:
    """Disentangled attention; with `position_biased_input` learned positions are added to the embeddings as well."""
    defaults = {"num_hidden_layers": 24, "num_attention_heads": 24, "intermediate_size": 6144}
    choices = shared_config(fields.with_defaults(**defaults), vocabulary=128_100, width=1536)
    width, heads = choices["d_model"], max(choices["heads"], 1)
    head = fields.integer("attention_head_size", 0) or width // heads
    fields.require_values({"embedding_size": width})
    attention_types = fields.values.get("pos_att_type") or []
    attention_types = attention_types.split("|") if isinstance(attention_types, str) else attention_types
    fields.fields_read.add("pos_att_type")
    if not isinstance(attention_types, list) or not {*map(str, attention_types)} <= {"c2p", "p2c"}:
        raise CheckpointError(
            f"{fields.name}: its pos_att_type is {str(attention_types)[:60]!r}; known are c2p and p2c."
        )
    relative, absolute = fields.boolean("relative_attention", False), fields.boolean("position_biased_input", True)
    scale = (max(head, 1) * (1 + len(set(attention_types)))) ** -0.5
    return choices | {
        "head_dim": head,
        "embedding": EmbeddingConfig(segments=fields.integer("type_vocab_size", 0)),
        "norm_epsilon": fields.number("layer_norm_eps", 1e-7),
        "positional_encoding": "disentangled" if relative else "learned" if absolute else "none",
        "relative_position": _relative_positions(fields, choices["context_length"], attention_types, absolute)
        if relative
        else RelativePositionConfig(),
        "per_layer": PerLayerConfig(score_scales=(scale,) * choices["layers"]),
    }


def _relative_positions(
    fields: ConfigReader, context: int, attention_types: list[str], absolute: bool
) -> RelativePositionConfig:
    def count(name: str) -> int:
        value = fields.number(name, -1)
        return int(value) if 0 < value < 1e6 else 0

    max_distance, buckets = count("max_relative_positions") or context, count("position_buckets")
    norms = fields.string("norm_rel_ebd", "none").lower().split("|")
    return RelativePositionConfig(
        buckets=buckets or max_distance,
        max_distance=max_distance,
        exact_distances=not buckets,
        content_to_position="c2p" in attention_types,
        position_to_content="p2c" in attention_types,
        normalized="layer_norm" in [norm.strip() for norm in norms],
        absolute_positions=absolute,
    )


def deberta_pooler(fields: ConfigReader) -> ConfigValues:
    """The dense layer and activation on the first token of a sequence classifier."""
    activation = fields.choice("pooler_hidden_act", "gelu", MLP_ACTIVATIONS)
    return {"output_head_config": OutputHeadConfig(transform="dense", activation=activation)}


_DEBERTA_BLOCK: WeightRules = {
    "self_attention.query": "attention.self.query_proj",
    "self_attention.key": "attention.self.key_proj",
    "self_attention.value": "attention.self.value_proj",
    "self_attention.relative_position_projection.key": "attention.self.pos_key_proj|attention.self.key_proj",
    "self_attention.relative_position_projection.query": "attention.self.pos_query_proj|attention.self.query_proj",
    "self_attention.output": "attention.output.dense",
    "self_attention_residual.norm": "attention.output.LayerNorm",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
    "feed_forward_residual.norm": "output.LayerNorm",
}
_DEBERTA_RELATIVE_POSITIONS: WeightRules = {
    "encoder.positional_encoding.absolute.table": "embeddings.position_embeddings",
    "encoder.positional_encoding.relative_embedding": "encoder.rel_embeddings",
    "encoder.positional_encoding.norm": "encoder.LayerNorm",
}
DEBERTA = Family(
    deberta,
    OUTSIDE_BLOCKS | _DEBERTA_RELATIVE_POSITIONS | block_rules("encoder", "encoder.layer.{i}.", _DEBERTA_BLOCK),
    {
        "ForMaskedLM": predictions_head(
            "cls.predictions.transform.dense|lm_predictions.lm_head.dense",
            "cls.predictions.transform.LayerNorm|lm_predictions.lm_head.LayerNorm",
            "cls.predictions.decoder",
            "cls.predictions.bias|lm_predictions.lm_head.bias",
        ),
        "ForSequenceClassification": classifier_head(
            "classifier", rows={"output_head.transform.dense": "pooler.dense"}, read=deberta_pooler
        ),
        "ForTokenClassification": classifier_head("classifier", output_head="token-classifier"),
    },
    base_model_prefix="deberta.",
    # encoder.LayerNorm normalizes the relative embeddings; it is stored even where they are not used.
    ignored_tensors=(
        "embeddings.position_ids",
        "mask_predictions.*",
        "lm_predictions.*",
        "pooler.*",
        "encoder.LayerNorm.*",
    ),
    required_values={"conv_kernel_size": 0, "is_decoder": False},
    # The first three are known from the tensors; the others have no effect without relative attention.
    ignored_fields=("legacy", "pooler_hidden_size", "share_att_key", "max_relative_positions", "norm_rel_ebd"),
)
