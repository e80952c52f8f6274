"""T5 and its v1.1 files: encoder-decoder with a relative position bias, without biases on linear maps."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    GATED_MLP_ACTIVATIONS,
    MLP_ACTIVATIONS,
    block_rules,
    classifier_head,
    read_labels,
)
from headlight.checkpoints.weight_mapping import ConfigValues, Family, HeadMapping, WeightRules, no_head
from headlight.config_groups import OutputHeadConfig, RelativePositionConfig

FEEDFORWARD_ACTIVATIONS = (
    MLP_ACTIVATIONS
    | {f"gated-{act}": gate for act, gate in GATED_MLP_ACTIVATIONS.items()}
    | {"gated-gelu": "geglu-tanh"}
)


def t5(fields: ConfigReader) -> ConfigValues:
    """Unscaled scores, relative position buckets; encoder and decoder may differ in depth."""
    encoder_layers = fields.layer_count("num_layers", 6)
    return {
        "architecture": "encoder-decoder",
        "vocabulary_size": fields.integer("vocab_size", 32_128),
        "context_length": fields.integer("n_positions", 512),
        "d_model": fields.integer("d_model", 512),
        "layers": fields.layer_count("num_decoder_layers", encoder_layers),
        "encoder_layers": encoder_layers,
        "heads": fields.integer("num_heads", 8),
        "head_dim": fields.integer("d_kv", 64),
        "d_ff": fields.integer("d_ff", 2048),
        "feed_forward": fields.choice("feed_forward_proj", "relu", FEEDFORWARD_ACTIVATIONS),
        "norm": "rmsnorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-6),
        "positional_encoding": "relative",
        "relative_position": RelativePositionConfig(
            buckets=fields.integer("relative_attention_num_buckets", 32),
            max_distance=fields.integer("relative_attention_max_distance", 128),
        ),
        "scale": False,
        "start_token_id": fields.integer(("decoder_start_token_id", "pad_token_id"), 0),
    }


def language_config(fields: ConfigReader) -> ConfigValues:
    """Logits are scaled by d_model^-0.5 where the embedding is tied, also in old files, which do not say so."""
    scaled = fields.boolean("scale_decoder_outputs", fields.boolean("tie_word_embeddings", True))
    scale = max(fields.integer("d_model", 512), 1) ** -0.5 if scaled else 1.0
    return {
        "output_head": "language-model",
        "tied_embeddings": True,
        "output_head_config": OutputHeadConfig(logit_scale=scale),
    }


def encoder_config(fields: ConfigReader) -> ConfigValues:
    """The encoder alone."""
    return {"architecture": "encoder", "layers": fields.layer_count("num_layers", 6), "encoder_layers": 0, "masks": (),
            "output_head": "none"}  # fmt: skip


def token_config(fields: ConfigReader) -> ConfigValues:
    """The encoder alone, with a token classifier."""
    return {**encoder_config(fields), "output_head": "token-classifier", "labels": read_labels(fields)}


_CLASSIFIER = classifier_head(
    "classification_head.out_proj",
    rows={"output_head.transform.dense": "classification_head.dense"},
    pooling="last",
    output_head_config=OutputHeadConfig(transform="dense", activation="tanh"),
    biases=("transform",),
)


def _attention(ours: str, theirs: str) -> WeightRules:
    return {f"{ours}_attention.{name}": f"{theirs}.{name[0]}" for name in ("query", "key", "value", "output")}


def _feedforward(prefix: str) -> WeightRules:
    return {
        "feed_forward_residual.norm": f"{prefix}.layer_norm",
        "feed_forward.gate": f"{prefix}.DenseReluDense.wi_0",
        "feed_forward.up": f"{prefix}.DenseReluDense.wi|{prefix}.DenseReluDense.wi_1",
        "feed_forward.down": f"{prefix}.DenseReluDense.wo",
    }


_SELF: WeightRules = {
    **_attention("self", "layer.0.SelfAttention"),
    "self_attention_residual.norm": "layer.0.layer_norm",
}
_CROSS: WeightRules = {
    **_attention("cross", "layer.1.EncDecAttention"),
    "cross_attention_residual.norm": "layer.1.layer_norm",
}
_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "shared|encoder.embed_tokens",
    "encoder.positional_encoding.bias_table": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "decoder.positional_encoding.bias_table": "decoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "encoder.final_norm": "encoder.final_layer_norm",
    "decoder.final_norm": "decoder.final_layer_norm",
}
T5 = Family(
    t5,
    _OUTSIDE_BLOCKS
    | block_rules("encoder", "encoder.block.{i}.", _SELF | _feedforward("layer.1"))
    | block_rules("decoder", "decoder.block.{i}.", _SELF | _CROSS | _feedforward("layer.2")),
    {
        "ForConditionalGeneration": HeadMapping(language_config, {"output_head.projection": "lm_head"}),
        "ForSequenceClassification": _CLASSIFIER,
        "ForTokenClassification": HeadMapping(token_config, {"output_head.projection": "classifier"}),
        "EncoderModel": HeadMapping(encoder_config),
        "Model": HeadMapping(no_head, ignored_tensors=("lm_head.weight",)),
    },
    base_model_prefix="transformer.",  # of the classifiers alone
    ignored_tensors=(
        "encoder.embed_tokens.weight",
        "decoder.embed_tokens.weight",
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    ),
    required_values={"is_decoder": False},
    ignored_fields=("dropout_rate", "dense_act_fn", "is_gated_act"),  # the last two are derived from feed_forward_proj
    attribute_map={
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_hidden_layers": "num_layers",
        "head_dim": "d_kv",
    },
)
