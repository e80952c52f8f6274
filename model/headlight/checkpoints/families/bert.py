"""BERT and its relatives: RoBERTa, DistilBERT, ELECTRA, ALBERT."""

from __future__ import annotations

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import (
    MLP_ACTIVATIONS,
    SUMMARY_FIELDS,
    block_rules,
    classifier_head,
    masked_language_head,
)
from headlight.checkpoints.weight_mapping import ConfigValues, Family, HeadMapping, WeightRules, last_positions, rule
from headlight.config_groups import EmbeddingConfig, OutputHeadConfig


def shared_config(
    fields: ConfigReader, vocabulary: int = 30_522, width: int = 768, activation: str = "gelu"
) -> ConfigValues:
    """A bidirectional encoder with learned positions, post-norm, and biases."""
    return {
        "architecture": "encoder",
        "vocabulary_size": fields.integer("vocab_size", vocabulary),
        "context_length": fields.integer("max_position_embeddings", 512),
        "d_model": fields.integer("hidden_size", width),
        "layers": fields.layer_count("num_hidden_layers", 12),
        "heads": fields.integer("num_attention_heads", 12),
        "d_ff": fields.integer("intermediate_size", 3072),
        "feed_forward": fields.choice("hidden_act", activation, MLP_ACTIVATIONS),
        "norm_epsilon": fields.number("layer_norm_eps", 1e-12),
        "embedding": EmbeddingConfig(segments=fields.integer("type_vocab_size", 2)),
        **ENCODER_CONFIG,
    }


ENCODER_CONFIG = {
    "norm": "layernorm",
    "norm_placement": "post",
    "embedding_norm": True,
    "positional_encoding": "learned",
    "masks": (),
    "bias": True,
}


def bert(fields: ConfigReader) -> ConfigValues:
    """Devlin et al. 2019."""
    return shared_config(fields)


def roberta(fields: ConfigReader) -> ConfigValues:
    """RoBERTa: positions start after the padding token's id."""
    choices = shared_config(fields, vocabulary=50_265)
    first = fields.integer("pad_token_id", 1) + 1
    return choices | {"context_length": max(choices["context_length"] - first, 1)}


def distilbert(fields: ConfigReader) -> ConfigValues:
    """DistilBERT: other field names, no segments."""
    return {
        "architecture": "encoder",
        "vocabulary_size": fields.integer("vocab_size", 30_522),
        "context_length": fields.integer("max_position_embeddings", 512),
        "d_model": fields.integer("dim", 768),
        "layers": fields.layer_count("n_layers", 6),
        "heads": fields.integer("n_heads", 12),
        "d_ff": fields.integer("hidden_dim", 3072),
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
    transform: str,
    norm: str,
    project: str,
    bias: str,
    activation_field: str | None = "hidden_act",
    default_activation: str = "gelu",
) -> HeadMapping:
    """A masked-language-model head; `activation_field` is the config field of its activation (None: always gelu)."""

    def read_config(fields: ConfigReader) -> OutputHeadConfig:
        if activation_field is None:
            return OutputHeadConfig(activation="gelu")
        return OutputHeadConfig(activation=fields.choice(activation_field, default_activation, MLP_ACTIVATIONS))

    weights: WeightRules = {
        "output_head.transform": transform,
        "output_head.norm": norm,
        "output_head.projection": project,
        "output_head.projection.bias": f"{project}.bias|{bias}",
    }
    return masked_language_head(weights, read_config, ignored_tensors=(*bias.split("|"), "pooler.*"))


def pooled_classifier(dense: str, project: str, activation: str = "tanh") -> HeadMapping:
    """A sequence classifier with a dense layer and an activation on the first token (pooler)."""
    answer = OutputHeadConfig(transform="dense", activation=activation)
    return classifier_head(project, rows={"output_head.transform.dense": dense}, output_head_config=answer)


def replaced_token_config(fields: ConfigReader) -> ConfigValues:
    """ELECTRA's discriminator head: whether a token was replaced."""
    answer = OutputHeadConfig(transform="dense", activation=fields.choice("hidden_act", "gelu", MLP_ACTIVATIONS))
    return {"output_head": "token-classifier", "labels": ("replaced",), "output_head_config": answer}


_LAYER: WeightRules = {
    "self_attention.query": "attention.self.query",
    "self_attention.key": "attention.self.key",
    "self_attention.value": "attention.self.value",
    "self_attention.output": "attention.output.dense",
    "self_attention_residual.norm": "attention.output.LayerNorm",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
    "feed_forward_residual.norm": "output.LayerNorm",
}
OUTSIDE_BLOCKS: WeightRules = {
    "embedding": "embeddings.word_embeddings",
    "encoder.positional_encoding.table": "embeddings.position_embeddings",
    "segment_embedding": "embeddings.token_type_embeddings",
    "encoder.embedding_norm": "embeddings.LayerNorm",
}
_STACK = block_rules("encoder", "encoder.layer.{i}.", _LAYER)
_TOKEN_CLASSIFIER = classifier_head("classifier", output_head="token-classifier")
_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
_PREDICTIONS = predictions_head(
    "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder",
    "cls.predictions.bias",
)  # fmt: skip
_REQUIRED_VALUES = {"is_decoder": False, "position_embedding_type": "absolute"}
BERT = Family(
    bert,
    OUTSIDE_BLOCKS | _STACK,
    {
        "ForMaskedLM": _PREDICTIONS,
        "ForPreTraining": _PREDICTIONS,
        "ForSequenceClassification": pooled_classifier("pooler.dense", "classifier"),
        "ForTokenClassification": _TOKEN_CLASSIFIER,
    },
    base_model_prefix="bert.",
    ignored_tensors=(*_BUFFERS, "pooler.*", "cls.seq_relationship.*"),
    required_values=_REQUIRED_VALUES,
)


