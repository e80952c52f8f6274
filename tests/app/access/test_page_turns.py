"""One page run computes at a time, visitors take turns, and letters come between; a waiting run blocks no other."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock
from time import sleep

import pytest

from headlight_app.access import page_turns as subject
from headlight_app.access.page_turns import note_question, page_turn, without_turn

PATIENCE = 30.0


@pytest.fixture(autouse=True)
def turns(monkeypatch: pytest.MonkeyPatch) -> subject.Turns:
    """The turns of this test alone."""
    own = subject.Turns()
    monkeypatch.setattr(subject, "_turns", lambda: own)
    return own


def test_one_run_computes_at_a_time_and_all_of_them_in_the_end() -> None:
    at_work, most, lock = 0, 0, Lock()

    def run(number: int) -> int:
        nonlocal at_work, most
        with page_turn("ann"):
            with lock:
                at_work += 1
                most = max(most, at_work)
            sleep(0.005)
            with lock:
                at_work -= 1
        return number

    with ThreadPoolExecutor(20) as pool:
        assert sorted(pool.map(run, range(40))) == [*range(40)]
    assert most == 1


def test_runs_that_wait_for_an_answer_hold_nobody_up() -> None:
    answered = Event()

    def wait(number: int) -> bool:
        with page_turn("ann"), without_turn():
            return answered.wait(PATIENCE)

    def answer() -> None:
        with page_turn("ann"):
            answered.set()

    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(wait, number) for number in range(2)]
        pool.submit(answer).result(PATIENCE)
        assert all(run.result(PATIENCE) for run in waiting)


def test_a_run_that_ends_early_gives_its_turn_back() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="stopped"), page_turn("ann"), without_turn():
            raise ValueError("stopped")
    with page_turn("ann"):
        pass


def test_what_is_no_run_of_the_page_waits_without_a_turn() -> None:
    with without_turn():
        pass


def test_next_comes_the_visitor_whose_last_run_is_longest_ago(turns: subject.Turns) -> None:
    order: list[str] = []

    def run(visitor: str) -> None:
        with page_turn(visitor):
            order.append(visitor)

    for visitor in ("ann", "eager"):
        run(visitor)
    order.clear()
    arrivals = ("eager", "new", "eager", "eager", "ann")
    with ThreadPoolExecutor(len(arrivals)) as pool, page_turn("ben"):
        for number, visitor in enumerate(arrivals, 1):
            pool.submit(run, visitor)
            _wait_until(partial(_are_waiting, turns, number))
    assert order == ["ann", "eager", "eager", "new", "eager"]


@pytest.mark.parametrize("is_typing, rests", [(True, [0.04, 0.1]), (False, [0.0, 0.0])])
def test_while_visitors_type_a_run_that_was_waited_for_is_followed_by_a_rest_of_its_length(
    turns: subject.Turns, monkeypatch: pytest.MonkeyPatch, is_typing: bool, rests: list[float]
) -> None:
    slept: list[float] = []
    computed = 0.0
    monkeypatch.setattr(subject, "monotonic", lambda: 100.0)
    monkeypatch.setattr(subject, "thread_time", lambda: computed)
    monkeypatch.setattr(subject, "sleep", slept.append)
    if is_typing:
        note_question()

    def run() -> None:
        with page_turn("ben"):
            pass

    for took in (0.04, 99.0):
        with ThreadPoolExecutor(1) as pool, page_turn("ann"):
            pool.submit(run)
            _wait_until(partial(_are_waiting, turns, 1))
            computed += took
    assert slept == pytest.approx(rests)


def _are_waiting(turns: subject.Turns, number: int) -> bool:
    return len(turns.waiting) == number


def _wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < until:
        sleep(0.001)
