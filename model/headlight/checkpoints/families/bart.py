"""BART and Marian: a post-norm encoder and decoder, whose sizes may differ."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import MLP_ACTIVATIONS, block_rules, classifier_head
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    HeadMapping,
    WeightRules,
    flatten,
    rule,
    skip_rows,
)
from headlight.config_groups import EmbeddingConfig, OutputHeadConfig


def shared_config(fields: ConfigReader, vocabulary: int, activation: str, start_token: int) -> ConfigValues:
    """Fields of both families: sizes, post-norm, biases."""
    width = fields.integer("d_model", 1024)
    return {
        "architecture": "encoder-decoder",
        "vocabulary_size": fields.integer("vocab_size", vocabulary),
        "context_length": fields.integer("max_position_embeddings", 1024),
        "d_model": width,
        "layers": fields.layer_count("decoder_layers", 12),
        "encoder_layers": fields.layer_count("encoder_layers", 12),
        "heads": fields.integer("decoder_attention_heads", 16),
        "encoder_heads": fields.integer("encoder_attention_heads", 16),
        "d_ff": fields.integer("decoder_ffn_dim", 4096),
        "encoder_d_ff": fields.integer("encoder_ffn_dim", 4096),
        "embedding": EmbeddingConfig(
            scale=width**0.5 if fields.boolean("scale_embedding", False) else 1.0,
            separate_encoder=_has_separate_encoder(fields),
        ),
        "feed_forward": fields.choice("activation_function", activation, MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_placement": "post",
        "bias": True,
        "start_token_id": fields.integer("decoder_start_token_id", start_token),
    }


def _has_separate_encoder(fields: ConfigReader) -> bool:
    """Whether encoder and decoder have separate embeddings, as files without tied weights do."""
    tied, names = fields.boolean("tie_word_embeddings", True), fields.tensor_names
    return not tied and all(any(name.endswith(copy) for name in names) for copy in _COPIES)


def bart(fields: ConfigReader) -> ConfigValues:
    """Learned positions, LayerNorm on the embeddings."""
    return shared_config(fields, 50_265, "gelu", 2) | {"positional_encoding": "learned", "embedding_norm": True}


def marian(fields: ConfigReader) -> ConfigValues:
    """Sinusoidal positional encodings."""
    vocabulary = fields.integer("vocab_size", 58_101)
    fields.require_values({"decoder_vocab_size": vocabulary})
    return shared_config(fields, 58_101, "gelu", 58_100) | {"positional_encoding": "sinusoidal-halves"}


def language_config(fields: ConfigReader) -> ConfigValues:
    """A language-model head, which may have a bias on the logits."""
    tied = fields.boolean("tie_word_embeddings", True)
    return {
        "output_head": "language-model",
        "tied_embeddings": tied,
        "output_head_config": OutputHeadConfig(bias="final_logits_bias" in fields.tensor_names),
    }


BLOCK: WeightRules = {
    "self_attention.query": "self_attn.q_proj",
    "self_attention.key": "self_attn.k_proj",
    "self_attention.value": "self_attn.v_proj",
    "self_attention.output": "self_attn.out_proj",
    "self_attention_residual.norm": "self_attn_layer_norm",
    "feed_forward.up": "fc1",
    "feed_forward.down": "fc2",
    "feed_forward_residual.norm": "final_layer_norm",
}
_CROSS: WeightRules = {
    "cross_attention.query": "encoder_attn.q_proj",
    "cross_attention.key": "encoder_attn.k_proj",
    "cross_attention.value": "encoder_attn.v_proj",
    "cross_attention.output": "encoder_attn.out_proj",
    "cross_attention_residual.norm": "encoder_attn_layer_norm",
}
_BLOCKS = block_rules("encoder", "encoder.layers.{i}.", BLOCK) | block_rules(
    "decoder", "decoder.layers.{i}.", BLOCK | _CROSS
)
_EMBEDDING: WeightRules = {"embedding": "shared|encoder.embed_tokens|decoder.embed_tokens"}
_LEARNED_POSITIONS: WeightRules = {
    "encoder.positional_encoding.table": rule("encoder.embed_positions", skip_rows(2)),
    "decoder.positional_encoding.table": rule("decoder.embed_positions", skip_rows(2)),
    "encoder.embedding_norm": "encoder.layernorm_embedding",
    "decoder.embedding_norm": "decoder.layernorm_embedding",
}
_HEAD: WeightRules = {
    "output_head.projection": "lm_head",
    "output_head.projection.bias": rule("final_logits_bias", flatten),
}
_ATTRIBUTE_MAP = {
    "num_attention_heads": "encoder_attention_heads",
    "hidden_size": "d_model",
    "num_hidden_layers": "encoder_layers",
}
_CLASSIFIER = classifier_head(
    "classification_head.out_proj",
    count=3,
    rows={"output_head.transform.dense": "classification_head.dense"},
    pooling="last",
    output_head_config=OutputHeadConfig(transform="dense", activation="tanh"),
)
_COPIES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
_UNTIED_EMBEDDINGS: WeightRules = {"embedding": "decoder.embed_tokens", "source_embedding": "encoder.embed_tokens"}
_REQUIRED_VALUES = {
    "is_encoder_decoder": True,
    "is_decoder": False,
    "normalize_before": False,
    "add_final_layer_norm": False,
}
_IGNORED_FIELDS = ("activation_dropout", "decoder_layerdrop", "encoder_layerdrop")
BART = Family(
    bart,
    _EMBEDDING | _LEARNED_POSITIONS | _BLOCKS,
    {"ForConditionalGeneration": HeadMapping(language_config, _HEAD), "ForSequenceClassification": _CLASSIFIER},
    base_model_prefix="model.",
    ignored_tensors=(
        "shared.weight",
        *_COPIES,
        "encoder.version",
        "decoder.version",
        "lm_head.weight",
        "final_logits_bias",
    ),
    required_values=_REQUIRED_VALUES,
    ignored_fields=_IGNORED_FIELDS,
    attribute_map=_ATTRIBUTE_MAP,
    untied_weights=_UNTIED_EMBEDDINGS,
)
MARIAN = Family(
    marian,
    _EMBEDDING | _BLOCKS,
    {"MTModel": HeadMapping(language_config, _HEAD)},
    base_model_prefix="model.",
    ignored_tensors=("shared.weight", *_COPIES, "encoder.embed_positions.weight", "decoder.embed_positions.weight"),
    required_values=_REQUIRED_VALUES | {"share_encoder_decoder_embeddings": True},
    ignored_fields=_IGNORED_FIELDS,
    attribute_map=_ATTRIBUTE_MAP,
    untied_weights=_UNTIED_EMBEDDINGS,
)
