"""ModernBERT (Warner et al. 2024)."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    ATTENTION_PROJECTIONS,
    GATED_MLP_ACTIVATIONS,
    MLP_ACTIVATIONS,
    block_rows,
    block_rules,
    classifier_head,
    fused,
    head_and_context,
    language_head,
    layer_masks,
    rope_config,
    sizes,
    span_head,
)
from headlight.checkpoints.weight_mapping import ConfigValues, Family, WeightRules, chunk, rule, stacked_qkv
from headlight.config import OutputHeadConfig, PerLayerConfig

POOLINGS = {"cls": "first", "mean": "mean"}


def modernbert(fields: ConfigReader) -> ConfigValues:
    """Gated feed-forward, LayerNorm on the embeddings; most layers have a sliding window and another rope theta."""
    found = sizes(fields, 50_368, 8192, 768, 22, 12, 1152)
    layers, (head, context) = found["layers"], head_and_context(found)
    every = fields.integer("global_attn_every_n_layers", 3) or 1
    default_types = ["sliding_attention" if layer % every else "full_attention" for layer in range(layers)]
    types = fields.list_of("layer_types", str, default_types)
    masks = layer_masks(fields, layers, default_types, fields.integer("local_attention", 128) // 2 + 1)
    ropes = {
        kind: rope_config(fields, head, context, theta=base, layer_type=kind, field_names=(name, "-"))
        for kind, base, name in (
            ("full_attention", 160_000.0, "global_rope_theta"),
            ("sliding_attention", 10_000.0, "local_rope_theta"),
        )
    }
    attention = ATTENTION_PROJECTIONS * fields.boolean("attention_bias", False)
    feedforward = ("gate", "up", "down") * fields.boolean("mlp_bias", False)
    return found | {
        "architecture": "encoder",
        "feed_forward": fields.choice("hidden_activation", "gelu", GATED_MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_epsilon": fields.number("norm_eps", 1e-5),
        "embedding.norm": True,
        "first_norm": False,
        "masks": (),
        "positional_encoding": "rope",
        "rope": ropes["full_attention"],
        "per_layer": PerLayerConfig(masks=masks, ropes=tuple(ropes[each] for each in types) if masks else ()),
        "biases": (*attention, *feedforward, *_modernbert_biases(fields)),
    }


def _modernbert_biases(fields: ConfigReader) -> tuple[str, ...]:
    return ("norm",) * fields.boolean("norm_bias", False) + ("transform",) * fields.boolean("classifier_bias", False)


def _masked_head(fields: ConfigReader) -> ConfigValues:
    activation = fields.choice("classifier_activation", "gelu", MLP_ACTIVATIONS)
    return {"activation": activation, "bias": None if fields.boolean("decoder_bias", True) else False}


def _token_classifier(fields: ConfigReader) -> ConfigValues:
    activation = fields.choice("classifier_activation", "gelu", MLP_ACTIVATIONS)
    return {"output_head_config": OutputHeadConfig(activation=activation, transform="dense-norm")}


def _sequence_classifier(fields: ConfigReader) -> ConfigValues:
    """On the first token or on the mean of all."""
    return _token_classifier(fields) | {"pooling": fields.choice("classifier_pooling", "cls", POOLINGS)}


_MODERNBERT_BLOCK = block_rows(
    "attn_norm",
    [*fused("attn.Wqkv", stacked_qkv), "attn.Wo"],
    "mlp_norm",
    [rule("mlp.Wi", chunk(0, 2)), rule("mlp.Wi", chunk(1, 2)), "mlp.Wo"],
)
_MODERNBERT_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "embeddings.tok_embeddings",
    "encoder.embedding_norm": "embeddings.norm",
    "encoder.final_norm": "final_norm",
}
_TRANSFORM: WeightRules = {"output_head.transform.dense": "head.dense", "output_head.transform.norm": "head.norm"}
MODERNBERT = Family(
    modernbert,
    _MODERNBERT_OUTSIDE_BLOCKS | block_rules("encoder", "layers.{i}.", _MODERNBERT_BLOCK),
    {
        "ForMaskedLM": language_head(
            "decoder",
            output_head="masked-language-model",
            rows={"output_head.transform": "head.dense", "output_head.norm": "head.norm"},
            read=_masked_head,
        ),
        "ForSequenceClassification": classifier_head("classifier", rows=_TRANSFORM, read=_sequence_classifier),
        "ForTokenClassification": classifier_head(
            "classifier", rows=_TRANSFORM, read=_token_classifier, output_head="token-classifier"
        ),
        "ForQuestionAnswering": span_head("classifier", rows=_TRANSFORM, read=_token_classifier),
    },
    base_model_prefix="model.",
    ignored_fields=(
        "cls_token_id", "sep_token_id", "deterministic_flash_attn", "initializer_cutoff_factor", "mlp_dropout",
        "sparse_pred_ignore_index", "sparse_prediction",
    ),
)  # fmt: skip
