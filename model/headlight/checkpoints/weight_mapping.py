"""Checkpoint families as data: the mapping from a `model_type`'s config fields and tensor names to ours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import count, takewhile
from typing import Any

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import MAX_LAYERS, ConfigReader
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.config import Config, OutputHeadConfig
from headlight.errors import CheckpointError, ConfigError, shortened
from headlight.nn.transformer import Transformer

WeightOp = Callable[[Tensor, Config], Tensor]
ConfigValues = dict[str, Any]
FindTensor = Callable[[str], Tensor | None]  # a tensor of the file by its name without the prefix of the base model


@dataclass(frozen=True)
class WeightRule:
    """The source of a parameter: a tensor (or module) of the checkpoint, and the operations applied to it in order.

    `source` may list alternatives separated by "|"; the first one in the checkpoint is used. If it has a "*", the
    tensors numbered from 0 are stacked on a new first axis. `combine` joins that tensor with another one, `second`,
    before the operations, unless the config says by `has_second` that the file has none.
    """

    source: str
    ops: tuple[WeightOp, ...] = ()
    second: str = ""
    has_second: Callable[[ConfigReader], bool] = lambda fields: True
    combine: Callable[[Tensor, Tensor], Tensor] = lambda tensor, other: tensor


def rule(name: str, *ops: WeightOp) -> WeightRule:
    """A weight rule with operations."""
    return WeightRule(name, ops)


WeightRules = dict[str, str | WeightRule]


@dataclass(frozen=True)
class HeadMapping:
    """The output head of one of the family's classes: its Config fields, its weights, ignored tensors, and a note."""

    config_values: Callable[[ConfigReader], ConfigValues]
    weights: WeightRules = field(default_factory=dict)
    ignored_tensors: tuple[str, ...] = ()
    note: str = ""  # for the reader of its logits


def no_head(fields: ConfigReader) -> ConfigValues:
    """A model without an output head."""
    return {"output_head": "none"}