ROBERTA = Family(
    roberta,
    OUTSIDE_BLOCKS
    | _STACK
    | {"encoder.positional_encoding.table": rule("embeddings.position_embeddings", last_positions)},
    {
        "ForMaskedLM": predictions_head(
            "lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias", activation_field=None
        ),
        "ForSequenceClassification": pooled_classifier("classifier.dense", "classifier.out_proj"),
        "ForTokenClassification": _TOKEN_CLASSIFIER,
    },
    base_model_prefix="roberta.",
    ignored_tensors=(*_BUFFERS, "pooler.*"),
    required_values=_REQUIRED_VALUES,
)
DISTILBERT = Family(
    distilbert,
    {name: theirs for name, theirs in OUTSIDE_BLOCKS.items() if name != "segment"}
    | block_rules(
        "encoder",
        "transformer.layer.{i}.",
        {
            "self_attention.query": "attention.q_lin",
            "self_attention.key": "attention.k_lin",
            "self_attention.value": "attention.v_lin",
            "self_attention.output": "attention.out_lin",
            "self_attention_residual.norm": "sa_layer_norm",
            "feed_forward.up": "ffn.lin1",
            "feed_forward.down": "ffn.lin2",
            "feed_forward_residual.norm": "output_layer_norm",
        },
    ),
    {
        "ForMaskedLM": predictions_head(
            "vocab_transform", "vocab_layer_norm", "vocab_projector", "-", activation_field="activation"
        ),
        "ForSequenceClassification": pooled_classifier("pre_classifier", "classifier", "relu"),
        "ForTokenClassification": _TOKEN_CLASSIFIER,
    },
    base_model_prefix="distilbert.",
    ignored_tensors=_BUFFERS,
    ignored_fields=("sinusoidal_pos_embds", "qa_dropout", "seq_classif_dropout"),  # sinusoids are stored as a table
    attribute_map={"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
)
ELECTRA = Family(
    electra,
    OUTSIDE_BLOCKS | _STACK | {"encoder.project_in": "embeddings_project"},
    {
        "ForMaskedLM": predictions_head(
            "generator_predictions.dense",
            "generator_predictions.LayerNorm",
            "generator_lm_head",
            "-",
            activation_field=None,
        ),
        "ForPreTraining": HeadMapping(
            replaced_token_config,
            {
                "output_head.transform.dense": "discriminator_predictions.dense",
                "output_head.projection": "discriminator_predictions.dense_prediction",
            },
        ),
        "ForSequenceClassification": pooled_classifier("classifier.dense", "classifier.out_proj", "gelu"),
        "ForTokenClassification": _TOKEN_CLASSIFIER,
    },
    base_model_prefix="electra.",
    ignored_tensors=_BUFFERS,
    required_values=_REQUIRED_VALUES,
    ignored_fields=SUMMARY_FIELDS,
)
_ALBERT_PREDICTIONS = predictions_head(
    "predictions.dense",
    "predictions.LayerNorm",
    "predictions.decoder",
    "predictions.bias",
    default_activation="gelu_new",
)
ALBERT = Family(
    albert,
    OUTSIDE_BLOCKS
    | {"encoder.project_in": "encoder.embedding_hidden_mapping_in"}
    | block_rules(
        "encoder",
        "encoder.albert_layer_groups.{group}.albert_layers.{inside}.",
        {
            "self_attention.query": "attention.query",
            "self_attention.key": "attention.key",
            "self_attention.value": "attention.value",
            "self_attention.output": "attention.dense",
            "self_attention_residual.norm": "attention.LayerNorm",
            "feed_forward.up": "ffn",
            "feed_forward.down": "ffn_output",
            "feed_forward_residual.norm": "full_layer_layer_norm",
        },
    ),
    {
        "ForMaskedLM": _ALBERT_PREDICTIONS,
        "ForPreTraining": _ALBERT_PREDICTIONS,
        "ForSequenceClassification": pooled_classifier("pooler", "classifier"),
        "ForTokenClassification": _TOKEN_CLASSIFIER,
    },
    base_model_prefix="albert.",
    ignored_tensors=(*_BUFFERS, "pooler.*", "sop_classifier.*"),
    required_values={"position_embedding_type": "absolute"},
    name_indices=shared_layer_indices,
)
