"""Encoder-decoders: BART and Marian, M2M-100, mBART, Pegasus, Blenderbot and Whisper; T5, v1.1, mT5 and UMT5."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    GATED_MLP_ACTIVATIONS,
    MLP_ACTIVATIONS,
    block_rows,
    block_rules,
    classifier_head,
    language_head,
    padding_id,
    read_labels,
    sizes,
    sound_classifier,
)
from headlight.checkpoints.families.speech import unused_table
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    FindTensor,
    HeadMapping,
    WeightRules,
    beside_each_other,
    flatten,
    no_head,
    rule,
    skip_rows,
)
from headlight.config import (
    Config,
    EmbeddingConfig,
    OutputHeadConfig,
    RelativePositionConfig,
    SinusoidalConfig,
    SoundConfig,
)
from headlight.nn.positional_encodings import SINUSOIDAL_BASE


def shared_config(
    fields: ConfigReader, vocabulary: int, activation: str, start_token: int, **names: str
) -> ConfigValues:
    """Fields of both families: sizes, post-norm, biases; `names` are the field names that differ."""
    names |= {"layers": "decoder_layers", "heads": "decoder_attention_heads", "d_ff": "decoder_ffn_dim"}
    found = sizes(fields, vocabulary, 1024, 1024, 12, 16, 4096, d_model="d_model", **names)
    return found | {
        "architecture": "encoder-decoder",
        "encoder.layers": fields.layer_count("encoder_layers", 12),
        "encoder.heads": fields.integer("encoder_attention_heads", 16),
        "encoder.d_ff": fields.integer("encoder_ffn_dim", 4096),
        "embedding": EmbeddingConfig(
            scale=found["d_model"] ** 0.5 if fields.boolean("scale_embedding", False) else 1.0,
            separate_encoder=_has_separate_encoder(fields),
        ),
        "feed_forward": fields.choice("activation_function", activation, MLP_ACTIVATIONS),
        "norm": "layernorm",
        "norm_placement": "post",
        "bias": True,
        "decoder.start_token_id": fields.integer("decoder_start_token_id", start_token),
    }


def _has_separate_encoder(fields: ConfigReader) -> bool:
    """Whether encoder and decoder have separate embeddings, as in files without tied weights."""
    tied, names = fields.boolean("tie_word_embeddings", True), fields.tensor_names
    return not tied and all(any(name.endswith(copy) for name in names) for copy in _COPIES)


def stored_embeddings(config: Config, find: FindTensor) -> ConfigValues:
    """A table for each stack if the file stores different ones, because the model was trained with separate tables."""
    tables = {name: find(f"{name}.weight") for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens")}
    found = [table for table in tables.values() if table is not None]
    if not config.has_cross_attention or all(torch.equal(found[0], other) for other in found[1:]):
        return {}
    shared, decoder = tables["shared"], tables["decoder.embed_tokens"]
    is_shared = shared is None or decoder is None or torch.equal(shared, decoder)
    return {"embedding.separate_encoder": True} | ({} if is_shared else {"embedding.tied": False})


def stored_positions(config: Config, find: FindTensor) -> ConfigValues:
    """Learned positions if the file stores other tables than the sinusoids: trained ones, or only rounded ones."""
    values, shape = stored_embeddings(config, find), (config.context_length, config.d_model)
    found = [find(f"{stack}.embed_positions.weight") for stack in ("encoder", "decoder")]
    known = all(
        table is None or (table.shape == shape and torch.allclose(table, _sinusoids(*shape), atol=1e-6))
        for table in found
    )
    return values if known else values | {"positional_encoding": "learned"}


def _sinusoids(length: int, width: int) -> Tensor:
    """The usual table [position channel]; only computed beside a stored one, because a config may claim any length."""
    channels = torch.arange(0, width, 2, dtype=torch.float64)
    angles = torch.arange(length)[:, None] / SINUSOIDAL_BASE ** (channels / width)
    return torch.cat((angles.sin(), angles.cos()[:, : width // 2]), dim=1).float()


def bart(fields: ConfigReader) -> ConfigValues:
    """Learned positions, LayerNorm on the embeddings."""
    return shared_config(fields, 50_265, "gelu", 2) | {"positional_encoding": "learned", "embedding.norm": True}


def marian(fields: ConfigReader) -> ConfigValues:
    """Sinusoidal positional encodings."""
    vocabulary = fields.integer("vocab_size", 58_101)
    fields.require_values({"decoder_vocab_size": vocabulary})
    return shared_config(fields, 58_101, "gelu", 58_100) | {"positional_encoding": "sinusoidal-halves"}


PRE_NORM = {"norm_placement": "pre", "final_norm": True}


def m2m_100(fields: ConfigReader) -> ConfigValues:
    """M2M-100 and NLLB: sinusoids that start after the padding token's id; pre-norm."""
    waves = SinusoidalConfig(first_position=padding_id(fields) + 1, reaches_base=True)
    choices = shared_config(fields, 128_112, "relu", 2)
    return choices | PRE_NORM | {"positional_encoding": "sinusoidal-halves", "sinusoidal": waves}


