"""Shared by families: names of activations, rotary positions, sizes, rows of blocks, labels, output heads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headlight.checkpoints.config_reader import MAX_INTEGER, ConfigReader, FieldNames
from headlight.checkpoints.weight_mapping import ConfigValues, HeadMapping, WeightOp, WeightRule, WeightRules
from headlight.config import OutputHeadConfig, RopeConfig
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
# Fields of classes that pool a text into one vector.
SUMMARY_FIELDS = (
    "summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_proj_to_labels", "summary_type",
    "summary_use_proj",
)  # fmt: skip
ATTENTION_PROJECTIONS = ("query", "key", "value", "output")
ROPE_TYPES = {
    "default": "none", "linear": "linear", "dynamic": "dynamic", "llama3": "llama3", "yarn": "yarn",
    "longrope": "longrope", "su": "longrope", "proportional": "proportional",
    "mrope": "none",  # positions on three axes, which are equal in a text
}  # fmt: skip


USUAL_FIELDS = {
    "vocabulary_size": "vocab_size", "context_length": "max_position_embeddings", "d_model": "hidden_size",
    "layers": "num_hidden_layers", "heads": "num_attention_heads", "d_ff": "intermediate_size",
}  # fmt: skip


def sizes(fields: ConfigReader, *defaults: int, **names: FieldNames) -> ConfigValues:
    """The sizes of USUAL_FIELDS with these `defaults`, in this order.

    `names` are the family's own field names; "-" means that it has no such field.
    """
    found = {}
    for (size, usual), default in zip(USUAL_FIELDS.items(), defaults, strict=True):
        read = fields.layer_count if size == "layers" else fields.integer
        found[size] = read(names.get(size, usual), default)
    return found


def head_and_context(found: ConfigValues) -> tuple[int, int]:
    """The channels of a head and the context length for these sizes."""
    return found["d_model"] // max(found["heads"], 1), found["context_length"]


def padding_id(fields: ConfigReader) -> int:
    """The padding token of a family whose positions begin after its id and do not count it."""
    return fields.integer("pad_token_id", 1)


def fused(name: str, part: Callable[[int], WeightOp]) -> list[WeightRule]:
    """Query, key and value as parts of one tensor."""
    return [WeightRule(name, (part(index),)) for index in range(3)]


def block_rows(
    attention_norm: str,
    attention: Sequence[str | WeightRule],
    feed_forward_norm: str,
    feed_forward: Sequence[str | WeightRule],
) -> WeightRules:
    """The parameters of a block under their names in a checkpoint.

    `attention` are query, key, value and output; `feed_forward` are up and down, after the gate if there is one.
    """
    maps = ("gate", "up", "down")[-len(feed_forward) :]
    return {
        "self_attention_residual.norm": attention_norm,
        "feed_forward_residual.norm": feed_forward_norm,
        **{f"self_attention.{name}": row for name, row in zip(ATTENTION_PROJECTIONS, attention, strict=True)},
        **{f"feed_forward.{name}": row for name, row in zip(maps, feed_forward, strict=True)},
    }


def block_rules(ours: str, theirs: str, rows: WeightRules) -> WeightRules:
    """The weight rules of a block: our names in the stack `ours`, theirs with the prefix `theirs`."""
    rules = {name: row if isinstance(row, WeightRule) else WeightRule(row) for name, row in rows.items()}
    sources = {name: "|".join(theirs + option for option in row.source.split("|")) for name, row in rules.items()}
    return {f"{ours}.blocks.{{i}}.{name}": replace(row, source=sources[name]) for name, row in rules.items()}


def read_labels(fields: ConfigReader, default_count: int = 2) -> tuple[str, ...]:
    """The labels of a classifier in the order of its logits; `default_count` of them if no field says."""
    id2label = fields.nested("id2label")
    if id2label is None:
        return tuple(f"LABEL_{number}" for number in range(min(fields.integer("num_labels", default_count), 100_000)))
    order = [id2label.values.get(str(number)) for number in range(len(id2label.values))]
    if not all(isinstance(label, str | int | float) for label in order):
        raise CheckpointError(f"{fields.name}: its id2label does not number its labels from 0.")
    return tuple(str(label) for label in order)


def language_head(
    project: str = "lm_head",
    tied_by_default: bool = True,
    *,
    output_head: str = "language-model",
    rows: WeightRules | None = None,
    ignored_tensors: tuple[str, ...] = (),
    read: Callable[[ConfigReader], ConfigValues] = lambda fields: {},
    **answer: Any,
) -> HeadMapping:
    """A language-model head; `tied_by_default`: whether it shares the embedding if no field says.

    With output_head="masked-language-model" it is the head of an encoder. `answer` are values of OutputHeadConfig;
    `read` returns further ones.
    """

    def config(fields: ConfigReader) -> ConfigValues:
        return {
            "output_head": output_head,
            "embedding.tied": fields.boolean("tie_word_embeddings", tied_by_default),
            "output_head_config": OutputHeadConfig(**answer, **read(fields)),
        }

    return HeadMapping(config, {"output_head.projection": project, **(rows or {})}, ignored_tensors)


def classifier_head(
    project: str,
    *,
    count: int = 2,
    rows: WeightRules | None = None,
    read: Callable[[ConfigReader], ConfigValues] = lambda fields: {},
    **choices: Any,
) -> HeadMapping:
    """A sequence classifier, or with output_head="token-classifier" a classifier of tokens.

    Its labels come from the config, or are `count` default ones; `read` returns further values of the config.
    """

    def config(fields: ConfigReader) -> ConfigValues:
        labels = read_labels(fields, count)
        return {"output_head": "sequence-classifier", "labels": labels, **choices, **read(fields)}

    return HeadMapping(config, {"output_head.projection": project, **(rows or {})})


def sound_classifier(read: Callable[[ConfigReader], ConfigValues] = lambda fields: {}) -> HeadMapping:
    """A classifier of sounds: the mean of all frames through two linear maps; `read` returns further values."""

    def config(fields: ConfigReader) -> ConfigValues:
        if fields.boolean("use_weighted_layer_sum", False):
            raise CheckpointError(
                f"{fields.name}: its classifier reads a weighted sum of all layers (use_weighted_layer_sum); only "
                "classifiers of the last layer open. The model that it was trained from opens without a classifier."
            )
        size = fields.integer("classifier_proj_size", 256)
        head = OutputHeadConfig(transform="dense", activation="linear", transform_dim=size)
        return {"output_head_config": head} | read(fields)

    return classifier_head("classifier", rows={"output_head.transform.dense": "projector"}, read=config, pooling="mean")


def last_token_classifier(default_pad_token_id: int | None) -> HeadMapping:
    """A sequence classifier on the last token that is not padding.

    `default_pad_token_id` is the padding token if no field says.
    """
    base_head = classifier_head("score", pooling="last")

    def config(fields: ConfigReader) -> ConfigValues:
        given = fields.values.get("pad_token_id")
        pad_token_id = default_pad_token_id if type(given) is not int else given if 0 <= given < MAX_INTEGER else None
        return base_head.config_values(fields) | {
            "output_head_config": OutputHeadConfig(bias=False, pad_token_id=pad_token_id)
        }

    return HeadMapping(config, base_head.weights)


def span_head(project: str = "qa_outputs", **choices: Any) -> HeadMapping:
    """A head of question answering: each token has two logits, for being the first and the last one of the answer.

    They are shown as scores: a softmax over the tokens, not over the two, makes probabilities of them.
    `choices` are options of `classifier_head`.
    """
    base_head = classifier_head(project, output_head="token-classifier", **choices)

    def config(fields: ConfigReader) -> ConfigValues:
        values = base_head.config_values(fields)
        answer = replace(values.get("output_head_config", OutputHeadConfig()), problem_type="regression")
        return values | {"labels": ("answer begins", "answer ends"), "output_head_config": answer}

    return replace(base_head, config_values=config, note=_SPAN_NOTE)


_SPAN_NOTE = (
    "It gives each token two scores, one for the first token of the answer and one for the last; a softmax over the "
    "tokens makes probabilities of either."
)


def decoder_heads(
    tied: bool, token_classifier: str = "score", default_pad_token_id: int | None = None, **language: Any
) -> dict[str, HeadMapping]:
    """The usual heads of a decoder: language model, sequence classifier on the last token, token classifier.

    `language` are options of `language_head`.
    """
    return {
        "ForCausalLM": language_head(tied_by_default=tied, **language),
        "ForSequenceClassification": last_token_classifier(default_pad_token_id),
        "ForTokenClassification": classifier_head(token_classifier, output_head="token-classifier"),
        "ForQuestionAnswering": span_head(),
    }


def attention_biases(fields: ConfigReader, default: bool = False) -> tuple[str, ...]:
    """The biases for attention_bias: all biases of attention, or none."""
    return ATTENTION_PROJECTIONS * fields.boolean("attention_bias", default)


def rope_config(
    fields: ConfigReader,
    head_width: int,
    context: int,
    *,
    theta: float = 10_000.0,
    rotary_fraction: float | None = None,
    original_context: int = 0,
    layer_type: str = "",
    field_names: tuple[str, str] = ("rope_theta", "partial_rotary_factor"),
    **choices: Any,
) -> RopeConfig:
    """The RopeConfig of a file; `theta` and `rotary_fraction` (None: always the whole head) are defaults.

    New files have `rope_parameters`, one for each `layer_type` if layers differ; old files have `rope_scaling`, with
    theta and rotary fraction beside it under `field_names`.
    """
    group = scaling_fields(fields, layer_type)
    theta = group.number("rope_theta", fields.number((field_names[0], "rope_theta"), theta))
    default_fraction = 1.0 if rotary_fraction is None else rotary_fraction
    fraction = group.number(
        "partial_rotary_factor", fields.number((field_names[1], "partial_rotary_factor"), default_fraction)
    )
    kind = group.choice(("rope_type", "type"), "default", ROPE_TYPES)
    if rotary_fraction is None and fraction != 1 and kind != "proportional":
        raise CheckpointError(f"{fields.name}: its partial_rotary_factor is {fraction}, unknown in this family.")
    rotary_dim = head_width if kind == "proportional" else int(head_width * fraction)
    if theta <= 1 or not 0 < fraction <= 1 or not rotary_dim:
        raise CheckpointError(
            f"{fields.name}: a rope theta of {theta} over a fraction of {fraction} of each head is not possible."
        )
    stored_rotary_dim = 0 if rotary_dim == head_width // 2 * 2 else rotary_dim
    found = {"theta": theta, "rotary_dim": stored_rotary_dim, "scaling": kind, **choices}
    if kind == "proportional":
        found["rotated_share"] = fraction
    if kind != "none":
        found |= _scaling_values(fields, group, kind, (context, original_context or context), rotary_dim)
    return RopeConfig(**found)


def scaling_fields(fields: ConfigReader, layer_type: str = "") -> ConfigReader:
    """The nested fields of rotary scaling; empty if there are none."""
    group = fields.nested(("rope_scaling", "rope_parameters")) or fields.nested("rope_parameters")
    empty = ConfigReader({}, fields.name)
    if group is None:
        return empty
    return (group.nested(layer_type) or empty) if layer_type and layer_type in group.values else group


def _scaling_values(
    fields: ConfigReader, group: ConfigReader, kind: str, contexts: tuple[int, int], rotary_dim: int
) -> dict[str, Any]:
    """The fields of RopeConfig that a type of scaling needs."""
    context, original = contexts
    name = "original_max_position_embeddings"
    original = fields.integer(name, 0) or group.integer(name, original)
    if kind in ("dynamic", "proportional"):
        original = context
    factor = group.number("factor", context / max(original, 1))
    if factor <= 0 or original < 1:
        raise CheckpointError(f"{fields.name}: a rope scaling by {factor} from {original} tokens is not possible.")
    values: dict[str, Any] = {"factor": factor, "original_context_length": original}
    if kind == "llama3":
        names = ("low_freq_factor", "high_freq_factor")
        values |= {name: group.number(name) for name in names}
        if values["high_freq_factor"] <= values["low_freq_factor"]:
            raise CheckpointError(f"{fields.name}: its high_freq_factor is not above its low_freq_factor.")
    elif kind == "yarn":
        if rotary_dim % 2:
            raise CheckpointError(f"{fields.name}: yarn scales pairs of channels, but {rotary_dim} are rotated.")
        slow, fast = group.number("beta_slow", 1) or 1.0, group.number("beta_fast", 32) or 32.0
        if min(slow, fast) < 0:
            raise CheckpointError(f"{fields.name}: beta_slow is {slow}, beta_fast {fast}; both must be above 0.")
        values |= {
            "low_freq_factor": slow,
            "high_freq_factor": fast,
            "truncate": group.boolean("truncate", True),
            "attention_factor": _yarn_attention_factor(group, factor),
        }
    elif kind == "longrope":
        values |= {name: _frequency_factors(group, name, rotary_dim) for name in ("short_factor", "long_factor")}
        usual = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 and original > 1 else 1.0
        values["attention_factor"] = group.number("attention_factor", usual)
    return values


def _yarn_attention_factor(group: ConfigReader, factor: float) -> float:
    """The factor on queries and keys (Peng et al. 2024, section 3.4)."""
    above, below = group.number("mscale", 0), group.number("mscale_all_dim", 0)
    ratio = yarn_strength(above, factor) / yarn_strength(below, factor) if above and below else yarn_strength(1, factor)
    return group.number("attention_factor", ratio)


def yarn_strength(weight: float, factor: float) -> float:
    """The combined growth of queries and keys if a context is stretched by a factor."""
    return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0


def _frequency_factors(group: ConfigReader, name: str, rotary_dim: int) -> tuple[float, ...]:
    divisors = tuple(float(each) for each in group.list_of(name, (int, float)))
    if len(divisors) != (rotary_dim + 1) // 2 or not all(divisors):
        raise CheckpointError(
            f"{group.name}: its {name} has {len(divisors)} numbers for {(rotary_dim + 1) // 2} "
            f"rotated pairs of channels."
        )
    return divisors


def repeating_types(fields: ConfigReader, layers: int, every: int) -> list[str]:
    """Full attention in each layer whose number is a multiple of sliding_window_pattern, a sliding window elsewhere."""
    every = 1 if fields.has("layer_types") else fields.integer("sliding_window_pattern", every) or 1
    return ["sliding_attention" if (layer + 1) % every else "full_attention" for layer in range(layers)]


def layer_masks(fields: ConfigReader, layers: int, default_types: list[str], window: int) -> tuple[str, ...]:
    """Each layer's extra mask: a sliding window if `layer_types` (or `default_types`) has one, else none."""
    known = {"full_attention": "none", "sliding_attention": f"window:{window}" if window else "none"}
    return masks_of_types(fields, layers, default_types, known)


def masks_of_types(
    fields: ConfigReader, layers: int, default_types: list[str], known: Mapping[str, str]
) -> tuple[str, ...]:
    """The extra mask that `known` has for each layer's entry in `layer_types` (or `default_types`)."""
    types = fields.list_of("layer_types", str, default_types)
    unknown = sorted(set(types) - set(known))
    if unknown or len(types) != layers:
        problem = f"names {unknown[0]!r}" if unknown else f"has {len(types)} entries for {layers} layers"
        raise CheckpointError(f"{fields.name}: its layer_types {problem}; known are {', '.join(known)}.")
    masks = tuple(known[each] for each in types)
    return masks if set(masks) != {"none"} else ()
