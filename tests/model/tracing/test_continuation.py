"""run_request(): equal to a full run after any typing and deleting; runs that look ahead are fully recomputed."""

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import (
    ATTENTION_FUNCTIONS,
    EDIT_OPERATIONS,
    HOOK_POINTS,
    POSITIONAL_ENCODINGS,
    EditError,
    HeadlightError,
    Transformer,
    run,
    variant,
)
from headlight.config import AlternatingUpdatesConfig, LayerEmbeddingConfig, PerLayerConfig, RopeConfig
from headlight.nn.output_heads import POOLINGS
from headlight.tracing.continuation import FinishedRun
from headlight.tracing.recompute import logits_at
from headlight.tracing.request import RECOMPUTE_FROM, RunRequest
from headlight.tracing.runner import run_request
from headlight.tracing.trace import Trace
from headlight.vision.image import process_image
from headlight.vision.patches import class_token_tokenizer
from tests.model import toys
from tests.sampling import examples

TEXT, SOURCE = "the cat sat on the ma", "a small bird sang"
PAGE = ("*.weights", "*.mask", "*.final_residual")
KEEPS = (None, PAGE, RECOMPUTE_FROM, ("logits",), (), ("*.scores", "*.self.input"), ("*.masked_scores",), ("*.[kqv]",))
DYNAMIC = RopeConfig(scaling="dynamic", factor=4.0, original_context_length=6)
LONGROPE = RopeConfig(scaling="longrope", original_context_length=6, short_factor=(1.0, 1.0), long_factor=(3.0, 9.0))
ROPES, LAYERS = [RopeConfig(), DYNAMIC, LONGROPE], [PerLayerConfig(), PerLayerConfig(masks=("none", "window:2"))]
LABELS: dict[str, Any] = {"labels": ("noun", "verb"), "embedding.tied": False}


def assert_same(ours: Trace, whole: Trace) -> None:
    """The same values at the same paths, within 1e-5 of the largest (masked scores are ignored for it)."""
    assert (ours.text, ours.source, ours.interventions) == (whole.text, whole.source, whole.interventions)
    assert list(ours.values) == list(whole.values)
    for path, value in whole.values.items():
        assert (ours[path].shape, ours[path].dtype) == (value.shape, value.dtype), path
        largest = max(1.0, np.abs(value, where=np.abs(value) < 1e30, out=np.zeros(value.shape)).max(initial=0.0))
        np.testing.assert_allclose(ours[path], value, atol=1e-5 * largest, rtol=1e-5, err_msg=path)


@contextmanager
def tokens_read(model: Transformer, stack: str = "") -> Iterator[list[int]]:
    """The number of tokens that a stack, by default the predicting one, reads in each forward pass."""
    counts: list[int] = []
    handle = model.stack(stack or model.config.stacks[-1]).register_forward_pre_hook(
        lambda module, args: counts.append(args[0].shape[1])
    )
    yield counts
    handle.remove()


def go_on(previous: FinishedRun | None, model: Transformer, *arguments: Any, **options: Any) -> FinishedRun:
    """`run_request` with the arguments of `run`."""
    return run_request(model, RunRequest.encode(model, *arguments, **options), previous)


@st.composite
def choices(draw: st.DrawFn) -> dict[str, Any]:
    """Any parts of a small model; most models are causal."""
    head = draw(
        st.sampled_from(["language-model", "language-model", "none", "token-classifier", "sequence-classifier"])
    )
    return {
        "positional_encoding": draw(st.sampled_from(sorted(POSITIONAL_ENCODINGS))),
        "rope": draw(st.sampled_from(ROPES)),
        "attention_function": draw(st.sampled_from(sorted(ATTENTION_FUNCTIONS))),
        "masks": draw(st.sampled_from([("causal",)] * 4 + [("causal", "window:3"), ("window:3",), ()])),
        "per_layer": draw(st.sampled_from(LAYERS)),
        "norm_placement": draw(st.sampled_from(toys.NORMED_PLACEMENTS)),
        "residual.parallel": draw(st.booleans()),
        "embedding.norm": draw(st.booleans()),
        "key_value_heads": draw(st.sampled_from([1, 2, 4])),
        "attention.qk_norm": draw(st.sampled_from(["none", "per-head", "all-heads"])),
        "attention.score_soft_cap": draw(st.sampled_from([0.0, 2.0])),
        "pooling": draw(st.sampled_from(sorted(POOLINGS))),
        "output_head": head,
        **(LABELS if "classifier" in head else {}),
    }