def pegasus(fields: ConfigReader) -> ConfigValues:
    """Sinusoidal positional encodings; pre-norm."""
    return shared_config(fields, 50_265, "gelu", 0) | PRE_NORM | {"positional_encoding": "sinusoidal-halves"}


def blenderbot(fields: ConfigReader) -> ConfigValues:
    """Learned positions; pre-norm."""
    return shared_config(fields, 8008, "gelu", 1) | PRE_NORM | {"positional_encoding": "learned"}


def whisper(fields: ConfigReader) -> ConfigValues:
    """The encoder reads a log-mel spectrogram through two convolutions; its sinusoids are a table in the file."""
    choices = shared_config(fields, 51_865, "gelu", 50_257, context_length="max_target_positions")
    sound = SoundConfig(
        rate=16_000,
        mel_bins=fields.integer("num_mel_bins", 80),
        window=400,
        hop=160,
        frames=fields.integer("max_source_positions", 1500),
        channels=(choices["d_model"],) * 2,
        kernels=(3, 3),
        strides=(1, 2),
        padded=True,
    )
    biases = ("query", "value", "output", "up", "down", "norm")
    return choices | PRE_NORM | {"positional_encoding": "learned", "sound": sound, "bias": False, "biases": biases}


def whisper_encoder(fields: ConfigReader) -> ConfigValues:
    """The encoder alone, for a classifier; it has no tokens."""
    choices = whisper(fields)
    return {
        "architecture": "encoder",
        "vocabulary_size": 1,
        "context_length": choices["sound"].frames,
        "layers": choices["encoder.layers"],
        "heads": choices["encoder.heads"],
        "d_ff": choices["encoder.d_ff"],
        "masks": (),
        "biases": (*choices["biases"], "transform"),
        **{name: 0 for name in ("encoder.layers", "encoder.heads", "encoder.d_ff", "decoder.start_token_id")},
    }


def language_config(fields: ConfigReader) -> ConfigValues:
    """A language-model head, which may have a bias on the logits."""
    tied = fields.boolean("tie_word_embeddings", True)
    return {
        "output_head": "language-model",
        "embedding.tied": tied,
        "output_head_config": OutputHeadConfig(bias="final_logits_bias" in fields.tensor_names),
    }


