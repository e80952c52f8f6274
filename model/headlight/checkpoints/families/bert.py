"""BERT and its relatives: RoBERTa, XLM-R, CamemBERT, MPNet, ESM, DistilBERT, Nomic BERT, ELECTRA, ALBERT, DeBERTa."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    GATED_MLP_ACTIVATIONS,
    MLP_ACTIVATIONS,
    SUMMARY_FIELDS,
    block_rows,
    block_rules,
    classifier_head,
    fused,
    head_and_context,
    language_head,
    padding_id,
    rope_config,
    sizes,
    span_head,
)
from headlight.checkpoints.weight_mapping import (
    ConfigValues,
    Family,
    FindTensor,
    HeadMapping,
    WeightRules,
    last_positions,
    rule,
    stacked_qkv,
)
from headlight.config import (
    Config,
    EmbeddingConfig,
    OutputHeadConfig,
    PerLayerConfig,
    RelativePositionConfig,
    RopeConfig,
)
from headlight.errors import CheckpointError, ConfigError


def shared_config(
    fields: ConfigReader, vocabulary: int = 30_522, width: int = 768, activation: str = "gelu"
) -> ConfigValues:
    """A bidirectional encoder with learned positions, post-norm, and biases."""
    return {
        "architecture": "encoder",
        **sizes(fields, vocabulary, 512, width, 12, 12, 3072),
        "feed_forward": fields.choice("hidden_act", activation, MLP_ACTIVATIONS),
        "norm_epsilon": fields.number("layer_norm_eps", 1e-12),
        "embedding": EmbeddingConfig(segments=fields.integer("type_vocab_size", 2)),
        **ENCODER_CONFIG,
    }


ENCODER_CONFIG = {
    "norm": "layernorm",
    "norm_placement": "post",
    "embedding.norm": True,
    "positional_encoding": "learned",
    "masks": (),
    "bias": True,
}


def bert(fields: ConfigReader) -> ConfigValues:
    """Devlin et al. 2019."""
    return shared_config(fields)


def roberta(fields: ConfigReader, vocabulary: int = 50_265) -> ConfigValues:
    """RoBERTa: positions start after the padding token's id."""
    choices = shared_config(fields, vocabulary)
    first = padding_id(fields) + 1
    return choices | {"context_length": max(choices["context_length"] - first, 1)}


def mpnet(fields: ConfigReader) -> ConfigValues:
    """MPNet: learned positions that begin at number 2, and one relative bias for all layers; no segments."""
    choices = shared_config(fields.with_defaults(type_vocab_size=0), vocabulary=30_527)
    return choices | {
        "context_length": max(choices["context_length"] - 2, 1),
        "positional_encoding": "relative",
        "relative_position": RelativePositionConfig(absolute_positions=True),
    }


def nomic_bert(fields: ConfigReader) -> ConfigValues:
    """Nomic BERT: rotary embedding, gated feed-forward, biases only in the norms."""
    choices = shared_config(fields.with_defaults(max_position_embeddings=2048), vocabulary=30_528)
    head_width = fields.integer("head_dim", 0) or head_and_context(choices)[0]
    return choices | {
        "head_dim": head_width,
        "feed_forward": fields.choice("hidden_act", "silu", GATED_MLP_ACTIVATIONS),
        "positional_encoding": "rope",
        "rope": rope_config(fields, head_width, choices["context_length"], theta=1_000.0),
        "bias": False,
        "biases": ("norm", "transform"),
    }


def esm(fields: ConfigReader) -> ConfigValues:
    """ESM, for proteins: pre-norm, learned or rotary positions; embeddings of mask tokens are 0 (token_dropout)."""
    choices = roberta(fields.with_defaults(type_vocab_size=0, max_position_embeddings=1026, hidden_act="gelu"))
    positions = fields.choice("position_embedding_type", "absolute", {"absolute": "learned", "rotary": "rope"})
    dropped = fields.integer("mask_token_id", 0) if fields.boolean("token_dropout", False) else None
    head_width = head_and_context(choices)[0]
    return choices | {
        "embedding": EmbeddingConfig(dropped_token_id=dropped),
        "positional_encoding": positions,
        "rope": rope_config(fields, head_width, choices["context_length"]) if positions == "rope" else RopeConfig(),
        "norm_placement": "pre",
        "embedding.norm": fields.boolean("emb_layer_norm_before", False),
        "output_head_config.contact_end_id": 2
        if any("contact_head." in name for name in fields.tensor_names)
        else None,
    }