# Parts that differ between the layers of a decoder.
OF_LAYERS = st.fixed_dictionaries(
    {
        "per_layer": st.sampled_from((*LAYERS, *toys.LAYERS_OF_TWO[1:])),
        "layer_embedding": st.sampled_from((LayerEmbeddingConfig(), LayerEmbeddingConfig(dim=5))),
        "attention.value_norm": st.booleans(),
        "residual.scale": st.booleans(),
        "residual.alternating_updates": st.sampled_from(
            (AlternatingUpdatesConfig(), AlternatingUpdatesConfig(streams=3, active=1))
        ),
        "residual.laurel_rank": st.sampled_from((0, 3)),
        "activation_sparsity": st.sampled_from((0.0, 0.6)),
    }
)


@st.composite
def edits_of(draw: st.DrawFn, paths: list[str]) -> str:
    """An edit of any value by any operation; some are invalid."""
    path = draw(st.sampled_from(paths))
    operation = draw(st.sampled_from(sorted(EDIT_OPERATIONS)))
    axes = HOOK_POINTS[path.rpartition(".")[2]].axes
    index = ",".join(draw(st.lists(st.sampled_from([":", "0", "1", "2", "3:", ":2", "1:4"]), max_size=len(axes))))
    number = f":{draw(st.sampled_from([0, 1, 0.5, -2]))}" if EDIT_OPERATIONS[operation].takes_number else ""
    return f"{path}[{index}]={operation}{number}" if index else f"{path}={operation}{number}"


@examples(40)
@given(
    st.sampled_from(["decoder", "decoder", "decoder", "encoder", "both", "captioner"]),
    choices(),
    st.sampled_from(KEEPS),
    st.lists(st.sampled_from(["t", " dog", "s.", "<", "<<<", "<<<<<<<<", " the sea"]), min_size=1, max_size=5),
    st.data(),
)
def test_letters_typed_and_deleted_give_what_the_whole_run_gives(
    kind: str, parts: dict[str, Any], keep: tuple[str, ...] | None, keys: list[str], data: st.DataObject
) -> None:
    if kind == "decoder":
        parts |= data.draw(OF_LAYERS)
    # In 64 bits: in 32, sums of the same numbers in another order may differ by more than 1e-5.
    model: Transformer = getattr(toys, kind)(**parts).double()
    tokenizer, source = toys.causal() if kind == "decoder" else toys.masked(), toys.source(model, SOURCE)
    paths = sorted(run(model, tokenizer, TEXT, source=source).values)
    question: dict[str, Any] = {
        "source": source,
        "keep": keep,
        "interventions": data.draw(st.lists(edits_of(paths), max_size=2)),
    }
    text, previous = TEXT, None
    for key in ("", *keys):
        text = text[: -len(key)] if "<" in key else text + key
        try:
            whole = run(model, tokenizer, text, **question)
        except HeadlightError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                go_on(previous, model, tokenizer, text, **question)
        else:
            previous = go_on(previous, model, tokenizer, text, **question)
            assert_same(previous.trace, whole)


def continued(model: Transformer, following: str = TEXT + "t", **question: Any) -> tuple[Trace, int]:
    """The trace of a text continued from TEXT, checked against a full run, and the number of tokens read for it."""
    tokenizer = toys.masked() if model.config.has_cross_attention else toys.causal()
    question = {"source": toys.source(model, SOURCE), **question}
    before = go_on(None, model, tokenizer, TEXT, **question)
    with tokens_read(model) as counts:
        after = go_on(before, model, tokenizer, following, **question)
    assert_same(after.trace, run(model, tokenizer, following, **question))
    assert len(counts) == 1
    return after.trace, counts[0]


