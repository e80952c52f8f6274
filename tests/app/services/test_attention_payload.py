"""The cache, and what the page knows about models."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from time import sleep

from app.explore.source_code import parts
from app.services.attention_payload import exchanged
from app.services.traces import Shelf, trace, value, weight
from app.state.state import Question
from model.config import Config
from model.nn.attention_functions import KERNELS
from model.nn.masks import MASKS
from model.nn.positional_encodings import POSITIONS
from model.tracing.trace import Trace


def test_equal_questions_share_one_trace() -> None:
    assert trace(Question("next", "the cat")) is trace(Question("next", "the cat"))
    assert trace(Question("next", "the cat")) is not trace(Question("next", "the dog"))


def test_a_value_that_was_not_kept_is_made_again() -> None:
    question = Question("next", "the cat")
    scores = value(question, "decoder.0.self.scores")
    assert scores.shape == trace(question)["decoder.0.self.weights"].shape
    assert not scores.flags.writeable


def test_the_shelf_gives_the_oldest_away() -> None:
    questions = [Question("next", f"the cat{' sat' * count}") for count in range(4)]
    traces = [trace(question) for question in questions]
    shelf = Shelf(budget=weight(traces[2]) + weight(traces[3]))
    for question, made in zip(questions, traces, strict=True):
        shelf.get((question, (), Path(), 0), lambda made=made: made)  # type: ignore[misc]
    assert [key[0] for key in shelf.traces] == questions[2:]
    assert shelf.size == weight(traces[2]) + weight(traces[3])


def test_the_same_question_asked_twice_at_once_is_computed_once() -> None:
    shelf, made, question = Shelf(), trace(Question("next", "the cat")), Question("next", "asked by many")
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
    assert not shelf.making


def test_only_what_differs_is_called_exchanged() -> None:
    config = Config(vocabulary=5, context=4, width=8, layers=1, heads=2)
    assert exchanged(config, config) == []
    other = config.change(kernel="hard", masks=())
    assert exchanged(config, other) == [("Mask", "causal", "none"), ("Kernel", "softmax", "hard")]


def test_the_code_of_every_part_can_be_shown() -> None:
    for position in POSITIONS:
        for kernel in KERNELS:
            masks = tuple({"window": "window:2", "custom": "custom:1"}.get(mask, mask) for mask in MASKS)
            config = Config(
                vocabulary=5, context=4, width=8, layers=1, heads=2, position=position, kernel=kernel, masks=masks
            )
            assert all(part.code.startswith(("class ", "def ")) for part in parts(config))