def _esm_uncounted_id(fields: ConfigReader) -> int | None:
    """Rotary positions count padding."""
    return None if fields.values.get("position_embedding_type") == "rotary" else padding_id(fields)


def stored_frequencies(config: Config, find: FindTensor) -> ConfigValues:
    """The rotary frequencies of ESM, a table of its file, if they differ from the usual ones (trained or rounded)."""
    layers = (*range(config.layers), "*")  # transformers 5 writes one table, for any layer
    names = ("rotary", *(f"encoder.layer.{layer}.attention.self.rotary" for layer in layers))
    found = [table for name in names if (table := find(f"{name}_embeddings.inv_freq")) is not None]
    usual = config.rope.theta ** -(torch.arange(0, config.head_dim, 2) / config.head_dim)
    if config.positional_encoding != "rope" or all(_are_close(usual, table) for table in found):
        return {}
    divisors = usual / found[0] if found[0].shape == usual.shape else usual / 0
    if not all(_are_close(found[0], table) for table in found) or not divisors.isfinite().all():
        raise ConfigError(
            "its layers store rotary frequencies that differ, are 0 or do not fit its heads; one table for all is read."
        )
    factors = tuple(divisors.tolist())
    return {"rope": replace(config.rope, scaling="longrope", short_factor=factors, long_factor=factors)}


def _are_close(table: Tensor, other: Tensor) -> bool:
    return table.shape == other.shape and torch.allclose(table, other, rtol=1e-6, atol=0)


def distilbert(fields: ConfigReader) -> ConfigValues:
    """DistilBERT: other field names, no segments."""
    names = {"d_model": "dim", "layers": "n_layers", "heads": "n_heads", "d_ff": "hidden_dim"}
    return {
        "architecture": "encoder",
        **sizes(fields, 30_522, 512, 768, 6, 12, 3072, **names),
        "feed_forward": fields.choice("activation", "gelu", MLP_ACTIVATIONS),
        "norm_epsilon": 1e-12,
        **ENCODER_CONFIG,
    }


def electra(fields: ConfigReader) -> ConfigValues:
    """ELECTRA: embeddings may be smaller than d_model, and are projected up after their norm."""
    choices = shared_config(fields.with_defaults(num_attention_heads=4, intermediate_size=1024), width=256)
    embedding_size = fields.integer("embedding_size", 128)
    return choices | {
        "embedding": EmbeddingConfig(
            dim=embedding_size,
            projection="none" if embedding_size == choices["d_model"] else "all",
            segments=choices["embedding"].segments,
        )
    }


def albert(fields: ConfigReader) -> ConfigValues:
    """ALBERT: groups of layers share weights; embeddings are always projected up to d_model."""
    defaults = {"num_attention_heads": 64, "intermediate_size": 16_384}
    choices = shared_config(fields.with_defaults(**defaults), vocabulary=30_000, width=4096, activation="gelu_new")
    embedding_size = fields.integer("embedding_size", 128)
    layers_per_group = fields.integer("inner_group_num", 1)
    return choices | {
        "layers": choices["layers"] * min(layers_per_group, 2000),
        "embedding": EmbeddingConfig(dim=embedding_size, projection="all", segments=choices["embedding"].segments),
    }


