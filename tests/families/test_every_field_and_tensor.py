"""Each field and tensor of a checkpoint changes the trace, is listed as not loaded, or is refused."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

from headlight.analysis.contacts import predict_contacts
from headlight.checkpoints import load
from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.convert import ForeignCheckpoint, load_weights, plan_conversion
from headlight.checkpoints.load import meta_model_within
from headlight.checkpoints.source import open_source
from headlight.checkpoints.tensor_files import LazyTensors, open_tensors
from headlight.checkpoints.weight_mapping import COMMON_IGNORED_FIELDS, ConversionPlan, WeightLoader
from headlight.config import Config
from headlight.errors import HeadlightError
from headlight.nn.transformer import Transformer
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from tests.families.cases import CASES, EACH_FAMILY
from tests.families.reference import Case, build, inputs, opened_path

pytestmark = pytest.mark.usefixtures("unchecked_shapes")  # thousands of forwards; test_parity checks their shapes
MOVED = 1e-3
# Read without changing a number of the trace: context length, start token, label names.
TOLD = ("context_length", "decoder.start_token_id", "labels", "embedding.tied")
# Read only if another field, which the reference's files have, is absent; and heads stored untied
# despite tie_word_embeddings remain two weights.
SUPERSEDED = (
    "interleave_moe_layer_step",
    "max_window_layers",
    "n_ctx",
    "no_rope_layer_interval",
    "pad_token_id",
    "tie_word_embeddings",
    "use_sliding_window",
)
# Tables that are not loaded as long as they hold what the family computes.
COMPARED = {"pegasus": "embed_positions.weight"}
# Ignored fields inside nested groups.
UNREAD = (
    "attn_impl", "mrope_section", "mrope_interleaved", "problem_type", "activation_dropout", "decoder_layerdrop",
    "encoder_stride", "pooler_act", "pooler_output_size", "add_cross_attention", "is_decoder",
)  # fmt: skip


@lru_cache(maxsize=1)
def empty_model(config: Config) -> Transformer:
    """A model without weights, reused: new weights replace the previous ones."""
    return meta_model_within(config, "reference")


def with_weights(source: ForeignCheckpoint) -> Transformer:
    model = empty_model(source.plan.config)
    load_weights(source, model, torch.device("cpu"), torch.float32)
    return model.requires_grad_(False).eval()


class Opened:
    """A saved case that can be loaded again with other fields or tensors."""

    def __init__(self, case: Case, folder: Path) -> None:
        build(case, folder)
        self.case = case
        self.path = opened_path(case, folder)
        self.values = open_source(self.path).config_json
        self.tensors = {name: tensor.clone() for name, tensor in open_tensors(folder, "model").items()}
        self.source = self.plan(self.values, self.tensors)
        with_weights(self.source)  # this reads the remaining fields

    @cached_property
    def trace(self) -> Trace:
        return self.run(self.source)

    @cached_property
    def tokenizer(self) -> Any:
        return load(self.path).tokenizer

    def plan(self, values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> ForeignCheckpoint:
        readers = {name: (lambda tensor=tensor: tensor) for name, tensor in tensors.items()}
        return plan_conversion(ConfigReader(values, "reference"), LazyTensors(readers))

    def run(self, source: ForeignCheckpoint) -> Trace:
        model = with_weights(source)
        trace = run(model, self.tokenizer, **inputs(self.case, source.plan.config))
        contacts = {"contacts": predict_contacts(model, trace)} if model.contact_head else {}
        return replace(trace, values={**trace.values, **contacts})

    def moved(self, trace: Trace) -> bool:
        return set(trace.values) != set(self.trace.values) or any(
            value.shape != trace.values[path].shape
            or (np.abs(_finite(value) - _finite(trace.values[path])) > MOVED).any()
            for path, value in self.trace.values.items()
        )


def _finite(value: np.ndarray) -> np.ndarray:
    return np.nan_to_num(value.astype(np.float64), neginf=-1e9)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Opened]:
    """The first case of a family, built once."""
    return cache(lambda family: Opened(CASES[family][0], tmp_path_factory.mktemp("opened")))


@pytest.mark.parametrize("family", EACH_FAMILY)
def test_every_tensor_changes_the_trace_or_is_listed_as_not_loaded(
    family: str, opened: Callable[[str], Opened]
) -> None:
    first = opened(family)
    loader = WeightLoader(first.source.plan, first.source.tensors)
    dict(loader.load(empty_model(first.source.plan.config)))
    generator = torch.Generator().manual_seed(1)
    for name, tensor in first.tensors.items():
        other = tensor * 1.5 + torch.randn(tensor.shape, generator=generator)
        trace = first.run(first.plan(first.values, {**first.tensors, name: other}))
        is_read = name not in loader.unused or name.endswith(COMPARED.get(family, "no table"))
        assert first.moved(trace) == is_read, name


@pytest.mark.parametrize("family", EACH_FAMILY)
def test_every_field_that_is_read_changes_the_trace_or_is_refused(family: str, opened: Callable[[str], Opened]) -> None:
    first = opened(family)
    for name, values in _changed_anywhere(first.values, first.source.plan.fields.fields_read):
        try:
            source = first.plan(values, first.tensors)
            trace = first.run(source)
        except HeadlightError:
            continue
        told = any(attrgetter(path)(source.plan.config) != attrgetter(path)(first.source.plan.config) for path in TOLD)
        assert told or first.moved(trace), f"{name} does nothing"


def _changed_anywhere(values: dict[str, Any], read: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """`_changed`, inside text_config if there is one."""
    if "text_config" not in values:
        return _changed(values, read)
    inner = _changed(values["text_config"], read - {"use_bidirectional_attention"})  # concerns PaliGemma's prompts
    return ((name, {**values, "text_config": changed}) for name, changed in inner)


def _changed(values: dict[str, Any], read: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The config with one field changed, for each field that is read, including nested ones."""
    for name, value in values.items():
        if name not in read or name in ("architectures", "model_type", *SUPERSEDED):
            continue
        if isinstance(value, dict) and name not in ("id2label", "label2id"):
            named = {inner for inner in value if not inner.startswith("_")}
            for inner, changed in _changed(value, named - {"type", *UNREAD, *COMMON_IGNORED_FIELDS}):
                yield f"{name}.{inner}", {**values, name: changed}
        else:
            yield name, {**values, name: _other(value)}


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return 2 * value + 1
        case float():
            return value * 2 + 0.1
        case "relu":
            return "silu"
        case str():
            return "relu"
        case list():
            return value[:-1] or [0]
    return {"0": "another"}


@pytest.mark.parametrize("family", EACH_FAMILY)
def test_every_field_of_the_reference_is_read_required_or_ignored(
    family: str, opened: Callable[[str], Opened], tmp_path: Path
) -> None:
    others = [Opened(case, tmp_path / str(number)) for number, case in enumerate(CASES[family][1:])]
    plans = [each.source.plan for each in (opened(family), *others)]
    assert [name for plan in plans for name in plan.unknown_fields] == []
    if CASES[family][0].rewrite:
        return  # the fields are not those of the reference
    own = getattr(transformers, CASES[family][0].kind).config_class().to_dict()
    unread = set.intersection(*(set(replace(plan, fields=own_fields(plan, own)).unknown_fields) for plan in plans))
    assert not unread, f"fields that are never read: {sorted(unread)}"


def own_fields(plan: ConversionPlan, values: Mapping[str, Any]) -> ConfigReader:
    """All fields of a family's config, marked as read if the plan has read them."""
    fields = ConfigReader(values, "reference")
    fields.fields_read = plan.fields.fields_read
    return fields
