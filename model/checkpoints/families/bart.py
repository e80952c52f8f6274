"""BART and Marian: an encoder and a decoder with norms after the sum, whose sizes may differ."""

from __future__ import annotations

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import PLAIN, block, classifier
from model.checkpoints.weight_mapping import Choices, Family, Head, Rows, cut
from model.checkpoints.weight_ops import after, flat
from model.config_groups import Answer, Embed


def sizes(fields: Fields, vocabulary: int, act: str, start: int) -> Choices:
    """Sizes of both stacks."""
    width = fields.size("d_model", 1024)
    return {
        "architecture": "encoder-decoder",
        "vocabulary": fields.size("vocab_size", vocabulary),
        "context": fields.size("max_position_embeddings", 1024),
        "width": width,
        "layers": fields.depth("decoder_layers", 12),
        "encoder_layers": fields.depth("encoder_layers", 12),
        "heads": fields.size("decoder_attention_heads", 16),
        "encoder_heads": fields.size("encoder_attention_heads", 16),
        "inner": fields.size("decoder_ffn_dim", 4096),
        "encoder_inner": fields.size("encoder_ffn_dim", 4096),
        "embed": Embed(scale=width**0.5 if fields.flag("scale_embedding", False) else 1.0, apart=_apart(fields)),
        "feedforward": fields.choice("activation_function", act, PLAIN),
        "norm": "layernorm",
        "placement": "post",
        "bias": True,
        "start_token": fields.size("decoder_start_token_id", start),
    }


def _apart(fields: Fields) -> bool:
    """Whether each stack has a table of tokens of its own, as files with nothing tied have."""
    tied, names = fields.flag("tie_word_embeddings", True), fields.stored
    return not tied and all(any(name.endswith(copy) for name in names) for copy in _COPIES)


def bart(fields: Fields) -> Choices:
    """Learned positions, normed embeddings."""
    return sizes(fields, 50_265, "gelu", 2) | {"position": "learned", "embedding_norm": True}


def marian(fields: Fields) -> Choices:
    """Waves as positions."""
    vocabulary = fields.size("vocab_size", 58_101)
    fields.require({"decoder_vocab_size": vocabulary})
    return sizes(fields, 58_101, "gelu", 58_100) | {"position": "sinusoidal-halves"}


def language(fields: Fields) -> Choices:
    """Files may hold a bias of the logits."""
    tied = fields.flag("tie_word_embeddings", True)
    return {"top": "language", "tied": tied, "answer": Answer(bias="final_logits_bias" in fields.stored)}


_LAYER: Rows = {
    "self_attention.query": "self_attn.q_proj",
    "self_attention.key": "self_attn.k_proj",
    "self_attention.value": "self_attn.v_proj",
    "self_attention.output": "self_attn.out_proj",
    "self_residual.norm": "self_attn_layer_norm",
    "feedforward.rise": "fc1",
    "feedforward.fall": "fc2",
    "feedforward_residual.norm": "final_layer_norm",
}
_CROSS: Rows = {
    "cross_attention.query": "encoder_attn.q_proj",
    "cross_attention.key": "encoder_attn.k_proj",
    "cross_attention.value": "encoder_attn.v_proj",
    "cross_attention.output": "encoder_attn.out_proj",
    "cross_residual.norm": "encoder_attn_layer_norm",
}
_BLOCKS = block("encoder", "encoder.layers.{i}.", _LAYER) | block("decoder", "decoder.layers.{i}.", _LAYER | _CROSS)
_SHARED: Rows = {"embedding": "shared|encoder.embed_tokens|decoder.embed_tokens"}
_LEARNED: Rows = {
    "encoder.position.table": cut("encoder.embed_positions", after(2)),
    "decoder.position.table": cut("decoder.embed_positions", after(2)),
    "encoder.embedding_norm": "encoder.layernorm_embedding",
    "decoder.embedding_norm": "decoder.layernorm_embedding",
}
_HEAD: Rows = {"top.project": "lm_head", "top.project.bias": cut("final_logits_bias", flat)}
_ALSO = {
    "num_attention_heads": "encoder_attention_heads",
    "hidden_size": "d_model",
    "num_hidden_layers": "encoder_layers",
}
_CLASSIFIER = classifier(
    "classification_head.out_proj",
    count=3,
    rows={"top.transform.dense": "classification_head.dense"},
    pooling="last",
    answer=Answer(transform="dense", activation="tanh"),
)
_COPIES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
_APART: Rows = {"embedding": "decoder.embed_tokens", "source_embedding": "encoder.embed_tokens"}
_BOTH = {"is_encoder_decoder": True, "is_decoder": False, "normalize_before": False, "add_final_layer_norm": False}
_DROPPED = ("activation_dropout", "decoder_layerdrop", "encoder_layerdrop")
BART = Family(
    bart,
    _SHARED | _LEARNED | _BLOCKS,
    {"ForConditionalGeneration": Head(language, _HEAD), "ForSequenceClassification": _CLASSIFIER},
    base="model.",
    ignored=("shared.weight", *_COPIES, "encoder.version", "decoder.version", "lm_head.weight", "final_logits_bias"),
    accepted=_BOTH,
    inert=_DROPPED,
    also=_ALSO,
    apart=_APART,
)
MARIAN = Family(
    marian,
    _SHARED | _BLOCKS,
    {"MTModel": Head(language, _HEAD)},
    base="model.",
    ignored=("shared.weight", *_COPIES, "encoder.embed_positions.weight", "decoder.embed_positions.weight"),
    accepted=_BOTH | {"share_encoder_decoder_embeddings": True},
    inert=_DROPPED,
    also=_ALSO,
    apart=_APART,
)