@pytest.mark.parametrize("attention_function", sorted(ATTENTION_FUNCTIONS))
@pytest.mark.parametrize("position", sorted(POSITIONAL_ENCODINGS))
def test_a_letter_at_the_end_costs_its_own_tokens(position: str, attention_function: str) -> None:
    model = toys.decoder(positional_encoding=position, attention_function=attention_function, key_value_heads=2)
    trace, count = continued(model)
    assert count == 1 < len(trace.text.ids)


@pytest.mark.parametrize(
    ("following", "count"), [(TEXT, 1), (TEXT[:-3], 1), ("the", 1), (TEXT + " and a dog", 4), ("a" + TEXT, 9)]
)
def test_all_from_the_first_token_that_differs_is_read(following: str, count: int) -> None:
    assert continued(toys.decoder(), following)[1] == count


@pytest.mark.parametrize("make", [toys.both, toys.captioner, toys.listener, toys.reader, toys.summarizer])
def test_an_encoder_decoder_reads_its_source_once(make: Callable[[], Transformer]) -> None:
    model = make()
    with tokens_read(model, "encoder") as counts:
        assert continued(model)[1] == 1
    assert len(counts) == 2, "once in the first run, once in the full run of the comparison"


LOOKING_AHEAD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no mask": ({"masks": ()}, {}),
    "a window to both sides": ({"masks": ("window:3",)}, {}),
    "a mean over tokens": ({}, {"interventions": ["decoder.0.residual[2:5]=mean"]}),
    "a mean over keys": ({}, {"interventions": ["decoder.0.self.scores[3]=mean"]}),
    "position ids": ({}, {"interventions": ["decoder.position_ids[2]=set:5"]}),
    "a mask opened": ({}, {"interventions": ["decoder.0.self.mask[:,2,3]=set:1"]}),
    "masked scores": ({}, {"interventions": ["decoder.0.self.masked_scores[1]=add:1"]}),
    "weights of later keys": ({}, {"interventions": ["decoder.0.self.weights[1]=set:0.1"]}),
    "dynamic rope": ({"rope": DYNAMIC}, {}),
    "longrope": ({"rope": replace(LONGROPE, original_context_length=8)}, {}),
    "scores without what they are made of": ({}, {"keep": ("*.scores",)}),
    "the label of a whole text": ({"output_head": "sequence-classifier", **LABELS}, {"keep": ("logits",)}),
}


@pytest.mark.parametrize("what", LOOKING_AHEAD)
def test_what_looks_ahead_is_computed_whole(what: str) -> None:
    choices, question = LOOKING_AHEAD[what]
    trace, count = continued(toys.decoder(**choices), **question)
    assert count == len(trace.text.ids)


@pytest.mark.parametrize(
    "edit",
    [
        "decoder.0.self.mask[:,3,2]=set:1",
        "decoder.0.self.mask[:,3,6]=set:0",
        "decoder.0.self.weights[1]=set:0",
        "decoder.0.self.weights[1]=uniform",
        "decoder.0.self.weights[1,5:,:4]=add:0.1",
        "decoder.1.self.bias[0,2,6]=set:3",
        "decoder.1.self.scores[0,:4]=scale:-2",
        "decoder.1.self.k[0,2]=set:0",
        "decoder.*.residual[4]=add:0.5",
        "logits[5]=scale:3",
    ],
)
def test_an_edit_that_does_not_look_ahead_is_applied_to_what_is_read(edit: str) -> None:
    assert continued(toys.decoder(positional_encoding="alibi"), interventions=[edit])[1] == 1


def test_frequencies_that_change_past_a_length_are_the_same_before_it() -> None:
    assert continued(toys.decoder(rope=replace(LONGROPE, original_context_length=9)))[1] == 1


def test_a_run_of_anything_else_is_none_to_go_on_from() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    before = go_on(None, model, tokenizer, TEXT, keep=PAGE)
    others: list[tuple[Transformer, dict[str, Any]]] = [
        (variant(model, attention_function="linear"), {}),
        (model, {"keep": ("logits",)}),
        (model, {"interventions": ["decoder.0.self.weights[1]=set:0"]}),
    ]
    for other, change in others:
        question = {"keep": PAGE, **change}
        assert_same(go_on(before, other, tokenizer, TEXT, **question).trace, run(other, tokenizer, TEXT, **question))
    both, masked = toys.both(), toys.masked()
    translated = go_on(None, both, masked, "the cat", source=SOURCE)
    assert_same(
        go_on(translated, both, masked, "the cat", source="the dog").trace,
        run(both, masked, "the cat", source="the dog"),
    )