@dataclass(frozen=True)
class Family:
    """One `model_type`, as data.

    config_values: reads the config's fields into fields of Config; one in a group has its path, `attention.qk_norm`.
    weights: our parameters (or modules) -> tensor names, with `{i}` for the layer.
    heads_by_class: output heads by the ending of their class name ("ForCausalLM").
    base_model_prefix: possible prefix of every tensor name outside the head.
    ignored_tensors: patterns of tensors without effect on the forward pass.
    required_values: config fields that change the computation, with the one value supported.
    ignored_fields: config fields that never affect the forward pass, or only together with certain others.
    name_indices: values for the placeholders in a tensor name, by layer.
    attribute_map: aliases of config fields -> the family's own names (as in transformers).
    untied_weights: rules that replace others if encoder and decoder have separate embeddings.
    stored_tables: the Config fields for tables that the config computes or shares, if the file stores other ones.
    defaults: values of config fields that a file may leave out.
    factors: factors from the config on the outputs of some modules, by the end of the module's name; applied to their
        weights instead.
    any_image_size: whether the preprocessor's image size replaces the config's.
    uncounted_id: the padding token, if the positions of a text are counted without it.
    source_uncounted_id: the same for the source of a decoder with another vocabulary.
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
    stored_tables: Callable[[Config, FindTensor], ConfigValues] = lambda config, find: {}
    defaults: dict[str, Any] = field(default_factory=dict)
    factors: Callable[[ConfigReader], Mapping[str, float]] = lambda fields: {}
    any_image_size: bool = False
    uncounted_id: Callable[[ConfigReader], int | None] = lambda fields: None
    source_uncounted_id: Callable[[ConfigReader], int | None] = lambda fields: None


@dataclass(frozen=True)
class ConversionPlan:
    """The conversion of one checkpoint: its Config, its output head, and notes for the user."""

    family: Family
    fields: ConfigReader
    head: HeadMapping
    config: Config
    notes: tuple[str, ...]

    @property
    def unknown_fields(self) -> list[str]:
        """Config fields that the family neither reads for any of its heads nor lists as ignored.

        Only complete after loading the weights: rules may read fields, too.
        """
        of_other_heads = ConfigReader(self.fields.values, self.fields.name)
        for head in self.family.heads_by_class.values():
            with suppress(CheckpointError):
                head.config_values(of_other_heads)
        known = self.fields.fields_read | of_other_heads.fields_read
        known |= {*COMMON_REQUIRED_VALUES, *COMMON_IGNORED_FIELDS, *self.family.required_values}
        known |= {*self.family.ignored_fields, *self.family.attribute_map}
        known |= set(self.family.defaults)
        given = (name for name, value in self.fields.values.items() if value is not None)
        return [name for name in given if name not in known and not name.startswith("_")]


def make_plan(family: Family, fields: ConfigReader, tensors: LazyTensors) -> ConversionPlan:
    """Read the config and choose the head. Raises CheckpointError for missing, wrong or unsupported fields."""
    fields = fields.with_aliases(family.attribute_map).with_defaults(**family.defaults)
    fields.tensor_names = frozenset(tensors)
    fields.require_values({**COMMON_REQUIRED_VALUES, **family.required_values})
    head, notes = _choose_head(family, fields, tensors)
    values = {"embedding.tied": False, **family.config_values(fields)}
    values.update(head.config_values(fields))
    if values.get("output_head") == "sequence-classifier":
        given = values.get("output_head_config", OutputHeadConfig())
        values["output_head_config"] = replace(given, problem_type=_problem_type(fields))
    if values.get("decoder.start_token_id", 0) >= values["vocabulary_size"]:
        values["decoder.start_token_id"] = 0  # the token does not exist; _out_of_vocabulary_notes reports it
    try:
        config = Config.from_paths(values)
    except (ConfigError, TypeError) as error:
        raise CheckpointError(f"{fields.name}: {error}") from error
    of_layers = filter(None, [config.recurrence.describe()])
    return ConversionPlan(family, fields, head, config, (*notes, *of_layers, *_out_of_vocabulary_notes(fields, config)))


PROBLEM_TYPE_NAMES = {
    "single_label_classification": "single-label",
    "multi_label_classification": "multi-label",
    "regression": "regression",
}


def _problem_type(fields: ConfigReader) -> str:
    """What the logits of labels mean."""
    return fields.choice("problem_type", "single_label_classification", PROBLEM_TYPE_NAMES)


def _out_of_vocabulary_notes(fields: ConfigReader, config: Config) -> tuple[str, ...]:
    """Notes about special tokens beyond the vocabulary; none for a sound with labels, which has no tokens."""
    if config.predicts_from_sound and config.labels:
        return ()
    names = [name for name in fields.values if name.endswith("_token_id")]
    token_ids = {name: fields.values[name] for name in names if type(fields.values[name]) is int}
    return tuple(
        f"Its {name} is {number}, but the vocabulary ends at {config.vocabulary_size - 1}."
        for name, number in token_ids.items()
        if not 0 <= number < config.vocabulary_size
    )


# Fields of any config that change the computation, with the one value supported.
COMMON_REQUIRED_VALUES: Mapping[str, Any] = {
    "pruned_heads": {},
    "add_cross_attention": False,
    "cross_attention_hidden_size": (),
    "quantization_config": (),
}

# Fields of any config without effect on the results of a trained model, and settings of generation, which old files
# have beside them.
COMMON_IGNORED_FIELDS = (
    "architectures", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "auto_map", "bad_words_ids",
    "bos_token_id", "chunk_size_feed_forward", "classif_dropout", "classifier_dropout", "classifier_dropout_prob",
    "decoder_start_token_id", "do_sample", "dropout", "dtype", "early_stopping", "embd_pdrop", "embed_dropout",
    "embedding_dropout", "eos_token_id", "finetuning_task", "forced_bos_token_id", "forced_eos_token_id",
    "gradient_checkpointing", "hidden_dropout", "hidden_dropout_prob", "id2label", "init_std", "initializer_factor",
    "initializer_range", "is_encoder_decoder", "label2id", "layerdrop", "length_penalty", "mask_token_id",
    "max_length", "min_length", "model_max_length", "model_type", "no_repeat_ngram_size", "num_beams", "num_labels",
    "num_return_sequences", "output_attentions", "output_hidden_states", "output_past", "pad_token_id",
    "pooler_dropout", "prefix", "repetition_penalty", "resid_dropout", "resid_pdrop", "return_dict",
    "sep_token_id", "task_specific_params", "temperature", "tie_encoder_decoder", "tie_word_embeddings", "tie_weights_",
    "tokenizer_class", "top_k", "top_p", "torch_dtype", "torchscript", "transformers_version", "use_bfloat16",
    "use_cache",
)  # fmt: skip


_WITH_SECOND_HEAD = re.compile(r"(ForCausalLM|LMHeadModel)With\w+Head$")  # such as TRL's value head


def _choose_head(family: Family, fields: ConfigReader, tensors: LazyTensors) -> tuple[HeadMapping, tuple[str, ...]]:
    """The output head that the config's `architectures` names; without it, the one with the most tensors present."""
    classes = [_WITH_SECOND_HEAD.sub(r"\1", name) for name in fields.list_of("architectures", str)]
    classes = [name.replace("DoubleHeadsModel", "LMHeadModel") for name in classes]
    if classes:
        for ending, head in family.heads_by_class.items():
            if classes[0].endswith(ending):
                return head, (head.note,) * bool(head.note)
        if not classes[0].endswith("Model") or re.search(r"For[A-Z]|Head", classes[0]):
            note = f"The output head of {shortened(classes[0])} is not supported; the model is loaded without one."
            return HeadMapping(no_head, ignored_tensors=("*",)), (note,)
        return HeadMapping(no_head), ()
    counts = [
        (_matching_rules(head, family.base_model_prefix, fields, tensors), head)
        for head in family.heads_by_class.values()
    ]
    none = (-1, HeadMapping(no_head))
    count, head = max(counts, key=lambda pair: pair[0], default=none)  # the first of equals
    if count < 0:
        return HeadMapping(no_head), ()
    return head, ("Its config has no `architectures`; the output head was chosen from the tensors present.",)