BLOCK = block_rows(
    "self_attn_layer_norm",
    ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"],
    "final_layer_norm",
    ["fc1", "fc2"],
)
CROSS: WeightRules = {
    "cross_attention.query": "encoder_attn.q_proj",
    "cross_attention.key": "encoder_attn.k_proj",
    "cross_attention.value": "encoder_attn.v_proj",
    "cross_attention.output": "encoder_attn.out_proj",
    "cross_attention_residual.norm": "encoder_attn_layer_norm",
}
_BLOCKS = block_rules("encoder", "encoder.layers.{i}.", BLOCK) | block_rules(
    "decoder", "decoder.layers.{i}.", BLOCK | CROSS
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
_UNTIED_EMBEDDINGS: WeightRules = {
    "embedding": "decoder.embed_tokens|shared",
    "source_embedding": "encoder.embed_tokens|shared",
}
_POSITIONS: WeightRules = {
    f"{stack}.positional_encoding.table": f"{stack}.embed_positions" for stack in ("encoder", "decoder")
}
_REQUIRED_VALUES = {
    "is_encoder_decoder": True,
    "is_decoder": False,
    "normalize_before": False,
    "add_final_layer_norm": False,
}
IGNORED_FIELDS = ("activation_dropout", "decoder_layerdrop", "encoder_layerdrop")
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
    ignored_fields=IGNORED_FIELDS,
    attribute_map=_ATTRIBUTE_MAP,
    untied_weights=_UNTIED_EMBEDDINGS,
    stored_tables=stored_embeddings,
)
MARIAN = Family(
    marian,
    _EMBEDDING | _POSITIONS | _BLOCKS,
    {"MTModel": HeadMapping(language_config, _HEAD)},
    base_model_prefix="model.",
    ignored_tensors=("shared.weight", *_COPIES, "encoder.embed_positions.weight", "decoder.embed_positions.weight"),
    required_values=_REQUIRED_VALUES | {"share_encoder_decoder_embeddings": True},
    ignored_fields=IGNORED_FIELDS,
    attribute_map=_ATTRIBUTE_MAP,
    untied_weights=_UNTIED_EMBEDDINGS,
    stored_tables=stored_positions,
)


_FINAL_NORMS: WeightRules = {
    "encoder.final_norm": "encoder.layer_norm",
    "decoder.final_norm": "decoder.layer_norm",
}
_PRE_NORM_VALUES = _REQUIRED_VALUES | {"normalize_before": True, "add_final_layer_norm": True}
_PRE_NORM_FIELDS = (
    *IGNORED_FIELDS, "add_bias_logits", "do_blenderbot_90_layernorm", "encoder_no_repeat_ngram_size",
    "extra_layer_norm", "extra_pos_embeddings", "force_bos_token_to_be_generated", "layernorm_variant",
    "normalize_embedding", "save_step", "static_position_embeddings",
)  # fmt: skip
_WRAPPED_CLASSIFIER = replace(
    _CLASSIFIER, config_values=lambda fields: {**_CLASSIFIER.config_values(fields), "decoder.starts_with_last": True}
)
MBART = replace(
    BART,
    config_values=lambda fields: bart(fields) | PRE_NORM,
    weights=BART.weights | _FINAL_NORMS,
    heads_by_class={**BART.heads_by_class, "ForSequenceClassification": _WRAPPED_CLASSIFIER},
    required_values=_PRE_NORM_VALUES,
    ignored_fields=_PRE_NORM_FIELDS,
)
PEGASUS = replace(
    MBART,
    config_values=pegasus,
    weights=_EMBEDDING | _POSITIONS | _FINAL_NORMS | _BLOCKS,
    heads_by_class={"ForConditionalGeneration": HeadMapping(language_config, _HEAD)},
    ignored_tensors=(*BART.ignored_tensors, "encoder.embed_positions.weight", "decoder.embed_positions.weight"),
    stored_tables=stored_positions,
)
M2M_100 = replace(
    PEGASUS,
    config_values=m2m_100,
    stored_tables=stored_embeddings,  # it computes its positions, whatever the file stores
    uncounted_id=padding_id,
    defaults={"scale_embedding": True},
)
BLENDERBOT = replace(
    PEGASUS,
    config_values=blenderbot,
    ignored_tensors=BART.ignored_tensors,
    stored_tables=stored_embeddings,
    defaults={
        "max_position_embeddings": 128, "d_model": 2560, "encoder_layers": 2, "decoder_layers": 24,
        "encoder_ffn_dim": 10_240, "decoder_ffn_dim": 10_240, "encoder_attention_heads": 32,
        "decoder_attention_heads": 32,
    },
)  # fmt: skip