def test_an_edit_of_a_token_that_is_deleted_gets_a_sentence() -> None:
    model, tokenizer, edit = toys.decoder(), toys.causal(), "decoder.0.self.weights[1,7,2]=set:0"
    before = go_on(None, model, tokenizer, TEXT, [edit])
    for stage in (
        lambda: run(model, tokenizer, "the cat", [edit]),
        lambda: go_on(before, model, tokenizer, "the cat", [edit]),
    ):
        with pytest.raises(EditError, match=r"asks for query 7, but decoder\.0\.self\.weights has 3"):
            stage()


def test_a_custom_mask_under_a_causal_one_stays_as_large_as_the_text() -> None:
    length = len(toys.causal().encode(TEXT).ids)
    rows = "/".join("".join(str(int((i + j) % 3 > 0)) for j in range(length)) for i in range(length))
    model = toys.decoder(masks=("causal", f"custom:{rows}"))
    assert continued(model, TEXT[:-1] + "e")[1] < length
    with pytest.raises(HeadlightError, match=f"custom mask is {length} x {length}"):
        continued(model, TEXT + " dog")


def test_painted_cells_go_on_as_if_all_were_read_at_once() -> None:
    trace, read = continued(toys.decoder(masks=("causal", "painted:3-1.5-0")), TEXT + " dog")
    assert read < len(trace.text.ids), "no token sees a later one, so the cache is used"
    last = len(trace.text.ids) - 1
    trace, read = continued(toys.decoder(masks=("causal", f"painted:1-{last}")), TEXT + " dog")
    assert read == len(trace.text.ids), "one token sees a later one, so all are read again"


def test_an_image_is_read_whole() -> None:
    model, tokenizer = toys.seer(masks=("causal",)), class_token_tokenizer()
    image = process_image(toys.photo(), model.config.image)
    before = go_on(None, model, tokenizer, image)
    assert_same(go_on(before, model, tokenizer, image).trace, run(model, tokenizer, image))


def test_a_finished_run_never_changes_and_serves_several() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    before = go_on(None, model, tokenizer, TEXT)
    values = {path: value.copy() for path, value in before.trace.values.items()}
    cache = {path: (k.clone(), v.clone()) for path, (k, v) in before.key_values.items()}
    for letter in "tdx":
        after = go_on(before, model, tokenizer, TEXT + letter)
        assert all(not value.flags.writeable for value in after.trace.values.values())
    assert all(np.array_equal(before.trace[path], value) for path, value in values.items())
    assert all(torch.equal(before.key_values[path][part], cache[path][part]) for path in cache for part in (0, 1))


def test_bytes_are_those_in_memory_and_do_not_grow_by_going_on() -> None:
    model, tokenizer = toys.decoder(key_value_heads=2, head_dim=6, value_head_dim=5), toys.causal()
    whole = go_on(None, model, tokenizer, TEXT + "t", keep=PAGE)
    length = len(whole.trace.text.ids)
    cells = length * length
    assert whole.bytes == 2 * (2 * length * (6 + 5) * 4 + 4 * cells * 4 + cells) + length * 16 * 4
    before = go_on(None, model, tokenizer, TEXT, keep=PAGE)
    assert go_on(before, model, tokenizer, TEXT + "t", keep=PAGE).bytes == whole.bytes


def test_a_finished_run_does_not_hold_its_model() -> None:
    model = toys.decoder()
    finished = go_on(None, model, toys.causal(), TEXT)
    del model
    gc.collect()
    assert finished.model() is None


def test_only_logits_that_somebody_wants_are_computed() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    rows: list[int] = []
    model.output_head.register_forward_pre_hook(lambda module, args: rows.append(args[0].shape[1]))
    trace = run(model, tokenizer, TEXT, keep=PAGE)
    assert not rows, "a run that keeps no logits computes none"
    logits_at(model, trace, -1)
    assert rows == [1], "a prediction computes one row"
