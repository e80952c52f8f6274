"""run_requests(): each text's run in a shared forward pass equals its separate run."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import POSITIONAL_ENCODINGS, HeadlightError, Transformer, run
from headlight.cancellation import Cancelled, cancellable
from headlight.config import EmbeddingConfig, ExpertsConfig, LatentConfig, PerLayerConfig
from headlight.tracing import shared_pass
from headlight.tracing.continuation import FinishedRun
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request, run_requests
from tests.model import toys
from tests.model.tracing.test_continuation import DYNAMIC, OF_LAYERS, PAGE, assert_same, choices, edits_of
from tests.sampling import examples

BEGINNINGS = ("the", "the cat", "the cat sat on the ma", "a dog", "we swam")
KEEPS = (PAGE, PAGE, ("*.scores", "*.self.input"), ("*.q", "*.weighted_values", "*.neurons"), ())


def encoded(model: Transformer, text: str, edits: list[str], keep: tuple[str, ...] | None = PAGE) -> RunRequest:
    tokenizer = toys.causal() if model.config.stacks == ("decoder",) else toys.masked()
    return RunRequest.encode(model, tokenizer, text, edits, keep=keep)


def alone(model: Transformer, request: RunRequest, previous: FinishedRun | None = None) -> FinishedRun | HeadlightError:
    try:
        return run_request(model, request, previous)
    except HeadlightError as error:
        return error


@examples(60)
@given(st.sampled_from(["decoder", "decoder", "encoder"]), choices(), st.sampled_from(KEEPS), st.data())
def test_any_mix_of_texts_and_edits_gives_what_each_gives_alone(
    kind: str, parts: dict[str, Any], keep: tuple[str, ...], data: st.DataObject
) -> None:
    if kind == "decoder":
        parts |= data.draw(OF_LAYERS)
    # In 64 bits: in 32, sums of the same numbers in another order may differ by more than 1e-5.
    model: Transformer = getattr(toys, kind)(**parts).double()
    paths = sorted(run(model, toys.causal() if kind == "decoder" else toys.masked(), "the cat").values)
    typed = data.draw(st.lists(st.sampled_from(BEGINNINGS), min_size=1, max_size=6))
    edits = [data.draw(st.lists(edits_of(paths), max_size=data.draw(st.sampled_from([0, 0, 2])))) for _ in typed]
    previous: list[FinishedRun | None] = [None] * len(typed)
    for letters in ("", "t", " dog"):
        requests = [encoded(model, text + letters, own, keep) for text, own in zip(typed, edits, strict=True)]
        shared = run_requests(model, list(zip(requests, previous, strict=True)))
        for number, (request, found) in enumerate(zip(requests, shared, strict=True)):
            expected = alone(model, request, previous[number])
            if found is None:
                previous[number] = expected if isinstance(expected, FinishedRun) else None
                continue
            assert isinstance(expected, FinishedRun), f"{expected} was not raised"
            assert_same(found.trace, expected.trace)
            assert found.bytes == expected.bytes
            previous[number] = found


@pytest.mark.parametrize("edit", ["decoder.0.self.mask[0,1,0]=set:0", "decoder.1.self.k[0,1,0]=set:2"])
def test_what_a_run_holds_does_not_depend_on_the_edit_of_another_person(edit: str) -> None:
    model = toys.decoder(per_layer=PerLayerConfig(key_value_layers=(0, 0)))
    plain, edited = encoded(model, "the cat", []), encoded(model, "a dog", [edit])
    found, _ = run_requests(model, [(plain, None), (edited, None)])
    expected = alone(model, plain)
    assert isinstance(found, FinishedRun) and isinstance(expected, FinishedRun)
    assert_same(found.trace, expected.trace)
    assert found.bytes == expected.bytes


@pytest.mark.parametrize("position", sorted(set(POSITIONAL_ENCODINGS) - {"disentangled"}))
def test_letters_of_several_people_are_read_at_once(position: str) -> None:
    model = toys.decoder(positional_encoding=position, key_value_heads=2)
    before = [run_request(model, encoded(model, text, [])) for text in BEGINNINGS]
    letters = [(encoded(model, f"{text}s", []), run) for text, run in zip(BEGINNINGS, before, strict=True)]
    rows: list[int] = []
    model.stack("decoder").blocks[0].register_forward_pre_hook(lambda module, args: rows.append(args[0].shape[1]))
    shared = run_requests(model, letters)
    assert rows == [len(BEGINNINGS)], "one new token each; the rest is cached"
    for found, (request, previous) in zip(shared, letters, strict=True):
        assert found is not None
        assert_same(found.trace, run_request(model, request, previous).trace)


@pytest.mark.parametrize(
    "parts",
    [
        {"experts": ExpertsConfig(count=3, per_token=2), "feed_forward": "swiglu"},
        {"attention.sinks": True},
        *toys.UNUSUAL,
        toys.HYBRID,
        {"attention.latent": LatentConfig(query_channels=5, key_value_channels=6, shared_key_channels=2)},
        {"head_dim": 6, "value_head_dim": 5, "key_value_heads": 1},
        {"masks": ("causal", "painted:3-1.5-0")},
        {"attention.qkv_limit": 0.5},
        {"embedding": EmbeddingConfig(dim=8, projection="tokens")},
    ],
)
def test_other_parts_of_models_stay_what_they_are(parts: dict[str, Any]) -> None:
    model = toys.decoder(**parts)
    if "recurrence" in parts:
        model = model.double()  # float32 rounds at each step of a recurrence, by 1.2e-5 on some processors
    requests = [encoded(model, text, []) for text in BEGINNINGS]
    for request, found in zip(requests, run_requests(model, [(each, None) for each in requests]), strict=True):
        assert found is not None
        assert_same(found.trace, run_request(model, request).trace)


@pytest.mark.parametrize(
    ("parts", "edits", "keep"),
    [
        ({"positional_encoding": "disentangled"}, [], PAGE),
        ({"masks": ("causal", "custom:1000/1100/1110/1111")}, [], PAGE),
        ({"rope": DYNAMIC, "positional_encoding": "rope"}, [], PAGE),
        ({}, ["decoder.position_ids[1]=set:2"], PAGE),
        ({}, ["logits[1]=scale:2"], PAGE),
        ({}, [], None),
    ],
)
def test_what_looks_different_runs_alone(parts: dict[str, Any], edits: list[str], keep: tuple[str, ...] | None) -> None:
    model = toys.decoder(**parts)
    requests = [encoded(model, text, edits, keep) for text in ("the cat", "the cat sat on the mat")]
    assert run_requests(model, [(request, None) for request in requests])[0] is None


def test_one_persons_nan_and_failed_edit_touch_nobody_else() -> None:
    model = toys.decoder()
    with torch.no_grad():
        model.embedding.weight[toys.causal().encode(" dog").ids[-1]] = torch.nan
    texts = [
        ("a dog", []),
        ("the cat", []),
        ("the cat", ["decoder.0.residual=add:1e38"]),
        ("we", ["decoder.9.residual=set:1"]),
    ]
    requests = [encoded(model, text, edits) for text, edits in texts]
    broken, healthy, failed, unknown = run_requests(model, [(request, None) for request in requests])
    assert failed is None and unknown is None
    assert broken is not None and np.isnan(broken.trace["decoder.final_residual"]).any()
    assert healthy is not None and np.isfinite(healthy.trace["decoder.final_residual"]).all()
    assert_same(healthy.trace, run_request(model, requests[1]).trace)


def test_a_run_holds_nothing_of_the_texts_beside_it() -> None:
    model = toys.decoder()
    texts = ("the", "the cat sat on the mat and the dog ran away")
    short, long = run_requests(model, [(encoded(model, text, []), None) for text in texts])
    assert short is not None and long is not None
    for value in short.trace.values.values():
        assert not any(np.shares_memory(value, other) for other in long.trace.values.values())
    for pair in short.key_values.values():
        assert all(tensor.untyped_storage().nbytes() == tensor.nbytes for tensor in pair)


def test_a_forward_pass_that_nobody_waits_for_stops() -> None:
    model = toys.decoder()
    with cancellable(lambda: True), pytest.raises(Cancelled):
        run_requests(model, [(encoded(model, text, []), None) for text in BEGINNINGS])


def test_a_forward_pass_takes_so_many_texts_as_their_weights_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    model = toys.decoder()
    requests = [encoded(model, text, []) for text in BEGINNINGS]
    longest = max(len(request.text.ids) for request in requests)
    monkeypatch.setattr(shared_pass, "MAX_BYTES", 4 * 2 * 4 * 2 * longest**2)  # two texts, two layers, four heads
    passes: list[int] = []
    model.stack("decoder").blocks[0].register_forward_pre_hook(lambda module, args: passes.append(args[0].shape[1]))
    found = run_requests(model, [(request, None) for request in requests])
    assert 2 < len(passes) < 5 and sum(passes) == sum(len(request.text.ids) for request in requests)
    for finished, request in zip(found, requests, strict=True):
        assert finished is not None
        assert_same(finished.trace, run_request(model, request).trace)