_SOUND_CLASSIFIER = sound_classifier(whisper_encoder)
_NO_TOKENS: WeightRules = {"embedding.weight": rule("encoder.layer_norm.weight", unused_table)}
WHISPER = replace(
    PEGASUS,
    config_values=whisper,
    weights=_FINAL_NORMS
    | _BLOCKS
    | _POSITIONS
    | {"embedding": "decoder.embed_tokens", "sound_embedding.convolutions.{i}": "encoder.conv{next}"},
    heads_by_class={
        "ForConditionalGeneration": HeadMapping(language_config, {"output_head.projection": "proj_out"}),
        "ForAudioClassification": replace(_SOUND_CLASSIFIER, weights=_SOUND_CLASSIFIER.weights | _NO_TOKENS),
    },
    name_indices=lambda fields, layer: {"i": layer, "next": layer + 1},
    ignored_tensors=("proj_out.weight",),
    stored_tables=stored_embeddings,
    required_values={"is_encoder_decoder": True, "scale_embedding": False},
    ignored_fields=(
        *IGNORED_FIELDS, "suppress_tokens", "begin_suppress_tokens", "use_weighted_layer_sum", "classifier_proj_size",
        "apply_spec_augment", "mask_time_prob", "mask_time_length", "mask_time_min_masks", "mask_feature_prob",
        "mask_feature_length", "mask_feature_min_masks", "median_filter_width",
    ),
    defaults={
        "max_target_positions": 448, "d_model": 384, "encoder_layers": 4, "decoder_layers": 4,
        "encoder_attention_heads": 6, "decoder_attention_heads": 6, "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536,
    },
)  # fmt: skip


FEEDFORWARD_ACTIVATIONS = (
    MLP_ACTIVATIONS
    | {f"gated-{act}": gate for act, gate in GATED_MLP_ACTIVATIONS.items()}
    | {"gated-gelu": "geglu-tanh"}
)


def t5(fields: ConfigReader) -> ConfigValues:
    """Unscaled scores, relative position buckets; encoder and decoder may differ in depth."""
    encoder_layers = fields.layer_count("num_layers", 6)
    names = {"context_length": "n_positions", "layers": "num_decoder_layers", "heads": "num_heads"}
    return {
        "architecture": "encoder-decoder",
        **sizes(fields, 32_128, 512, 512, encoder_layers, 8, 2048, d_model="d_model", d_ff="d_ff", **names),
        "encoder.layers": encoder_layers,
        "head_dim": fields.integer("d_kv", 64),
        "feed_forward": fields.choice("feed_forward_proj", "relu", FEEDFORWARD_ACTIVATIONS),
        "norm": "rmsnorm",
        "norm_epsilon": fields.number("layer_norm_epsilon", 1e-6),
        "positional_encoding": "relative",
        "relative_position": RelativePositionConfig(
            buckets=fields.integer("relative_attention_num_buckets", 32),
            max_distance=fields.integer("relative_attention_max_distance", 128),
        ),
        "attention.scale": False,
        "decoder.start_token_id": fields.integer(("decoder_start_token_id", "pad_token_id"), 0),
    }


def umt5(fields: ConfigReader) -> ConfigValues:
    """T5 with relative biases for each layer."""
    choices = t5(fields)
    return choices | {"relative_position": replace(choices["relative_position"], each_layer=True)}


def t5_language_config(fields: ConfigReader) -> ConfigValues:
    """Logits are scaled by d_model^-0.5 if the embedding is tied, also in old files, which do not state it."""
    scaled = fields.boolean("scale_decoder_outputs", fields.boolean("tie_word_embeddings", True))
    scale = max(fields.integer("d_model", 512), 1) ** -0.5 if scaled else 1.0
    return {
        "output_head": "language-model",
        "embedding.tied": True,
        "output_head_config": OutputHeadConfig(logit_scale=scale),
    }


def encoder_config(fields: ConfigReader) -> ConfigValues:
    """The encoder alone."""
    return {"architecture": "encoder", "layers": fields.layer_count("num_layers", 6), "encoder.layers": 0, "masks": (),
            "output_head": "none"}  # fmt: skip


