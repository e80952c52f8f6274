"""What a checkpoint family is: a table of its weights, a table of its config's fields, and how both become ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from torch import Tensor

from model.checkpoints.config_reader import ConfigReader
from model.checkpoints.files.tensor_files import LazyTensors
from model.config import Config
from model.errors import CheckpointError, ConfigError
from model.nn.transformer import Transformer

WeightOp = Callable[[Tensor, Config], Tensor]
ConfigValues = dict[str, Any]


@dataclass(frozen=True)
class WeightRule:
    """Their tensor of this name (or their module's weight and bias), and the steps that make ours of it.

    Of several names, with "|" between them, the first that the checkpoint has is meant.
    """

    source: str
    ops: tuple[WeightOp, ...] = ()


def rule(name: str, *ops: WeightOp) -> WeightRule:
    """A row of a weights table that needs more than a name."""
    return WeightRule(name, ops)


WeightRules = dict[str, str | WeightRule]


@dataclass(frozen=True)
class HeadMapping:
    """What stands on top in one of the family's classes: the Config's fields for it, and its weights."""

    config_values: Callable[[ConfigReader], ConfigValues]
    weights: WeightRules = field(default_factory=dict)
    ignored_tensors: tuple[str, ...] = ()


def no_head(fields: ConfigReader) -> ConfigValues:
    """No top: the hidden states are all there is."""
    return {"output_head": "none"}


@dataclass(frozen=True)
class Family:
    """One `model_type`, as data.

    `config` reads their fields into ours; `accepted` are fields that act and have one supported value; `inert` those
    that do not act on a forward pass. `weights` maps our parameters (or modules) to theirs, `{i}` being the layer;
    `base` may stand in front of every such name. `heads` are told by how the name of their class ends. `ignored` are
    patterns of tensors that do not act. `numbers` gives what stands in a name for layer i. `also` has other names of
    fields, and what the family calls them; `apart` are rows that stand in for others where Embed.apart holds.
    """

    config_values: Callable[[ConfigReader], ConfigValues]
    weights: WeightRules
    heads_by_class: Mapping[str, HeadMapping]
    base_model_prefix: str = ""
    ignored_tensors: tuple[str, ...] = ()
    required_values: Mapping[str, Any] = field(default_factory=dict)
    ignored_fields: tuple[str, ...] = ()
    name_indices: Callable[[ConfigReader, int], dict[str, int]] = lambda fields, layer: {"i": layer}
    attribute_map: Mapping[str, str] = field(default_factory=dict)
    untied_weights: WeightRules = field(default_factory=dict)


@dataclass(frozen=True)
class ConversionPlan:
    """A family's answer to one folder: the Config, the head that was chosen, and what to say about it."""

    family: Family
    fields: ConfigReader
    head: HeadMapping
    config: Config
    notes: tuple[str, ...]


def make_plan(family: Family, fields: ConfigReader, tensors: LazyTensors) -> ConversionPlan:
    """Read the config and choose the head. Raises CheckpointError for what is missing, wrong or not supported."""
    fields = fields.with_aliases(family.attribute_map)
    fields.tensor_names = frozenset(tensors)
    fields.require_values({**COMMON_REQUIRED_VALUES, **family.required_values})
    head, notes = _choose_head(family, fields, tensors)
    values = {"tied_embeddings": False, **family.config_values(fields)}
    values.update(head.config_values(fields))
    if values.get("start_token_id", 0) >= values["vocabulary_size"]:
        values["start_token_id"] = 0  # the first token, as what is meant does not exist; _beyond says so
    try:
        config = Config(**values)
    except (ConfigError, TypeError) as error:
        raise CheckpointError(f"{fields.name}: {error}") from error
    return ConversionPlan(family, fields, head, config, (*notes, *_out_of_vocabulary_notes(fields, config)))


def _out_of_vocabulary_notes(fields: ConfigReader, config: Config) -> tuple[str, ...]:
    """What to say about special tokens that the vocabulary does not have."""
    names = [name for name in fields.values if name.endswith("_token_id")]
    token_ids = {name: fields.values[name] for name in names if type(fields.values[name]) is int}
    return tuple(
        f"Its {name} is {number}, but the vocabulary ends at {config.vocabulary_size - 1}."
        for name, number in token_ids.items()
        if not 0 <= number < config.vocabulary_size
    )


# Fields that any config may have and that change the computation; the value given is the one supported.
COMMON_REQUIRED_VALUES: Mapping[str, Any] = {
    "pruned_heads": {},
    "add_cross_attention": False,
    "cross_attention_hidden_size": (),
    "quantization_config": (),
}


# Fields that any config may have and that do not act on what a trained model computes.
COMMON_IGNORED_FIELDS = (
    "architectures", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "bos_token_id",
    "chunk_size_feed_forward", "classifier_dropout", "classifier_dropout_prob", "dropout", "dtype", "embd_pdrop",
    "embed_dropout", "embedding_dropout", "eos_token_id", "forced_eos_token_id", "hidden_dropout",
    "hidden_dropout_prob", "id2label", "init_std", "initializer_factor", "initializer_range", "is_encoder_decoder",
    "label2id", "layerdrop", "model_type", "output_attentions", "output_hidden_states", "pad_token_id",
    "pooler_dropout", "problem_type", "resid_dropout", "resid_pdrop", "return_dict", "torch_dtype",
    "transformers_version", "use_cache",
)  # fmt: skip


def _choose_head(family: Family, fields: ConfigReader, tensors: LazyTensors) -> tuple[HeadMapping, tuple[str, ...]]:
    """The head that the config's `architectures` names; without it, the one of which most weights are there."""
    classes = fields.list_of("architectures", str)
    if classes:
        for ending, head in family.heads_by_class.items():
            if classes[0].endswith(ending):
                return head, ()
        if not classes[0].endswith("Model"):
            note = f"The head of {classes[0]} is not known; the model is opened without it."
            return HeadMapping(no_head, ignored_tensors=("*",)), (note,)
        return HeadMapping(no_head), ()
    counts = [
        (_matching_rules(head, family.base_model_prefix, fields, tensors), head)
        for head in family.heads_by_class.values()
    ]
    count, head = max(counts, key=lambda pair: pair[0])  # the first of equals
    if count < 0:
        return HeadMapping(no_head), ()
    return head, ("Its config names no class; the head was chosen by its weights.",)


def _matching_rules(head: HeadMapping, base: str, fields: ConfigReader, tensors: LazyTensors) -> int:
    """How many rows of a head are among the tensors; -1 where one is missing that is not the embedding's own."""
    stored = {key for key, row in head.weights.items() if _is_stored(row, base, tensors)}
    missing = set(head.weights) - stored
    tied = missing == {"output_head.projection"} and head.config_values(fields).get("tied_embeddings", False)
    return len(stored) if tied or not missing else -1


def _is_stored(row: str | WeightRule, base: str, tensors: LazyTensors) -> bool:
    names = (row if isinstance(row, str) else row.source).split("|")
    return any(tensor.removeprefix(base).startswith(name) for tensor in tensors for name in names)


class WeightLoader:
    """Walks our parameters and finds for each its tensor; then tells what was left over."""

    def __init__(self, plan: ConversionPlan, tensors: LazyTensors) -> None:
        self.plan, self.tensors = plan, tensors
        untied_weights = plan.family.untied_weights if plan.config.embedding.separate_encoder else {}
        self.rules = {**plan.family.weights, **plan.head.weights, **untied_weights}
        self.used: set[str] = set()
        self.has_prefix = not tensors or any(name.startswith(plan.family.base_model_prefix) for name in tensors)

    def load(self, model: Transformer) -> dict[str, Tensor]:
        """Our state, with their tensors; a tied parameter is the same tensor. Raises CheckpointError."""
        self._require_all(model)
        state = {name: self._load_tensor(name, parameter) for name, parameter in model.named_parameters()}
        self._reject_unexpected(model)
        return state

    @property
    def unused(self) -> tuple[str, ...]:
        """Their tensors that no parameter of ours uses."""
        return tuple(sorted(set(self.tensors) - self.used))

    def candidate_names(self, name: str) -> list[str]:
        """What our parameter may be called, the usual name first: a head has none of the base model's prefix."""
        row, suffix = self._rule(name)
        layer = re.search(r"\d+", name)
        indices = self.plan.family.name_indices(self.plan.fields, int(layer[0])) if layer else {}
        theirs = [option.format(**indices) + suffix for option in row.source.split("|")]
        prefix = self.plan.family.base_model_prefix
        prefixes = ("", prefix) if name.startswith("output_head.") or not self.has_prefix else (prefix, "")
        return [base + name for name in theirs for base in prefixes]

    def find(self, name: str) -> str | None:
        """The name of the tensor that our parameter is made of; None where the checkpoint has none."""
        return next((candidate for candidate in self.candidate_names(name) if candidate in self.tensors), None)

    def _find_or_tied(self, name: str) -> str | None:
        """The same; a tied embedding may be kept as the head's."""
        tied = name == "embedding.weight" and self.plan.config.tied_embeddings
        return self.find(name) or (self.find("output_head.projection.weight") if tied else None)

    def _require_all(self, model: Transformer) -> None:
        """Raise CheckpointError that lists what is missing, and a few of those that nothing asks for."""
        sources = {name: self._find_or_tied(name) for name, _ in model.named_parameters()}
        missing = [self.candidate_names(name)[0] for name, source in sources.items() if source is None]
        if not missing:
            return
        unexpected = self._unexpected(model, sorted(set(self.tensors) - set(sources.values())))
        unused = f", and its config has no use for {join_names(unexpected)}" if unexpected else ""
        raise CheckpointError(f"{self.plan.fields.name}: the weights lack {join_names(missing)}{unused}.")

    def _load_tensor(self, name: str, parameter: Tensor) -> Tensor:
        source = str(self._find_or_tied(name))
        tensor = self.tensors[source]
        self.used.add(source)
        for step in self._rule(name)[0].ops:
            tensor = self._apply_op(step, tensor, name, source)
        if tensor.shape != parameter.shape:
            raise CheckpointError(
                f"{self.plan.fields.name}: {source} gives {name} as {tuple(tensor.shape)}; "
                f"the config wants {tuple(parameter.shape)}."
            )
        return tensor

    def _apply_op(self, op: WeightOp, tensor: Tensor, name: str, source: str) -> Tensor:
        try:
            return op(tensor, self.plan.config.for_stack(name.partition(".")[0]))
        except (RuntimeError, IndexError, ValueError) as error:
            shape = tuple(tensor.shape)
            raise CheckpointError(
                f"{self.plan.fields.name}: {source} is {shape}; {name} cannot be cut from it."
            ) from error

    def _rule(self, name: str) -> tuple[WeightRule, str]:
        """The row of a parameter, or of its module with `.weight` or `.bias` as what is left of its name."""
        pattern = re.sub(r"\.\d+\.", ".{i}.", name, count=1)
        module, _, leaf = pattern.rpartition(".")
        for key, rest in ((pattern, ""), (module, f".{leaf}")):
            if key in self.rules:
                row = self.rules[key]
                return (WeightRule(row) if isinstance(row, str) else row), rest
        raise CheckpointError(f"{self.plan.fields.name}: nothing in its family's table is our {name}.")

    def _reject_unexpected(self, model: Transformer) -> None:
        if unexpected := self._unexpected(model, self.unused):
            raise CheckpointError(
                f"{self.plan.fields.name}: weights that its config has no use for: {join_names(unexpected)}."
            )

    def _unexpected(self, model: Transformer, unused: Sequence[str]) -> list[str]:
        """Of tensors that no parameter uses those that the family does not know as such."""
        ignored = [*self.plan.family.ignored_tensors, *self.plan.head.ignored_tensors]
        if model.config.tied_embeddings:
            row, leaf = self._rule("output_head.projection.weight")
            ignored += [name + leaf for name in row.source.split("|")]
        unprefixed = {name: name.removeprefix(self.plan.family.base_model_prefix) for name in unused}
        return [name for name in unused if not any(fnmatchcase(unprefixed[name], pattern) for pattern in ignored)]


def join_names(names: list[str] | tuple[str, ...], limit: int = 8) -> str:
    """Names with commas, the first few of many."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