def shared_layer_indices(fields: ConfigReader, layer: int) -> dict[str, int]:
    """The group of a layer, and its index in the group, as ALBERT names its tensors."""
    layers_per_group = max(fields.integer("inner_group_num", 1), 1)
    layers, groups = fields.integer("num_hidden_layers", 12), fields.integer("num_hidden_groups", 1)
    return {"group": layer // layers_per_group * groups // max(layers, 1), "inside": layer % layers_per_group}


def predictions_head(
    transform: str = "cls.predictions.transform.dense",
    norm: str = "cls.predictions.transform.LayerNorm",
    project: str = "cls.predictions.decoder",
    bias: str = "cls.predictions.bias",
    activation_field: str | None = "hidden_act",
    default_activation: str = "gelu",
) -> HeadMapping:
    """A masked-language-model head, with BERT's tensor names unless others are given.

    `activation_field` is the config field of its activation (None: always gelu).
    """

    def read(fields: ConfigReader) -> ConfigValues:
        if activation_field is None:
            return {"activation": "gelu"}
        return {"activation": fields.choice(activation_field, default_activation, MLP_ACTIVATIONS)}

    return language_head(
        project,
        output_head="masked-language-model",
        rows={
            "output_head.transform": transform,
            "output_head.norm": norm,
            "output_head.projection.bias": f"{project}.bias|{bias}",
        },
        ignored_tensors=(*bias.split("|"), "pooler.*"),
        read=read,
    )


def pooled_classifier(dense: str, project: str, activation: str = "tanh") -> HeadMapping:
    """A sequence classifier with a dense layer and an activation on the first token (pooler)."""
    answer = OutputHeadConfig(transform="dense", activation=activation)
    return classifier_head(project, rows={"output_head.transform.dense": dense}, output_head_config=answer)


def encoder_heads(masked: HeadMapping, classifier: HeadMapping) -> dict[str, HeadMapping]:
    """The heads of all these families: these two, a classifier of tokens, and question answering."""
    return {
        "ForMaskedLM": masked,
        "ForSequenceClassification": classifier,
        "ForTokenClassification": classifier_head("classifier", output_head="token-classifier"),
        "ForQuestionAnswering": span_head(),
    }


def replaced_token_config(fields: ConfigReader) -> ConfigValues:
    """ELECTRA's discriminator head: whether a token was replaced."""
    answer = OutputHeadConfig(transform="dense", activation=fields.choice("hidden_act", "gelu", MLP_ACTIVATIONS))
    return {"output_head": "token-classifier", "labels": ("replaced",), "output_head_config": answer}


_LAYER = block_rows(
    "attention.output.LayerNorm",
    ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"],
    "output.LayerNorm",
    ["intermediate.dense", "output.dense"],
)
OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "embeddings.word_embeddings",
    "encoder.positional_encoding.table": "embeddings.position_embeddings",
    "segment_embedding": "embeddings.token_type_embeddings",
    "encoder.embedding_norm": "embeddings.LayerNorm",
}
_STACK = block_rules("encoder", "encoder.layer.{i}.", _LAYER)
_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
_PREDICTIONS = predictions_head()
_REQUIRED_VALUES = {"is_decoder": False, "position_embedding_type": "absolute"}
BERT = Family(
    bert,
    OUTSIDE_BLOCKS | _STACK,
    encoder_heads(_PREDICTIONS, pooled_classifier("pooler.dense", "classifier")) | {"ForPreTraining": _PREDICTIONS},
    base_model_prefix="bert.",
    ignored_tensors=(*_BUFFERS, "pooler.*", "cls.seq_relationship.*"),
    required_values=_REQUIRED_VALUES,
)