def _matching_rules(head: HeadMapping, base: str, fields: ConfigReader, tensors: LazyTensors) -> int:
    """The number of a head's rules that find a tensor; -1 if one is missing that is not tied to the embedding."""
    stored = {key for key, row in head.weights.items() if _is_stored(row, base, tensors)}
    missing = set(head.weights) - stored
    tied = missing == {"output_head.projection"} and head.config_values(fields).get("embedding.tied", False)
    return len(stored) if tied or not missing else -1


def _is_stored(row: str | WeightRule, base: str, tensors: LazyTensors) -> bool:
    names = (row if isinstance(row, str) else row.source).split("|")
    return any(tensor.removeprefix(base).startswith(name) for tensor in tensors for name in names)


def wrappers_of(family: Family, tensors: LazyTensors) -> tuple[str, ...]:
    """The prefixes that a program put before all names of a model, such as "_orig_mod." or "module."; empty if none.

    They stand before the names of the family's rules, and before the prefix of the base model; none of these names
    stands alone. Several prefixes are those of several models.
    """
    sources = {option for row in family.weights.values() for option in _source(row).split("|")}
    written = "|".join(sorted((_as_expression(source) for source in sources), key=len, reverse=True))
    base = re.escape(family.base_model_prefix)
    ends = re.compile(rf"(?P<wrapper>(?:[^.]{{1,80}}\.){{0,8}}?)(?:{base})?(?:{written})(?:\.weight|\.bias)?")
    counts = Counter(found["wrapper"] for name in tensors if (found := ends.fullmatch(name)))
    return () if counts[""] else tuple(name for name, count in counts.items() if count == max(counts.values()) > 0)


# Modules that torch puts around single layers: compiled, sharded or recomputed ones.
_AROUND_LAYERS = re.compile(r"(?<=\.)(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")


def without_wrappers(family: Family, tensors: LazyTensors) -> tuple[LazyTensors, tuple[str, ...]]:
    """The tensors by the names that they have without modules around the model or its layers, and notes on them."""
    notes = []
    if wrappers := wrappers_of(family, tensors):
        tensors = tensors.renamed(lambda name: name.removeprefix(wrappers[0]))
        notes.append(f"The prefix {shortened(wrappers[0])!r} was taken off the names of its tensors.")
    if wrappers[1:]:
        others = join_names([repr(shortened(name)) for name in wrappers[1:]], 3)
        notes.append(f"It holds further models of the same kind, which are left out, under {others}.")
    if inner := sorted({found for name in tensors for found in _AROUND_LAYERS.findall(name)}):
        tensors = tensors.renamed(lambda name: _AROUND_LAYERS.sub("", name))
        notes.append(f"{join_names(inner)} was taken off inside the names of its tensors.")
    return tensors, tuple(notes)


