"""T5 and its v1.1 files: an encoder and a decoder that know distances only, and no biases at all."""

from __future__ import annotations

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import GATED, PLAIN, block, classifier, labels
from model.checkpoints.weight_mapping import Choices, Family, Head, Rows, bare
from model.config_groups import Answer, Distances

FEEDFORWARDS = PLAIN | {f"gated-{act}": gate for act, gate in GATED.items()} | {"gated-gelu": "geglu-tanh"}


def t5(fields: Fields) -> Choices:
    """Unscaled scores, buckets of distances, depths of their own."""
    depth = fields.depth("num_layers", 6)
    return {
        "architecture": "encoder-decoder",
        "vocabulary": fields.size("vocab_size", 32_128),
        "context": fields.size("n_positions", 512),
        "width": fields.size("d_model", 512),
        "layers": fields.depth("num_decoder_layers", depth),
        "encoder_layers": depth,
        "heads": fields.size("num_heads", 8),
        "head_width": fields.size("d_kv", 64),
        "inner": fields.size("d_ff", 2048),
        "feedforward": fields.choice("feed_forward_proj", "relu", FEEDFORWARDS),
        "norm": "rmsnorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-6),
        "position": "relative",
        "distances": Distances(
            buckets=fields.size("relative_attention_num_buckets", 32),
            furthest=fields.size("relative_attention_max_distance", 128),
        ),
        "scale": False,
        "start_token": fields.size(("decoder_start_token_id", "pad_token_id"), 0),
    }


def language(fields: Fields) -> Choices:
    """Outputs are scaled where they meet the embedding's own weights, also in old files, which do not say so."""
    scaled = fields.flag("scale_decoder_outputs", fields.flag("tie_word_embeddings", True))
    scale = max(fields.size("d_model", 512), 1) ** -0.5 if scaled else 1.0
    return {"top": "language", "tied": True, "answer": Answer(scale=scale)}


def encoder(fields: Fields) -> Choices:
    """The encoder alone."""
    return {"architecture": "encoder", "layers": fields.depth("num_layers", 6), "encoder_layers": 0, "masks": (),
            "top": "none"}  # fmt: skip


def tokens(fields: Fields) -> Choices:
    """The encoder alone, with a label for each token."""
    return {**encoder(fields), "top": "token-classifier", "labels": labels(fields)}


_CLASSIFIER = classifier(
    "classification_head.out_proj",
    rows={"top.transform.dense": "classification_head.dense"},
    pooling="last",
    answer=Answer(transform="dense", activation="tanh"),
    biases=("transform",),
)


def _attention(ours: str, theirs: str) -> Rows:
    return {f"{ours}_attention.{name}": f"{theirs}.{name[0]}" for name in ("query", "key", "value", "output")}


def _feedforward(place: str) -> Rows:
    return {
        "feedforward_residual.norm": f"{place}.layer_norm",
        "feedforward.gate": f"{place}.DenseReluDense.wi_0",
        "feedforward.rise": f"{place}.DenseReluDense.wi|{place}.DenseReluDense.wi_1",
        "feedforward.fall": f"{place}.DenseReluDense.wo",
    }


_SELF: Rows = {**_attention("self", "layer.0.SelfAttention"), "self_residual.norm": "layer.0.layer_norm"}
_CROSS: Rows = {**_attention("cross", "layer.1.EncDecAttention"), "cross_residual.norm": "layer.1.layer_norm"}
_AROUND: Rows = {
    "embedding": "shared|encoder.embed_tokens",
    "encoder.position.distances": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "decoder.position.distances": "decoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "encoder.norm": "encoder.final_layer_norm",
    "decoder.norm": "decoder.final_layer_norm",
}
T5 = Family(
    t5,
    _AROUND
    | block("encoder", "encoder.block.{i}.", _SELF | _feedforward("layer.1"))
    | block("decoder", "decoder.block.{i}.", _SELF | _CROSS | _feedforward("layer.2")),
    {
        "ForConditionalGeneration": Head(language, {"top.project": "lm_head"}),
        "ForSequenceClassification": _CLASSIFIER,
        "ForTokenClassification": Head(tokens, {"top.project": "classifier"}),
        "EncoderModel": Head(encoder),
        "Model": Head(bare, ignored=("lm_head.weight",)),
    },
    base="transformer.",  # of the classifiers alone
    ignored=(
        "encoder.embed_tokens.weight",
        "decoder.embed_tokens.weight",
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    ),
    accepted={"is_decoder": False},
    inert=("dropout_rate", "dense_act_fn", "is_gated_act"),  # the last two follow from feed_forward_proj
    also={
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_hidden_layers": "num_layers",
        "head_dim": "d_kv",
    },
)