_ROBERTA_HEADS = encoder_heads(
    predictions_head("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias", activation_field=None),
    pooled_classifier("classifier.dense", "classifier.out_proj"),
)
_ROBERTA_POSITIONS = rule("embeddings.position_embeddings", last_positions)
ROBERTA = Family(
    roberta,
    OUTSIDE_BLOCKS | _STACK | {"encoder.positional_encoding.table": _ROBERTA_POSITIONS},
    _ROBERTA_HEADS,
    base_model_prefix="roberta.",
    ignored_tensors=(*_BUFFERS, "pooler.*"),
    required_values=_REQUIRED_VALUES,
    uncounted_id=padding_id,
)
XLM_ROBERTA = replace(ROBERTA, config_values=partial(roberta, vocabulary=30_522))
_ESM_BLOCK = _LAYER | {
    "self_attention_residual.norm": "attention.LayerNorm",
    "feed_forward_residual.norm": "LayerNorm",
}
ESM = replace(
    ROBERTA,
    config_values=esm,
    weights=OUTSIDE_BLOCKS
    | block_rules("encoder", "encoder.layer.{i}.", _ESM_BLOCK)
    | {
        "encoder.positional_encoding.table": _ROBERTA_POSITIONS,
        "encoder.embedding_norm": "embeddings.layer_norm",
        "encoder.final_norm": "encoder.emb_layer_norm_after",
        "contact_head": "contact_head.regression",
    },
    base_model_prefix="esm.",
    ignored_tensors=(*ROBERTA.ignored_tensors, "embeddings.position_embeddings.*", "*.rotary_embeddings.inv_freq",
                     "rotary_embeddings.inv_freq"),
    stored_tables=stored_frequencies,
    required_values={"is_decoder": False, "is_folding_model": False, "hidden_act": "gelu"},
    uncounted_id=_esm_uncounted_id,
    ignored_fields=("esmfold_config", "vocab_list", "rope_theta"),  # the last one only affects rotary positions
)  # fmt: skip
_MPNET_BLOCK = block_rows(
    "attention.LayerNorm",
    [f"attention.attn.{name}" for name in "qkvo"],
    "output.LayerNorm",
    ["intermediate.dense", "output.dense"],
)
MPNET = Family(
    mpnet,
    OUTSIDE_BLOCKS
    | block_rules("encoder", "encoder.layer.{i}.", _MPNET_BLOCK)
    | {
        "encoder.positional_encoding.absolute.table": _ROBERTA_POSITIONS,
        "encoder.positional_encoding.bias_table": "encoder.relative_attention_bias",
    },
    _ROBERTA_HEADS,
    base_model_prefix="mpnet.",
    ignored_tensors=(*_BUFFERS, "pooler.*"),
    required_values={"relative_attention_num_buckets": 32},
    uncounted_id=lambda fields: 1,  # whatever its config says
)
_NOMIC_BLOCK = block_rows(
    "norm1",
    [*fused("attn.Wqkv", stacked_qkv), "attn.out_proj"],
    "norm2",
    ["mlp.fc12", "mlp.fc11", "mlp.fc2"],
)
# Fields of its first files, each with the same value in all published checkpoints.
_NOMIC_REQUIRED_VALUES = {
    **dict.fromkeys(("qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias", "prenorm", "parallel_block"), False),
    **dict.fromkeys(("rotary_emb_interleaved", "use_rms_norm", "causal", "scale_attn_by_inverse_layer_idx"), False),
    "activation_function": "swiglu",
    **{"rotary_emb_fraction": 1, "rotary_scaling_factor": (), "rotary_emb_scale_base": (), "scale_attn_weights": True},
}
NOMIC_BERT = Family(
    nomic_bert,
    OUTSIDE_BLOCKS
    | {"encoder.embedding_norm": "embeddings.LayerNorm|emb_ln"}
    | block_rules("encoder", "encoder.layers.{i}.", _NOMIC_BLOCK),
    encoder_heads(
        predictions_head(norm="cls.predictions.transform.layer_norm", default_activation="silu"),
        pooled_classifier("pooler.dense", "classifier"),
    ),
    base_model_prefix="nomic_bert.",
    ignored_tensors=(*_BUFFERS, "pooler.*"),
    required_values=_NOMIC_REQUIRED_VALUES,
    ignored_fields=(
        *SUMMARY_FIELDS, "dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln", "max_trained_positions",
        "pad_vocab_size_multiple", "parallel_block_tied_norm", "reorder_and_upcast_attn", "use_flash_attn",
        "use_xentropy",
    ),
    attribute_map={
        "n_embd": "hidden_size", "n_head": "num_attention_heads", "n_layer": "num_hidden_layers",
        "n_inner": "intermediate_size", "n_positions": "max_position_embeddings",
        "layer_norm_epsilon": "layer_norm_eps", "rotary_emb_base": "rope_theta",
    },
)  # fmt: skip
DISTILBERT = Family(
    distilbert,
    OUTSIDE_BLOCKS
    | block_rules(
        "encoder",
        "transformer.layer.{i}.",
        block_rows(
            "sa_layer_norm",
            ["attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"],
            "output_layer_norm",
            ["ffn.lin1", "ffn.lin2"],
        ),
    ),
    encoder_heads(
        predictions_head("vocab_transform", "vocab_layer_norm", "vocab_projector", "-", activation_field="activation"),
        pooled_classifier("pre_classifier", "classifier", "relu"),
    ),
    base_model_prefix="distilbert.",
    ignored_tensors=_BUFFERS,
    ignored_fields=("sinusoidal_pos_embds", "qa_dropout", "seq_classif_dropout"),  # sinusoids are stored as a table
    attribute_map={"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
)
ELECTRA = Family(
    electra,
    OUTSIDE_BLOCKS | _STACK | {"encoder.project_in": "embeddings_project"},
    encoder_heads(
        predictions_head(
            "generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head", "-", None
        ),
        pooled_classifier("classifier.dense", "classifier.out_proj", "gelu"),
    )
    | {
        "ForPreTraining": HeadMapping(
            replaced_token_config,
            {
                "output_head.transform.dense": "discriminator_predictions.dense",
                "output_head.projection": "discriminator_predictions.dense_prediction",
            },
        ),
    },
    base_model_prefix="electra.",
    ignored_tensors=_BUFFERS,
    required_values=_REQUIRED_VALUES,
    ignored_fields=SUMMARY_FIELDS,
)
_ALBERT_PREDICTIONS = predictions_head(
    "predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias", "hidden_act", "gelu_new"
)
ALBERT = Family(
    albert,
    OUTSIDE_BLOCKS
    | {"encoder.project_in": "encoder.embedding_hidden_mapping_in"}
    | block_rules(
        "encoder",
        "encoder.albert_layer_groups.{group}.albert_layers.{inside}.",
        block_rows(
            "attention.LayerNorm",
            ["attention.query", "attention.key", "attention.value", "attention.dense"],
            "full_layer_layer_norm",
            ["ffn", "ffn_output"],
        ),
    ),
    encoder_heads(_ALBERT_PREDICTIONS, pooled_classifier("pooler", "classifier"))
    | {"ForPreTraining": _ALBERT_PREDICTIONS},
    base_model_prefix="albert.",
    ignored_tensors=(*_BUFFERS, "pooler.*", "sop_classifier.*"),
    required_values={"position_embedding_type": "absolute"},
    name_indices=shared_layer_indices,
)


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


_DEBERTA_BLOCK: WeightRules = _LAYER | {
    "self_attention.query": "attention.self.query_proj",
    "self_attention.key": "attention.self.key_proj",
    "self_attention.value": "attention.self.value_proj",
    "self_attention.relative_position_projection.key": "attention.self.pos_key_proj|attention.self.key_proj",
    "self_attention.relative_position_projection.query": "attention.self.pos_query_proj|attention.self.query_proj",
}
_DEBERTA_RELATIVE_POSITIONS: WeightRules = {
    "encoder.positional_encoding.absolute.table": "embeddings.position_embeddings",
    "encoder.positional_encoding.relative_embedding": "encoder.rel_embeddings",
    "encoder.positional_encoding.norm": "encoder.LayerNorm",
}
DEBERTA = Family(
    deberta,
    OUTSIDE_BLOCKS | _DEBERTA_RELATIVE_POSITIONS | block_rules("encoder", "encoder.layer.{i}.", _DEBERTA_BLOCK),
    encoder_heads(
        predictions_head(
            "cls.predictions.transform.dense|lm_predictions.lm_head.dense",
            "cls.predictions.transform.LayerNorm|lm_predictions.lm_head.LayerNorm",
            bias="cls.predictions.bias|lm_predictions.lm_head.bias",
        ),
        classifier_head("classifier", rows={"output_head.transform.dense": "pooler.dense"}, read=deberta_pooler),
    ),
    base_model_prefix="deberta.",
    # encoder.LayerNorm normalizes the relative embeddings; it is stored even if they are not used.
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