def _source(row: str | WeightRule) -> str:
    return row if isinstance(row, str) else row.source


def _as_expression(source: str) -> str:
    """A source of a rule as a regular expression: numbers in place of its placeholders."""
    return re.sub(r"\\\{\w+\\\}|\\\*", r"\\d+", re.escape(source))


class WeightLoader:
    """Finds a tensor of the checkpoint for each parameter of a model, and lists the unused tensors."""

    def __init__(self, plan: ConversionPlan, tensors: LazyTensors) -> None:
        self.plan, self.tensors = plan, tensors
        untied_weights = plan.family.untied_weights if plan.config.embedding.separate_encoder else {}
        self.rules = {**plan.family.weights, **plan.head.weights, **untied_weights}
        self.sources: dict[str, str] = {}  # the loaded tensors, by parameter
        self.loaded: set[str] = set()
        self.factors = plan.family.factors(plan.fields)
        self.has_prefix = not tensors or any(name.startswith(plan.family.base_model_prefix) for name in tensors)

    def load(self, model: Transformer) -> Iterator[tuple[str, Tensor]]:
        """Each parameter's name and tensor; a tied parameter occurs once.

        Raises CheckpointError for a missing tensor, and for one that the model should have a parameter for.
        """
        self._require_all(model)
        for name, parameter in model.named_parameters():
            yield name, self._load_tensor(name, parameter)
        self._reject_unexpected(model)

    @property
    def unused(self) -> tuple[str, ...]:
        """Tensors of the checkpoint that no parameter uses."""
        return tuple(sorted(set(self.tensors) - self.loaded))

    def candidate_names(self, name: str) -> list[str]:
        """Possible names of a parameter in the checkpoint, the usual one first; a head has no base model prefix."""
        row, suffix = self._rule(name)
        return self._written(row.source, suffix, name)

    def _written(self, source: str, suffix: str, name: str) -> list[str]:
        """The possible names of a source in the checkpoint for the parameter `name`."""
        layer = re.search(r"\d+", name)
        indices = self.plan.family.name_indices(self.plan.fields, int(layer[0])) if layer else {}
        theirs = [option.format(**indices) + suffix for option in source.split("|")]
        prefix = self.plan.family.base_model_prefix
        prefixes = ("", prefix) if name.startswith("output_head.") or not self.has_prefix else (prefix, "")
        return [base + name for name in theirs for base in prefixes]

    def find(self, name: str) -> str | None:
        """The name of a parameter's tensor, or of its stacked tensors; None if the checkpoint has none."""
        return next((candidate for candidate in self.candidate_names(name) if self._parts(candidate)), None)

    def _parts(self, source: str) -> list[str]:
        """The names of the tensors of a source: itself, or those numbered from 0 at its "*"."""
        if "*" not in source:
            return [source] if source in self.tensors else []
        numbered = (source.replace("*", str(number)) for number in count())
        return list(takewhile(self.tensors.__contains__, numbered))

    def _find_or_tied(self, name: str) -> str | None:
        """Like `find`, but a tied embedding may also be stored as the output head's weight."""
        tied = name == "embedding.weight" and self.plan.config.embedding.tied
        return self.find(name) or (self.find("output_head.projection.weight") if tied else None)

    def _require_all(self, model: Transformer) -> None:
        """Raise CheckpointError with a list of missing tensors and a few unused ones."""
        sources = {name: self._find_or_tied(name) for name, _ in model.named_parameters()}
        lacking = [name for name, source in sources.items() if source is None]
        if not lacking:
            return
        missing = [self.candidate_names(name)[0] for name in lacking]
        if all(name.startswith("output_head.") for name in lacking):
            raise CheckpointError(
                f"{self.plan.fields.name}: its output head was not trained, or is in another file: missing tensors: "
                f"{join_names(missing)}. They would have to be random numbers; give the model that the head is part of."
            )
        found = {part for source in sources.values() if source for part in self._parts(source)}
        unexpected = self._unexpected(model, sorted(set(self.tensors) - found))
        unused = f"; no parameter of the model uses {join_names(unexpected)}" if unexpected else ""
        raise CheckpointError(f"{self.plan.fields.name}: missing tensors: {join_names(missing)}{unused}.")

    def _load_tensor(self, name: str, parameter: Tensor) -> Tensor:
        source = str(self._find_or_tied(name))
        parts = self._parts(source)
        self.sources[name] = source
        self.loaded.update(parts)
        tensor = self.tensors[source] if parts == [source] else self._stacked(parts, name)
        row = self._rule(name)[0]
        if row.second and row.has_second(self.plan.fields):
            tensor = self._combined(row, tensor, name)
        for step in row.ops:
            tensor = self._apply_op(step, tensor, name, source)
        for module, factor in self.factors.items():
            if name.removesuffix(".weight").removesuffix(".bias").endswith(module) and factor != 1:
                tensor = tensor.float() * factor
        if tensor.shape != parameter.shape:
            raise CheckpointError(
                f"{self.plan.fields.name}: {source} gives {name} as {tuple(tensor.shape)}; "
                f"the config wants {tuple(parameter.shape)}."
            )
        return tensor

    def _combined(self, row: WeightRule, tensor: Tensor, name: str) -> Tensor:
        """A tensor combined with the second one of its rule."""
        names = self._written(row.second, "", name)
        found = next((candidate for candidate in names if candidate in self.tensors), None)
        if found is None:
            raise CheckpointError(f"{self.plan.fields.name}: missing tensors: {names[0]}.")
        self.loaded.add(found)
        other = self.tensors[found]
        try:
            return row.combine(tensor, other)
        except RuntimeError as error:
            shapes = f"{tuple(tensor.shape)} and {tuple(other.shape)}"
            raise CheckpointError(f"{self.plan.fields.name}: {name} and {found} do not fit: {shapes}.") from error

    def _stacked(self, parts: list[str], name: str) -> Tensor:
        tensors = [self.tensors[part] for part in parts]
        if len({tensor.shape for tensor in tensors}) > 1:
            raise CheckpointError(f"{self.plan.fields.name}: {join_names(parts, 3)} have different shapes.")
        return torch.stack(tensors)

    def _apply_op(self, op: WeightOp, tensor: Tensor, name: str, source: str) -> Tensor:
        try:
            return op(tensor, self.plan.config.for_path(name.replace(".blocks.", ".")))
        except (RuntimeError, IndexError, ValueError) as error:
            shape = tuple(tensor.shape)
            raise CheckpointError(
                f"{self.plan.fields.name}: {name} cannot be computed from {source}, which has the shape {shape}."
            ) from error

    def _rule(self, name: str) -> tuple[WeightRule, str]:
        """The rule of a parameter and "", or the rule of its module and the suffix `.weight` or `.bias`."""
        pattern = re.sub(r"\.\d+\.", ".{i}.", name, count=1)
        module, _, leaf = pattern.rpartition(".")
        for key, rest in ((pattern, ""), (module, f".{leaf}")):
            if key in self.rules:
                row = self.rules[key]
                return (WeightRule(row) if isinstance(row, str) else row), rest
        raise CheckpointError(f"{self.plan.fields.name}: its family has no rule for the parameter {name}.")

    def _reject_unexpected(self, model: Transformer) -> None:
        if unexpected := [name for name in self._unexpected(model, self.unused) if self._is_inside(name)]:
            raise CheckpointError(f"{self.plan.fields.name}: no parameter of the model uses {join_names(unexpected)}.")

    def _unexpected(self, model: Transformer, unused: Sequence[str]) -> list[str]:
        """Unused tensors that the family does not list as ignored."""
        ignored = [*self.plan.family.ignored_tensors, *self.plan.head.ignored_tensors]
        if model.config.embedding.tied:
            row, leaf = self._rule("output_head.projection.weight")
            ignored += [name + leaf for name in row.source.split("|")]
        ignored += [f"layers.{model.config.layers + number}.*" for number in range(self._later_token_layers)]
        unprefixed = {name: name.removeprefix(self.plan.family.base_model_prefix) for name in unused}
        return [name for name in unused if not any(fnmatchcase(unprefixed[name], pattern) for pattern in ignored)]

    @property
    def _later_token_layers(self) -> int:
        """The number of layers after the last that predict tokens after the next one (DeepSeek-V3)."""
        values = (self.plan.fields.values.get(name) for name in ("num_nextn_predict_layers", "num_mtp_layers"))
        return min(max((value for value in values if type(value) is int), default=0), MAX_LAYERS)

    def _is_inside(self, name: str) -> bool:
        """Whether a tensor lies in a module or layer that the model has, or in a further layer of the same kind.

        Such a tensor would change the results. Another output head, a loss or a layer for later tokens would not.
        """
        modules, layers, kinds = self._loaded_places
        kind = _NUMBER.sub(".{i}.", name)
        return name.rpartition(".")[0] in modules or _layer_of(name) in layers or kind in kinds

    @cached_property
    def _loaded_places(self) -> tuple[set[str], set[str], set[str]]:
        """Of the loaded tensors: their modules, their layers, and their names without numbers."""
        names = set(self.loaded)
        if self.plan.config.embedding.tied:
            names |= set(self.candidate_names("output_head.projection.weight"))
        modules, kinds = {name.rpartition(".")[0] for name in names}, {_NUMBER.sub(".{i}.", name) for name in names}
        return modules, set(filter(None, map(_layer_of, names))), kinds


