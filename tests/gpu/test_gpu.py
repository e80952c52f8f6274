"""Models on a GPU: same numbers as on the CPU, moves between both, and a full GPU memory."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from headlight import find_checkpoint, load, variant
from headlight.checkpoints import Checkpoint
from headlight.tracing.continuation import FinishedRun
from headlight.tracing.recompute import logits_at, recompute_value
from headlight.tracing.request import RECOMPUTE_FROM, RunRequest
from headlight.tracing.runner import run_request, run_requests
from headlight.tracing.trace import Trace
from headlight_app.engine.job import EngineRequest
from headlight_app.inference.open_models import model_pool
from headlight_app.inference.trace_cache import trace_cache
from headlight_app.worker.serve import DEVICE_FULL, outcome, prepare
from tests.app.asking import body, unpack

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
MODELS = ("stories-causal", "stories-masked")
TEXTS = ("Once upon a time", "The dog ran to the big tree and the girl saw a small bird")
KEEP = ("*.weights", "*.mask", "*.final_residual", "*.residual")
OFF = "decoder.1.self.weights[3]=set:0"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No model is open before or after a test."""
    for store in (trace_cache, model_pool):
        store.cache_clear()
    yield
    for store in (trace_cache, model_pool):
        store.cache_clear()
    torch.cuda.empty_cache()


def opened(name: str, device: str) -> Checkpoint:
    return load(find_checkpoint(name), device=device)


def request(checkpoint: Checkpoint, text: str, keep: tuple[str, ...] | None = KEEP, edits: tuple[str, ...] = ()) -> Any:
    return RunRequest.encode(checkpoint.model, checkpoint.tokenizer, text, edits, keep=keep)


def assert_close(one: Trace, other: Trace) -> None:
    """Equal values, within 1e-4 of the largest."""
    assert list(one.values) == list(other.values)
    for path, value in other.values.items():
        largest = max(1.0, float(np.abs(value).max(initial=0.0)))
        np.testing.assert_allclose(one[path], value, atol=1e-4 * largest, rtol=0, err_msg=path)


@pytest.mark.parametrize("name", MODELS)
def test_each_value_is_that_of_the_processor(name: str) -> None:
    near, far = opened(name, "cpu"), opened(name, "cuda")
    for text in TEXTS:
        expected = run_request(near.model, request(near, text, None)).trace
        found = run_request(far.model, request(far, text, None)).trace
        chosen = [path for path in expected.values if not path.endswith("masked_scores")]  # those hold -3.4e38
        assert_close(*(_part(trace, chosen) for trace in (found, expected)))
        np.testing.assert_allclose(logits_at(far.model, found, -1), logits_at(near.model, expected, -1), atol=1e-3)


def _part(trace: Trace, paths: list[str]) -> Trace:
    return Trace(trace.config, trace.text, trace.source, {path: trace[path] for path in paths})


def test_letters_go_on_from_a_cache_on_the_device_alone_and_together() -> None:
    near, far = opened("stories-causal", "cpu"), opened("stories-causal", "cuda")
    before = [run_request(far.model, request(far, text)) for text in TEXTS]
    assert all(pair[0].is_cuda and pair[1].is_cuda for run in before for pair in run.key_values.values())
    letters = [request(far, f"{text} w") for text in TEXTS]
    pairs: list[tuple[RunRequest, FinishedRun | None]] = list(zip(letters, before, strict=True))
    for text, (letter, previous), together in zip(TEXTS, pairs, run_requests(far.model, pairs), strict=True):
        expected = run_request(near.model, request(near, f"{text} w")).trace
        assert together is not None
        assert_close(together.trace, expected)
        assert_close(run_request(far.model, letter, previous).trace, expected)


def test_edits_variants_and_what_is_computed_again_stay_on_the_device() -> None:
    near, far = opened("stories-causal", "cpu"), opened("stories-causal", "cuda")
    edited = [run_request(each.model, request(each, TEXTS[1], edits=(OFF,))).trace for each in (near, far)]
    assert_close(edited[1], edited[0])
    weights = []
    for each in (near, far):
        model = variant(each.model, positional_encoding="alibi", attention_function="linear")
        trace = run_request(model, request(each, TEXTS[1], RECOMPUTE_FROM)).trace
        weights.append(recompute_value(model, trace, "decoder.2.self.weights", range(8), range(9), range(9)))
    np.testing.assert_allclose(weights[1], weights[0], atol=1e-4)


def asked(device: str, visitor: str = "anna", text: str = TEXTS[0], **fields: Any) -> EngineRequest:
    question = body("trace", model="stories-causal", text=text, device=device, **fields)
    return EngineRequest("trace", json.dumps(question).encode(), visitor=visitor)


def candidates(request: EngineRequest) -> dict[str, float]:
    kind, content = outcome(request)
    assert kind == b"A", content
    found = unpack(content)[0]["predictions"][0]["candidates"]
    return {one["text"]: one["after"] for one in found}


def test_a_visitor_moves_from_one_device_to_the_other_and_back() -> None:
    answers = [candidates(asked(device, edits=[OFF])) for device in ("cpu", "cuda", "cpu", "auto")]
    assert all(answer == pytest.approx(answers[0], abs=1e-4) for answer in answers)


def test_letters_of_several_people_share_a_pass_on_the_device() -> None:
    requests = [asked("cuda", f"visitor {number}", f"{text} w") for number, text in enumerate(TEXTS * 3)]
    prepare(requests)
    for number, request in enumerate(requests):
        assert candidates(request) == pytest.approx(candidates(asked("cpu", text=f"{TEXTS[number % 2]} w")), abs=1e-4)


def test_a_device_that_is_full_is_a_sentence_and_the_next_question_is_answered() -> None:
    candidates(asked("cuda"))
    hoard = []
    try:
        size = 1 << 30
        while size > 1 << 12:
            try:
                hoard.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            except torch.OutOfMemoryError:
                size >>= 1
        kind, content = outcome(asked("cuda", text=" ".join(TEXTS * 8)))
        assert (kind, content.decode()) == (b"S", DEVICE_FULL)
    finally:
        hoard.clear()
        torch.cuda.empty_cache()
    assert candidates(asked("cuda", text=f"{TEXTS[0]} the"))
