"""What a checkpoint family is: a table of its weights, a table of its config's fields, and how both become ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from torch import Tensor

from model.checkpoints.config_reader import Fields
from model.checkpoints.files.tensor_files import Tensors
from model.config import Config
from model.errors import CheckpointError, ConfigError
from model.nn.transformer import Transformer

Step = Callable[[Tensor, Config], Tensor]
Choices = dict[str, Any]


@dataclass(frozen=True)
class Cut:
    """Their tensor of this name (or their module's weight and bias), and the steps that make ours of it.

    Of several names, with "|" between them, the first that the checkpoint has is meant.
    """

    name: str
    steps: tuple[Step, ...] = ()


def cut(name: str, *steps: Step) -> Cut:
    """A row of a weights table that needs more than a name."""
    return Cut(name, steps)


Rows = dict[str, str | Cut]


@dataclass(frozen=True)
class Head:
    """What stands on top in one of the family's classes: the Config's fields for it, and its weights."""

    config: Callable[[Fields], Choices]
    weights: Rows = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def bare(fields: Fields) -> Choices:
    """No top: the hidden states are all there is."""
    return {"top": "none"}


@dataclass(frozen=True)
class Family:
    """One `model_type`, as data.

    `config` reads their fields into ours; `accepted` are fields that act and have one supported value; `inert` those
    that do not act on a forward pass. `weights` maps our parameters (or modules) to theirs, `{i}` being the layer;
    `base` may stand in front of every such name. `heads` are told by how the name of their class ends. `ignored` are
    patterns of tensors that do not act. `numbers` gives what stands in a name for layer i. `also` has other names of
    fields, and what the family calls them; `apart` are rows that stand in for others where Embed.apart holds.
    """

    config: Callable[[Fields], Choices]
    weights: Rows
    heads: Mapping[str, Head]
    base: str = ""
    ignored: tuple[str, ...] = ()
    accepted: Mapping[str, Any] = field(default_factory=dict)
    inert: tuple[str, ...] = ()
    numbers: Callable[[Fields, int], dict[str, int]] = lambda fields, layer: {"i": layer}
    also: Mapping[str, str] = field(default_factory=dict)
    apart: Rows = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A family's answer to one folder: the Config, the head that was chosen, and what to say about it."""

    family: Family
    fields: Fields
    head: Head
    config: Config
    notes: tuple[str, ...]


def plan(family: Family, fields: Fields, tensors: Tensors) -> Plan:
    """Read the config and choose the head. Raises CheckpointError for what is missing, wrong or not supported."""
    fields = fields.renamed(family.also)
    fields.stored = frozenset(tensors)
    fields.require({**EVERYWHERE, **family.accepted})
    head, notes = _head(family, fields, tensors)
    choices = {"tied": False, **family.config(fields)}
    choices.update(head.config(fields))
    if choices.get("start_token", 0) >= choices["vocabulary"]:
        choices["start_token"] = 0  # the first token, as what is meant does not exist; _beyond says so
    try:
        config = Config(**choices)
    except (ConfigError, TypeError) as error:
        raise CheckpointError(f"{fields.name}: {error}") from error
    return Plan(family, fields, head, config, (*notes, *_beyond(fields, config)))


def _beyond(fields: Fields, config: Config) -> tuple[str, ...]:
    """What to say about special tokens that the vocabulary does not have."""
    found = [name for name in fields.values if name.endswith("_token_id")]
    numbers = {name: fields.values[name] for name in found if type(fields.values[name]) is int}
    return tuple(
        f"Its {name} is {number}, but the vocabulary ends at {config.vocabulary - 1}."
        for name, number in numbers.items()
        if not 0 <= number < config.vocabulary
    )


# Fields that any config may have and that change the computation; the value given is the one supported.
EVERYWHERE: Mapping[str, Any] = {
    "pruned_heads": {},
    "add_cross_attention": False,
    "cross_attention_hidden_size": (),
    "quantization_config": (),
}


# Fields that any config may have and that do not act on what a trained model computes.
INERT = (
    "architectures", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "bos_token_id",
    "chunk_size_feed_forward", "classifier_dropout", "classifier_dropout_prob", "dropout", "dtype", "embd_pdrop",
    "embed_dropout", "embedding_dropout", "eos_token_id", "forced_eos_token_id", "hidden_dropout",
    "hidden_dropout_prob", "id2label", "init_std", "initializer_factor", "initializer_range", "is_encoder_decoder",
    "label2id", "layerdrop", "model_type", "output_attentions", "output_hidden_states", "pad_token_id",
    "pooler_dropout", "problem_type", "resid_dropout", "resid_pdrop", "return_dict", "torch_dtype",
    "transformers_version", "use_cache",
)  # fmt: skip


def _head(family: Family, fields: Fields, tensors: Tensors) -> tuple[Head, tuple[str, ...]]:
    """The head that the config's `architectures` names; without it, the one of which most weights are there."""
    classes = fields.listing("architectures", str)
    if classes:
        for ending, head in family.heads.items():
            if classes[0].endswith(ending):
                return head, ()
        if not classes[0].endswith("Model"):
            note = f"The head of {classes[0]} is not known; the model is opened without it."
            return Head(bare, ignored=("*",)), (note,)
        return Head(bare), ()
    counts = [(_count(head, family.base, fields, tensors), head) for head in family.heads.values()]
    count, head = max(counts, key=lambda pair: pair[0])  # the first of equals
    if count < 0:
        return Head(bare), ()
    return head, ("Its config names no class; the head was chosen by its weights.",)


def _count(head: Head, base: str, fields: Fields, tensors: Tensors) -> int:
    """How many rows of a head are among the tensors; -1 where one is missing that is not the embedding's own."""
    stored = {key for key, row in head.weights.items() if _stored(row, base, tensors)}
    missing = set(head.weights) - stored
    tied = missing == {"top.project"} and head.config(fields).get("tied", False)
    return len(stored) if tied or not missing else -1


def _stored(row: str | Cut, base: str, tensors: Tensors) -> bool:
    names = (row if isinstance(row, str) else row.name).split("|")
    return any(tensor.removeprefix(base).startswith(name) for tensor in tensors for name in names)


class Pouring:
    """Walks our parameters and finds for each its tensor; then tells what was left over."""

    def __init__(self, plan: Plan, tensors: Tensors) -> None:
        self.plan, self.tensors = plan, tensors
        apart = plan.family.apart if plan.config.embed.apart else {}
        self.rows = {**plan.family.weights, **plan.head.weights, **apart}
        self.used: set[str] = set()
        self.based = not tensors or any(name.startswith(plan.family.base) for name in tensors)

    def pour(self, model: Transformer) -> dict[str, Tensor]:
        """Our state, with their tensors; a tied parameter is the same tensor. Raises CheckpointError."""
        self._require_all(model)
        state = {name: self._tensor(name, parameter) for name, parameter in model.named_parameters()}
        self._require_nothing_left(model)
        return state

    @property
    def left(self) -> tuple[str, ...]:
        """Their tensors that no parameter of ours uses."""
        return tuple(sorted(set(self.tensors) - self.used))

    def names(self, name: str) -> list[str]:
        """What our parameter may be called, the usual name first: a head has none of the base model's prefix."""
        row, leaf = self._row(name)
        layer = re.search(r"\d+", name)
        numbers = self.plan.family.numbers(self.plan.fields, int(layer[0])) if layer else {}
        theirs = [option.format(**numbers) + leaf for option in row.name.split("|")]
        base = self.plan.family.base
        bases = ("", base) if name.startswith("top.") or not self.based else (base, "")
        return [base + name for name in theirs for base in bases]

    def where(self, name: str) -> str | None:
        """The name of the tensor that our parameter is made of; None where the checkpoint has none."""
        return next((place for place in self.names(name) if place in self.tensors), None)

    def _source(self, name: str) -> str | None:
        """The same; a tied embedding may be kept as the head's."""
        tied = name == "embedding.weight" and self.plan.config.tied
        return self.where(name) or (self.where("top.project.weight") if tied else None)

    def _require_all(self, model: Transformer) -> None:
        """Raise CheckpointError that lists what is missing, and a few of those that nothing asks for."""
        sources = {name: self._source(name) for name, _ in model.named_parameters()}
        missing = [self.names(name)[0] for name, source in sources.items() if source is None]
        if not missing:
            return
        spare = self._unexpected(model, sorted(set(self.tensors) - set(sources.values())))
        unused = f", and its config has no use for {listed(spare)}" if spare else ""
        raise CheckpointError(f"{self.plan.fields.name}: the weights lack {listed(missing)}{unused}.")

    def _tensor(self, name: str, parameter: Tensor) -> Tensor:
        theirs = str(self._source(name))
        tensor = self.tensors[theirs]
        self.used.add(theirs)
        for step in self._row(name)[0].steps:
            tensor = self._stepped(step, tensor, name, theirs)
        if tensor.shape != parameter.shape:
            raise CheckpointError(
                f"{self.plan.fields.name}: {theirs} gives {name} as {tuple(tensor.shape)}; "
                f"the config wants {tuple(parameter.shape)}."
            )
        return tensor

    def _stepped(self, step: Step, tensor: Tensor, name: str, theirs: str) -> Tensor:
        try:
            return step(tensor, self.plan.config.of(name.partition(".")[0]))
        except (RuntimeError, IndexError, ValueError) as error:
            shape = tuple(tensor.shape)
            raise CheckpointError(
                f"{self.plan.fields.name}: {theirs} is {shape}; {name} cannot be cut from it."
            ) from error

    def _row(self, name: str) -> tuple[Cut, str]:
        """The row of a parameter, or of its module with `.weight` or `.bias` as what is left of its name."""
        pattern = re.sub(r"\.\d+\.", ".{i}.", name, count=1)
        module, _, leaf = pattern.rpartition(".")
        for key, rest in ((pattern, ""), (module, f".{leaf}")):
            if key in self.rows:
                row = self.rows[key]
                return (Cut(row) if isinstance(row, str) else row), rest
        raise CheckpointError(f"{self.plan.fields.name}: nothing in its family's table is our {name}.")

    def _require_nothing_left(self, model: Transformer) -> None:
        if unexpected := self._unexpected(model, self.left):
            raise CheckpointError(
                f"{self.plan.fields.name}: weights that its config has no use for: {listed(unexpected)}."
            )

    def _unexpected(self, model: Transformer, left: Sequence[str]) -> list[str]:
        """Of tensors that no parameter uses those that the family does not know as such."""
        ignored = [*self.plan.family.ignored, *self.plan.head.ignored]
        if model.config.tied:
            row, leaf = self._row("top.project.weight")
            ignored += [name + leaf for name in row.name.split("|")]
        plain = {name: name.removeprefix(self.plan.family.base) for name in left}
        return [name for name in left if not any(fnmatchcase(plain[name], pattern) for pattern in ignored)]


def listed(names: list[str] | tuple[str, ...], most: int = 8) -> str:
    """Names with commas, the first few of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