_NUMBER = re.compile(r"\.\d+\.")


def _layer_of(name: str) -> str:
    """The name of a tensor up to its first number, the layer; "" if it has none."""
    found = _NUMBER.search(f".{name}")
    return name[: found.end() - 1] if found else ""


def join_names(names: list[str] | tuple[str, ...], limit: int = 8) -> str:
    """The first `limit` names joined by commas, on one line even if a file's names contain line breaks."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    printable = ("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in name) for name in names[:limit])
    return ", ".join(printable) + more


def transpose(tensor: Tensor, config: Config) -> Tensor:
    """A weight stored as [in out]; a bias does not change."""
    return tensor.t() if tensor.dim() == 2 else tensor


def chunk(index: int, chunks: int, axis: int = 0) -> WeightOp:
    """One of several equal blocks, by default of rows."""
    return lambda tensor, config: tensor.chunk(chunks, dim=axis)[index]


def skip_rows(offset: int) -> WeightOp:
    """All rows except the first `offset`, which no position uses."""
    return lambda tensor, config: tensor[offset:]


def last_positions(tensor: Tensor, config: Config) -> Tensor:
    """The last rows, one for each position of the context; the rows before them are padding."""
    return tensor[-config.context_length :]


def per_head_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) of a fused weight ordered by head."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        return unflatten_rows(tensor, config.heads, 3, config.head_dim)[:, index].flatten(0, 1)

    return step


def grouped_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) of a fused weight with each key/value head after its group of queries."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        group_size = config.heads // config.key_value_heads
        grouped = unflatten_rows(tensor, config.key_value_heads, group_size + 2, config.head_dim)
        chosen = grouped[:, :group_size] if index == 0 else grouped[:, group_size + index - 1]
        return chosen.reshape(-1, *tensor.shape[1:])

    return step


def stacked_qkv(index: int) -> WeightOp:
    """Query (0), key (1) or value (2) of a fused weight with all queries, then all keys, then all values."""

    def step(tensor: Tensor, config: Config) -> Tensor:
        keys, values = (config.key_value_heads * width for width in (config.head_dim, config.value_head_dim))
        sizes = [config.heads * config.head_dim, keys, values]
        return torch.split(tensor, sizes)[index]

    return step


def beside_each_other(tensor: Tensor, config: Config) -> Tensor:
    """Stacked matrices as one, with their columns side by side."""
    return tensor.transpose(0, 1).flatten(1)


def flatten(tensor: Tensor, config: Config) -> Tensor:
    """The vector in a tensor that is stored as a matrix."""
    return tensor.flatten()


def flip_halves(tensor: Tensor, config: Config) -> Tensor:
    """Exchanges the two halves of each head's channels: RoPE then rotates in the opposite direction."""
    return unflatten_rows(tensor, -1, 2, config.head_dim // 2).flip(1).flatten(0, 2)


def unflatten_rows(tensor: Tensor, *sizes: int) -> Tensor:
    """Splits the row axis of a tensor into several axes."""
    return tensor.reshape(*sizes, *tensor.shape[1:])