def token_config(fields: ConfigReader) -> ConfigValues:
    """The encoder alone, with a token classifier."""
    return {**encoder_config(fields), "output_head": "token-classifier", "labels": read_labels(fields)}


_T5_CLASSIFIER = classifier_head(
    "classification_head.out_proj",
    rows={"output_head.transform.dense": "classification_head.dense"},
    pooling="last",
    output_head_config=OutputHeadConfig(transform="dense", activation="tanh"),
    biases=("transform",),
)


def _t5_attention(ours: str, theirs: str) -> WeightRules:
    return {f"{ours}_attention.{name}": f"{theirs}.{name[0]}" for name in ("query", "key", "value", "output")}


def _t5_feed_forward(prefix: str) -> WeightRules:
    return {
        "feed_forward_residual.norm": f"{prefix}.layer_norm",
        "feed_forward.gate": f"{prefix}.DenseReluDense.wi_0",
        "feed_forward.up": f"{prefix}.DenseReluDense.wi|{prefix}.DenseReluDense.wi_1",
        "feed_forward.down": f"{prefix}.DenseReluDense.wo",
    }


_T5_SELF: WeightRules = {
    **_t5_attention("self", "layer.0.SelfAttention"),
    "self_attention_residual.norm": "layer.0.layer_norm",
}
_T5_CROSS: WeightRules = {
    **_t5_attention("cross", "layer.1.EncDecAttention"),
    "cross_attention_residual.norm": "layer.1.layer_norm",
}
_T5_OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "shared|encoder.embed_tokens",
    "encoder.positional_encoding.bias_table": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "decoder.positional_encoding.bias_table": "decoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "encoder.final_norm": "encoder.final_layer_norm",
    "decoder.final_norm": "decoder.final_layer_norm",
}
_T5_ENCODER: WeightRules = {"embedding": "encoder.embed_tokens|shared"}
T5 = Family(
    t5,
    _T5_OUTSIDE_BLOCKS
    | block_rules("encoder", "encoder.block.{i}.", _T5_SELF | _t5_feed_forward("layer.1"))
    | block_rules("decoder", "decoder.block.{i}.", _T5_SELF | _T5_CROSS | _t5_feed_forward("layer.2")),
    {
        "ForConditionalGeneration": HeadMapping(t5_language_config, {"output_head.projection": "lm_head"}),
        "ForSequenceClassification": _T5_CLASSIFIER,
        "ForTokenClassification": HeadMapping(token_config, {"output_head.projection": "classifier", **_T5_ENCODER}),
        "EncoderModel": HeadMapping(encoder_config, _T5_ENCODER),
        "Model": HeadMapping(no_head, ignored_tensors=("lm_head.weight",)),
    },
    base_model_prefix="transformer.",  # of the classifiers only
    ignored_tensors=(
        "encoder.embed_tokens.weight",
        "decoder.embed_tokens.weight",
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    ),
    required_values={"is_decoder": False},
    untied_weights=_UNTIED_EMBEDDINGS,
    stored_tables=stored_embeddings,
    ignored_fields=("dropout_rate", "dense_act_fn", "is_gated_act"),  # the last two are derived from feed_forward_proj
    attribute_map={
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_hidden_layers": "num_layers",
        "head_dim": "d_kv",
    },
)
MT5 = replace(
    T5,
    heads_by_class={**T5.heads_by_class, "ForConditionalGeneration": language_head()},
    defaults={
        "vocab_size": 250_112, "d_ff": 1024, "num_layers": 8, "num_heads": 6, "feed_forward_proj": "gated-gelu",
    },
)  # fmt: skip
_UMT5_BIASES: WeightRules = {
    f"{stack}.positional_encoding.bias_table": rule(
        f"{stack}.block.*.layer.0.SelfAttention.relative_attention_bias", beside_each_other
    )
    for stack in ("encoder", "decoder")
}
UMT5 = replace(MT5, config_values=umt5, weights=T5.weights | _UMT5_BIASES, heads_by_class=T5.heads_by_class)
