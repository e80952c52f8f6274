"""Models on a device that is not there: the same numbers, no tensor on the wrong device, none read by NumPy unmoved."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from headlight import (
    ATTENTION_FUNCTIONS,
    POSITIONAL_ENCODINGS,
    Trace,
    Transformer,
    attention_sinks,
    beam_search,
    cell_ledger,
    compare_rankings,
    fill_mask,
    generate,
    moved_values,
    patching_map,
    path_patching,
    process_image,
    remove_head,
    run,
    sentence_similarity,
    trace_copying,
    variant,
)
from headlight.analysis.ablation import ablate_heads, ablate_tokens
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.faithfulness.alti_logit import alti_logit
from headlight.analysis.information_flow import information_flow
from headlight.analysis.lenses.logit_lens import logit_lens
from headlight.analysis.neuron_attribution import attribute_neurons, neuron_vocabulary
from headlight.analysis.position_profile import position_profile
from headlight.analysis.walkthrough.attention import attention_walkthrough
from headlight.analysis.walkthrough.prediction import prediction_walkthrough
from headlight.analysis.weight_importance import attention_gradient, gradient_times_input, weighted_value_norm
from headlight.config import EmbeddingConfig, ExpertsConfig, LatentConfig, OutputHeadConfig, RopeConfig
from headlight.nn import attention
from headlight.nn.attention import QK_NORMS
from headlight.nn.layers import FEED_FORWARDS, NORMS
from headlight.nn.masks import mask_examples, parse_masks
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import Alibi
from headlight.nn.rope_scaling import ROPE_SCALINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.tracing.continuation import FinishedRun
from headlight.tracing.recompute import logits_at, max_pooled_value, recompute_value
from headlight.tracing.request import RECOMPUTE_FROM, RunRequest
from headlight.tracing.runner import run_request, run_requests
from tests.model import toys
from tests.model.other_device import OTHER, moved, other_device

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

KEEP = ("*.weights", "*.mask", "*.final_residual", "*.residual", "*.input")
LONG = {
    "rope": RopeConfig(scaling="longrope", original_context_length=4, short_factor=(1.0, 2.0), long_factor=(3.0, 4.0))
}
EXPERTS = ExpertsConfig(count=4, shared_d_ff=5, bias=True, choice_bias=True, groups=2)
LATENT = LatentConfig(query_channels=9, key_value_channels=7, shared_key_channels=2)
CHOICES: dict[str, dict[str, Any]] = {
    **{f"position {name}": {"positional_encoding": name} for name in POSITIONAL_ENCODINGS},
    **{f"function {name}": {"attention_function": name} for name in ATTENTION_FUNCTIONS},
    **{f"mask {name}": {"masks": parse_masks(name)} for name in mask_examples() if not name.startswith("custom")},
    **{f"placement {name}": {"norm_placement": name} for name in NORM_PLACEMENTS},
    **{f"norm {name}": {"norm": name} for name in NORMS},
    **{f"QK norm {name}": {"attention.qk_norm": name} for name in QK_NORMS},
    **{f"feed-forward {name}": {"feed_forward": name} for name in FEED_FORWARDS},
    **{f"rope {name}": {"rope": RopeConfig(scaling=name, original_context_length=4, factor=2.0, high_freq_factor=4.0)}
       for name in ROPE_SCALINGS if name != "longrope"},
    "rope longrope": LONG,
    "experts": {"experts": EXPERTS, "feed_forward": "swiglu", "attention.latent": LATENT, "attention.sinks": True},
    "unlike layers": toys.UNLIKE,
    "several streams": toys.STREAMS,
    "linear attention": toys.HYBRID,
    "scores": {"attention.score_soft_cap": 2.0, "attention.qkv_limit": 0.5, "key_value_heads": 2,
               "attention.scale": False},
    "embedding": {"embedding": EmbeddingConfig(dim=8, projection="tokens", scale=2.0, segments=2)},
}  # fmt: skip


def classifier(**choices: Any) -> Transformer:
    head = OutputHeadConfig(pad_token_id=0)
    return toys.encoder(output_head="sequence-classifier", labels=("bad", "good"), output_head_config=head,
                        embedding=EmbeddingConfig(tied=False), **choices)  # fmt: skip


MODELS: dict[str, Callable[[], Transformer]] = {
    "encoder": toys.encoder,
    "both": toys.both,
    "seer": toys.seer,
    "captioner": toys.captioner,
    "reader": toys.reader,
    "summarizer": toys.summarizer,
    "listener": toys.listener,
    **{f"pooling {name}": partial(classifier, pooling=name) for name in POOLINGS},
    **{name: partial(toys.decoder, **choices) for name, choices in CHOICES.items()},
}


@pytest.fixture(autouse=True)
def there() -> Iterator[None]:
    with other_device():
        yield


def pair(name: str) -> tuple[Transformer, Transformer]:
    """A model on the processor, and the same on the other device."""
    near = MODELS[name]()
    return near, moved(deepcopy(near))


def traced(model: Transformer, *edits: str, text: str = toys.TEXT, **more: Any) -> Trace:
    if model.config.predicts_from_image:
        return run(model, toys.causal(), process_image(toys.photo(), model.config.image), edits, **more)
    return toys.traced(model, *edits, text=text, source=toys.source(model, "a small bird"), **more)


def assert_same(found: Any, expected: Any, place: str = "") -> None:
    """Two results have equal numbers, within 1e-4 of the largest, in all of their parts."""
    if isinstance(expected, Tensor):
        found, expected = found.cpu().numpy(), expected.numpy()
    assert type(found) is type(expected), place
    if dataclasses.is_dataclass(expected):
        expected = {field.name: getattr(expected, field.name) for field in dataclasses.fields(expected)}
        found = {name: getattr(found, name) for name in expected}
    if isinstance(expected, Mapping):
        assert list(found) == list(expected), place
        for name in expected:
            assert_same(found[name], expected[name], f"{place}.{name}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), place
        for number, parts in enumerate(zip(found, expected, strict=True)):
            assert_same(*parts, f"{place}[{number}]")
    elif isinstance(expected, float | np.ndarray | np.floating) and np.asarray(expected).dtype.kind == "f":
        finite = np.asarray(expected)[np.isfinite(expected)]
        largest = max(1.0, float(np.abs(finite[np.abs(finite) < 1e30]).max(initial=0)))
        np.testing.assert_allclose(found, expected, atol=1e-4 * largest, rtol=1e-4, err_msg=place)


def test_a_tensor_of_the_processor_is_refused_and_one_number_is_not() -> None:
    value = torch.ones(3, device=OTHER)
    for operation in (torch.add, torch.mul, torch.dot):
        with pytest.raises(RuntimeError, match="two devices"):
            operation(value, torch.ones(3))
    with pytest.raises(RuntimeError, match="two devices"):
        value[torch.tensor([0, 1])]
    assert (value + torch.tensor(1.0)).tolist() == [2, 2, 2]
    assert (value + torch.ones(3).to(OTHER)).device == OTHER
    assert (value.cpu() + torch.ones(3)).device.type == "cpu"


def test_numpy_reads_no_tensor_that_was_not_moved() -> None:
    value = torch.arange(3, device=OTHER)
    for read in (Tensor.numpy, np.asarray):
        with pytest.raises(RuntimeError, match="another device"):
            read(value)
    assert value.cpu().numpy().tolist() == [0, 1, 2]


def test_a_change_in_place_and_a_view_stay_on_the_device() -> None:
    value = torch.zeros(2, 2, device=OTHER)
    row = value[1]
    assert row.add_(1) is row
    assert value.tolist() == [[0, 0], [1, 1]]


def test_a_network_that_makes_a_tensor_on_the_processor_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    _, far = pair("position alibi")
    traced(far)
    bias = Alibi.bias
    monkeypatch.setattr(Alibi, "bias", lambda self, queries, keys: bias(self, queries.cpu(), keys.cpu()))
    with pytest.raises(RuntimeError, match="two devices"):
        traced(far)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.full) if name.startswith("feed-forward") else name for name in MODELS],
)
def test_every_architecture_option_computes_the_same_there_with_edits(name: str) -> None:
    near, far = pair(name)
    stack = near.config.stacks[-1]
    edits = (
        f"{stack}.0.self.mask[:,1,0]=set:0",
        f"{stack}.0.self.weights[1]=uniform",
        f"{stack}.1.self.weights[0,1]=set:0.1",
        f"{stack}.1.self.scores[2]=mean",
        f"{stack}.1.residual=mean",
        f"{stack}.position_ids[2]=set:1",
    )
    assert_same(traced(far, *edits).values, traced(near, *edits).values)


@pytest.mark.parametrize(
    "name", ["function softmax", "position disentangled", "unlike layers", "several streams", "experts"]
)
def test_letters_are_read_from_a_cache_alone_and_together(name: str) -> None:
    results = []
    for model in pair(name):
        requests = [
            RunRequest.encode(model, toys.causal(), text, edits, keep=KEEP)
            for text, edits in (("the cat", ()), ("the cat sat", ()), ("a dog", ("decoder.1.self.weights[0]=set:0",)))
        ]
        first = run_request(model, requests[0])
        alone = run_request(model, requests[1], first)
        together: list[FinishedRun | None] = run_requests(model, [(requests[1], first), (requests[2], None)])
        results.append([each and (each.trace.values, each.key_values) for each in (first, alone, *together)])
    assert_same(results[1], results[0])


def test_live_edits_and_patches_change_values_there() -> None:
    results = []
    for model in pair("function softmax"):
        other = traced(model, text="a small bird sang")
        patch = "decoder.1.residual[2]=from:B[1]"
        double = traced(
            model, patch, runs={"B": other}, hook=lambda path, value: value * 2 if "neurons" in path else None
        )
        results.append(double.values)
    assert_same(results[1], results[0])


@pytest.mark.parametrize("name", ["function softmax", "position alibi", "unlike layers", "both", "captioner"])
def test_what_is_computed_again_from_a_trace_is_the_same_there(name: str) -> None:
    results = []
    for model in pair(name):
        trace, path = traced(model, keep=RECOMPUTE_FROM), f"{model.config.stacks[-1]}.1.self.weights"
        cells = (range(1, 3), range(1, 4), range(4))
        results.append([recompute_value(model, trace, path, *cells), max_pooled_value(model, trace, path, 3),
                        logits_at(model, trace, -1)])  # fmt: skip
    assert_same(results[1], results[0])


@pytest.mark.parametrize("keep", [("logits",), ("logits", "*.weights")])
def test_a_long_text_is_read_in_parts_there(keep: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "CELLS_AT_ONCE", 60)
    for name in ("function softmax", "position relative", "function linear"):
        near, far = pair(name)
        assert_same(traced(far, keep=keep).values, traced(near, keep=keep).values)


def test_a_variant_is_made_there() -> None:
    near, far = pair("function softmax")
    changes: tuple[dict[str, Any], ...] = (
        {"positional_encoding": "learned"},
        {"attention_function": "linear", "masks": "causal+window:3"},
    )
    for choices in changes:
        assert_same(traced(variant(far, **choices)).values, traced(variant(near, **choices)).values)


@pytest.mark.parametrize("name", ["function softmax", "unlike layers", "both", "captioner", "listener"])
def test_texts_are_written_there(name: str) -> None:
    results = []
    for model in pair(name):
        tokenizer = toys.masked() if model.config.has_cross_attention else toys.causal()
        options: dict[str, Any] = {"source": toys.source(model, "a small bird"), "steps": 3}
        steps = [*generate(model, tokenizer, "the cat", **options, seed=1, keep=("*.weights",))]
        cached = [*generate(model, tokenizer, "the cat", ["decoder.1.residual=mean"], **options, seed=1, top_k=5)]
        beams = [*beam_search(model, tokenizer, "the cat", **options, beams=2)]
        results.append([[(step.chosen_token, step.values) for step in (*steps, *cached)], beams])
    assert_same(results[1], results[0])


def test_masks_are_filled_there() -> None:
    found = [fill_mask(model, toys.masked(), "the cat sat", masked_positions=[2]) for model in pair("encoder")]
    assert_same(found[1].values, found[0].values)
    assert found[1].chosen_token == found[0].chosen_token


ANALYSES: dict[str, Callable[[Transformer, Trace], Any]] = {
    "ablate_heads": lambda model, trace: ablate_heads(model, trace, "decoder.0.self", -1, 3, 0, 4),
    "attribute_logits": lambda model, trace: attribute_logits(model, trace).logits(np.arange(5)),
    "attribute_neurons": lambda model, trace: attribute_neurons(model, trace, 1, -1, 3),
    "neuron_vocabulary": lambda model, trace: neuron_vocabulary(model, trace, 1, -1, [1, 2]),
    "remove_head": lambda model, trace: remove_head(model, trace, "decoder.0.self", 1, -1, 3),
    "information_flow": information_flow,
    "cell_ledger": lambda model, trace: cell_ledger(model, trace, "decoder.1.self[1,3,2]"),
    "moved_values": lambda model, trace: moved_values(model, trace, "decoder.1.self"),
    "attention_sinks": attention_sinks,
    "attention_gradient": lambda model, trace: attention_gradient(model, trace, "decoder.1.self", 6, 3),
    "gradient_times_input": lambda model, trace: gradient_times_input(model, trace, 6, 3),
    "weighted_value_norm": lambda model, trace: weighted_value_norm(model, trace, "decoder.1.self"),
    "logit_lens": logit_lens,
    "position_profile": lambda model, trace: position_profile(model, 5),
    "compare_rankings": lambda model, trace: compare_rankings(model, trace, -1, 3),
    "trace_copying": lambda model, trace: trace_copying(model, trace, -1, trace.text.ids[1]),
    "alti_logit": lambda model, trace: alti_logit(model, trace, -1, 3),
    "attention_walkthrough": lambda model, trace: attention_walkthrough(model, trace, "decoder.1.self", 1, 3, 2),
    "prediction_walkthrough": prediction_walkthrough,
    "patching_map": lambda model, trace: patching_map(model, trace, traced(model, text="the dog sat on the mat")),
    "path_patching": lambda model, trace: path_patching(
        model, trace, traced(model, text="the dog sat on the mat"), "decoder.1.self.q[0]"
    ),
    "sentence_similarity": lambda model, trace: sentence_similarity(model, toys.causal(), "the cat", "a dog"),
}


@pytest.mark.parametrize("position", ["rope", pytest.param("learned", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ANALYSES)
def test_analyses_give_the_same_there(name: str, position: str) -> None:
    near, far = pair(f"position {position}")
    assert_same(*(ANALYSES[name](model, traced(model)) for model in (far, near)))


def test_tokens_of_a_classified_text_are_removed_there() -> None:
    near, far = pair("pooling mean")
    found, expected = (ablate_tokens(model, traced(model), [1, 2]) for model in (far, near))
    assert_same(found, expected)
