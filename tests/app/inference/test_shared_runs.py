"""Questions of several visitors in one forward pass: each answer equals that of a separate run."""

import json
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.nn.transformer import Transformer
from headlight_app.engine.job import EngineRequest
from headlight_app.inference import resolved_question, shared_runs
from headlight_app.inference.trace_cache import trace_cache
from headlight_app.worker.serve import outcome, prepare
from tests.app.asking import body, unpack
from tests.sampling import examples

OFF = "decoder.0.self.weights[1]=set:0"
QUESTIONS = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["next", "next", "next", "masked", "mood", "both"]),
        "text": st.sampled_from(["the cat", "the cat sat", "a small bird", "", "we ran to the sea and swam"]),
        "edits": st.sampled_from([[], [], [OFF], ["decoder.0.self.weights[1,9]=set:0"], ["nonsense"]]),
        "attention_function": st.sampled_from(["", "", "linear"]),
        "query": st.sampled_from([-1, 0, 1]),
    }
)


def asked(visitor: str, question: dict[str, Any]) -> EngineRequest:
    return EngineRequest("trace", json.dumps(body("trace", **question)).encode(), visitor=visitor)


def told(request: EngineRequest) -> tuple[Any, np.ndarray]:
    """The answer without its run time."""
    kind, content = outcome(request)
    if kind == b"S":
        return content, np.zeros(0)
    header, numbers = unpack(content)
    return {name: value for name, value in header.items() if name != "milliseconds"}, np.frombuffer(numbers, np.uint8)


def assert_close(one: Any, other: Any) -> None:
    """Equal, with numbers within 1e-4, to which metrics are rounded."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_close(one[name], other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_close(*pair)
    elif isinstance(one, float):
        assert other == pytest.approx(one, abs=1.1e-4)
    else:
        assert one == other


@examples(30)
@given(st.lists(QUESTIONS, min_size=1, max_size=6))
def test_each_answer_is_the_one_that_it_has_alone(questions: list[dict[str, Any]]) -> None:
    requests = [asked(f"visitor {number}", question) for number, question in enumerate(questions)]
    trace_cache.cache_clear()
    alone = [told(request) for request in requests]
    trace_cache.cache_clear()
    prepare(requests)
    for request, (header, codes) in zip(requests, alone, strict=True):
        found_header, found_codes = told(request)
        assert_close(header, found_header)
        assert np.abs(found_codes.astype(int) - codes).max(initial=0) <= 1


def test_letters_of_several_people_cost_one_forward_pass() -> None:
    trace_cache.cache_clear()
    requests = [asked(f"visitor {number}", {"model": "next", "text": "the cat"}) for number in range(5)]
    prepare(requests)
    with patch.object(resolved_question, "run_request", side_effect=AssertionError("it was run alone")):
        assert all(outcome(request)[0] == b"A" for request in requests)
    keys = list(trace_cache().runs)
    assert len({key[-1] for key in keys}) == len(keys) == 5, "each visitor has a separate run"


def test_before_and_after_of_one_edit_cost_one_forward_pass() -> None:
    request = asked("visitor", {"model": "next", "text": "the cat", "edits": [OFF]})
    prepare([request])
    with patch.object(resolved_question, "run_request", side_effect=AssertionError("it was run alone")):
        assert outcome(request)[0] == b"A"


def test_one_letter_is_prepared_by_nothing() -> None:
    with patch.object(shared_runs, "resolve", side_effect=AssertionError("it is alone")):
        prepare([asked("visitor", {"model": "next", "text": "the cat"})])


def test_a_prepared_model_is_let_go() -> None:
    assert not any(isinstance(value, Transformer) for value in vars(shared_runs).values())
