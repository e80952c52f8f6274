"""What many families share: names of activations, rotary positions in old and new files, labels, usual heads."""

from __future__ import annotations

from typing import Any

from model.checkpoints.config_reader import LARGEST, Fields
from model.checkpoints.weight_mapping import Choices, Cut, Head, Rows
from model.config_groups import Answer
from model.errors import CheckpointError

PLAIN = {
    "relu": "relu", "relu2": "squared-relu", "gelu": "gelu", "gelu_python": "gelu", "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "gelu_python_tanh": "gelu-tanh",
    "gelu_accurate": "gelu-tanh",
    "quick_gelu": "gelu-sigmoid", "silu": "silu", "swish": "silu", "tanh": "tanh", "sigmoid": "sigmoid",
    "linear": "linear",
}  # fmt: skip
GATED = {
    "silu": "swiglu", "swish": "swiglu", "gelu": "geglu", "gelu_python": "geglu", "gelu_new": "geglu-tanh",
    "gelu_fast": "geglu-tanh", "gelu_pytorch_tanh": "geglu-tanh", "gelu_python_tanh": "geglu-tanh",
    "gelu_accurate": "geglu-tanh", "quick_gelu": "geglu-sigmoid", "relu": "reglu",
    "sigmoid": "glu", "linear": "bilinear",
}  # fmt: skip
# How some classes that are no language models make one vector of a text.
SUMMARY = (
    "summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_proj_to_labels", "summary_type",
    "summary_use_proj",
)  # fmt: skip
SCALINGS = {
    "default": "none", "linear": "linear", "dynamic": "dynamic", "llama3": "banded", "yarn": "yarn",
    "longrope": "longrope", "su": "longrope",
}  # fmt: skip


def block(ours: str, theirs: str, rows: Rows) -> Rows:
    """The rows of one layer, `ours` and `theirs` put in front of the names."""
    cuts = {name: row if isinstance(row, Cut) else Cut(row) for name, row in rows.items()}
    placed = {name: "|".join(theirs + option for option in row.name.split("|")) for name, row in cuts.items()}
    return {f"{ours}.blocks.{{i}}.{name}": Cut(placed[name], row.steps) for name, row in cuts.items()}


def labels(fields: Fields, usual: int = 2) -> tuple[str, ...]:
    """The labels of a classifier in the order of its logits; so many `usual` ones where no field says."""
    named = fields.group("id2label")
    if named is None:
        return tuple(f"LABEL_{number}" for number in range(min(fields.size("num_labels", usual), 100_000)))
    order = [named.values.get(str(number)) for number in range(len(named.values))]
    if not all(isinstance(label, str) for label in order):
        raise CheckpointError(f"{fields.name}: its id2label does not number its labels from 0.")
    return tuple(str(label) for label in order)


def language(project: str = "lm_head", default: bool = True, **answer: Any) -> Head:
    """A head that says which token comes next; `default`: whether it shares the embedding where no field says."""

    def config(fields: Fields) -> Choices:
        return {"top": "language", "tied": fields.flag("tie_word_embeddings", default), "answer": Answer(**answer)}

    return Head(config, {"top.project": project})


def classifier(project: str, *, count: int = 2, rows: Rows | None = None, **choices: Any) -> Head:
    """A head that gives a text (or with top="token-classifier" each token) one of the config's labels.

    There are `count` of them where no field says.
    """

    def config(fields: Fields) -> Choices:
        return {"top": "sequence-classifier", "labels": labels(fields, count), **choices}

    return Head(config, {"top.project": project, **(rows or {})})


def last_token(padding: int | None) -> Head:
    """A head that gives a text a label from its last token that is no padding, which files often write as an end.

    `padding` is its number where no field says.
    """
    plain = classifier("score", pooling="last")

    def config(fields: Fields) -> Choices:
        given = fields.values.get("pad_token_id")
        passed = padding if type(given) is not int else given if 0 <= given < LARGEST else None
        return plain.config(fields) | {"answer": Answer(bias=False, passed=passed)}

    return Head(config, plain.weights)


def decoder_heads(tied: bool, tokens: str = "score", padding: int | None = None) -> dict[str, Head]:
    """What stands on decoders of the usual make: next token, a label from the last token, labels of tokens."""
    return {
        "ForCausalLM": language(default=tied),
        "ForSequenceClassification": last_token(padding),
        "ForTokenClassification": classifier(tokens, top="token-classifier"),
    }
