"""Shared by families: names of activations, types of rotary scaling, labels, output heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headlight.checkpoints.config_reader import MAX_INTEGER, ConfigReader
from headlight.checkpoints.weight_mapping import ConfigValues, HeadMapping, WeightRule, WeightRules
from headlight.config_groups import OutputHeadConfig
from headlight.errors import CheckpointError

MLP_ACTIVATIONS = {
    "relu": "relu", "relu2": "squared-relu", "gelu": "gelu", "gelu_python": "gelu", "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "gelu_python_tanh": "gelu-tanh",
    "gelu_accurate": "gelu-tanh",
    "quick_gelu": "gelu-sigmoid", "silu": "silu", "swish": "silu", "tanh": "tanh", "sigmoid": "sigmoid",
    "linear": "linear",
}  # fmt: skip
GATED_MLP_ACTIVATIONS = {
    "silu": "swiglu", "swish": "swiglu", "gelu": "geglu", "gelu_python": "geglu", "gelu_new": "geglu-tanh",
    "gelu_fast": "geglu-tanh", "gelu_pytorch_tanh": "geglu-tanh", "gelu_python_tanh": "geglu-tanh",
    "gelu_accurate": "geglu-tanh", "quick_gelu": "geglu-sigmoid", "relu": "reglu",
    "sigmoid": "glu", "linear": "bilinear",
}  # fmt: skip
# How some classes pool a text into one vector.
SUMMARY_FIELDS = (
    "summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_proj_to_labels", "summary_type",
    "summary_use_proj",
)  # fmt: skip
ROPE_TYPES = {
    "default": "none", "linear": "linear", "dynamic": "dynamic", "llama3": "llama3", "yarn": "yarn",
    "longrope": "longrope", "su": "longrope",
}  # fmt: skip


def block_rules(ours: str, theirs: str, rows: WeightRules) -> WeightRules:
    """The weight rules of a block: our names in the stack `ours`, theirs with the prefix `theirs`."""
    rules = {name: row if isinstance(row, WeightRule) else WeightRule(row) for name, row in rows.items()}
    sources = {name: "|".join(theirs + option for option in row.source.split("|")) for name, row in rules.items()}
    return {f"{ours}.blocks.{{i}}.{name}": WeightRule(sources[name], row.ops) for name, row in rules.items()}


def read_labels(fields: ConfigReader, default_count: int = 2) -> tuple[str, ...]:
    """The labels of a classifier in the order of its logits; `default_count` of them where no field says."""
    id2label = fields.nested("id2label")
    if id2label is None:
        return tuple(f"LABEL_{number}" for number in range(min(fields.integer("num_labels", default_count), 100_000)))
    order = [id2label.values.get(str(number)) for number in range(len(id2label.values))]
    if not all(isinstance(label, str) for label in order):
        raise CheckpointError(f"{fields.name}: its id2label does not number its labels from 0.")
    return tuple(str(label) for label in order)


def language_head(project: str = "lm_head", tied_by_default: bool = True, **answer: Any) -> HeadMapping:
    """A language-model head; `tied_by_default`: whether it shares the embedding where no field says."""

    def config(fields: ConfigReader) -> ConfigValues:
        return {
            "output_head": "language-model",
            "tied_embeddings": fields.boolean("tie_word_embeddings", tied_by_default),
            "output_head_config": OutputHeadConfig(**answer),
        }

    return HeadMapping(config, {"output_head.projection": project})


def masked_language_head(
    weights: WeightRules,
    read_config: Callable[[ConfigReader], OutputHeadConfig],
    *,
    tied_by_default: bool = True,
    ignored_tensors: tuple[str, ...] = (),
) -> HeadMapping:
    """A masked-language-model head; `tied_by_default`: whether it shares the embedding where no field says."""

    def config(fields: ConfigReader) -> ConfigValues:
        return {
            "output_head": "masked-language-model",
            "tied_embeddings": fields.boolean("tie_word_embeddings", tied_by_default),
            "output_head_config": read_config(fields),
        }

    return HeadMapping(config, weights, ignored_tensors)


def classifier_head(
    project: str,
    *,
    count: int = 2,
    rows: WeightRules | None = None,
    read: Callable[[ConfigReader], ConfigValues] = lambda fields: {},
    **choices: Any,
) -> HeadMapping:
    """A sequence classifier, or with output_head="token-classifier" a classifier of tokens.

    Its labels are the config's, or `count` of them where no field says; `read` gives further values of the config.
    """

    def config(fields: ConfigReader) -> ConfigValues:
        labels = read_labels(fields, count)
        return {"output_head": "sequence-classifier", "labels": labels, **choices, **read(fields)}

    return HeadMapping(config, {"output_head.projection": project, **(rows or {})})


def last_token_classifier(default_pad_token_id: int | None) -> HeadMapping:
    """A sequence classifier on the last token that is not padding.

    `default_pad_token_id` is the padding token where no field says.
    """
    base_head = classifier_head("score", pooling="last")

    def config(fields: ConfigReader) -> ConfigValues:
        given = fields.values.get("pad_token_id")
        pad_token_id = default_pad_token_id if type(given) is not int else given if 0 <= given < MAX_INTEGER else None
        return base_head.config_values(fields) | {
            "output_head_config": OutputHeadConfig(bias=False, pad_token_id=pad_token_id)
        }

    return HeadMapping(config, base_head.weights)


def decoder_heads(
    tied: bool, token_classifier: str = "score", default_pad_token_id: int | None = None
) -> dict[str, HeadMapping]:
    """The usual heads of a decoder: language model, sequence classifier on the last token, token classifier."""
    return {
        "ForCausalLM": language_head(tied_by_default=tied),
        "ForSequenceClassification": last_token_classifier(default_pad_token_id),
        "ForTokenClassification": classifier_head(token_classifier, output_head="token-classifier"),
    }
