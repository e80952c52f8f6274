"""The cache, and what the page knows about models."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from time import sleep

from app.state.state import Question
from app.worker.attention_payload import variant_differences
from app.worker.resolved_question import resolve
from app.worker.source_code import code_sections
from app.worker.trace_cache import TraceCache, trace_bytes
from model.config import Config
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.masks import MASKS
from model.nn.positional_encodings import POSITIONAL_ENCODINGS
from model.tracing.trace import Trace


def test_equal_questions_share_one_trace() -> None:
    assert resolve(Question("next", "the cat")).trace is resolve(Question("next", "the cat")).trace
    assert resolve(Question("next", "the cat")).trace is not resolve(Question("next", "the dog")).trace


def test_a_value_that_was_not_kept_is_made_again() -> None:
    question = Question("next", "the cat")
    scores = resolve(question).value("decoder.0.self.scores")
    assert scores.shape == resolve(question).trace["decoder.0.self.weights"].shape
    assert not scores.flags.writeable


def test_the_shelf_gives_the_oldest_away() -> None:
    questions = [Question("next", f"the cat{' sat' * count}") for count in range(4)]
    traces = [resolve(question).trace for question in questions]
    shelf = TraceCache(budget=trace_bytes(traces[2]) + trace_bytes(traces[3]))
    for question, made in zip(questions, traces, strict=True):
        shelf.get((question, (), Path(), 0), lambda made=made: made)  # type: ignore[misc]
    assert [key[0] for key in shelf.traces] == questions[2:]
    assert shelf.traces.currsize == trace_bytes(traces[2]) + trace_bytes(traces[3])


def test_the_same_question_asked_twice_at_once_is_computed_once() -> None:
    shelf, made, question = TraceCache(), resolve(Question("next", "the cat")).trace, Question("next", "asked by many")
    begun: list[int] = []
    arrived = Barrier(4)

    def make() -> Trace:
        begun.append(1)
        sleep(0.05)  # long enough for the others to find it under way
        return made

    def ask(_: int) -> Trace:
        arrived.wait()
        return shelf.get((question, (), Path(), 0), make)

    with ThreadPoolExecutor(4) as pool:
        assert all(answer is made for answer in pool.map(ask, range(4)))
    assert begun == [1]
    assert not shelf.in_progress


def test_only_what_differs_is_called_exchanged() -> None:
    config = Config(vocabulary_size=5, context_length=4, d_model=8, layers=1, heads=2)
    assert variant_differences(config, config) == []
    other = config.replace(attention_function="hardmax", masks=())
    assert variant_differences(config, other) == [
        ("Mask", "causal", "none"),
        ("Attention function", "softmax", "hardmax"),
    ]


def test_the_code_of_every_part_can_be_shown() -> None:
    for position in POSITIONAL_ENCODINGS:
        for kernel in ATTENTION_FUNCTIONS:
            masks = tuple({"window": "window:2", "custom": "custom:1"}.get(mask, mask) for mask in MASKS)
            config = Config(
                vocabulary_size=5,
                context_length=4,
                d_model=8,
                layers=1,
                heads=2,
                positional_encoding=position,
                attention_function=kernel,
                masks=masks,
            )
            assert all(part.code.startswith(("class ", "def ")) for part in code_sections(config))
