"""Whose question comes next."""

from hypothesis import given
from hypothesis import strategies as st
from pytest import raises

from headlight_app.engine.fair_queue import MAX_WAITING, FairQueue, Superseded
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream


def job(visitor: str, stream: Stream | None = None) -> Job:
    return Job(visitor, EngineRequest("trace", b"{}"), 1.0, stream)


def taken(queue: FairQueue) -> Job:
    found = queue.take()
    assert found is not None
    return found


def test_visitors_take_turns_however_much_one_asks() -> None:
    queue = FairQueue()
    for visitor in "aaaaabb":
        queue.put(job(visitor))
    served = []
    for _ in range(7):
        current = taken(queue)
        served.append(current.visitor)
        queue.done(current)
    assert "".join(served) == "ababaaa"


def test_of_one_visitor_one_job_runs_at_a_time() -> None:
    queue = FairQueue()
    first, second, other = job("a"), job("a"), job("b")
    for each in (first, second, other):
        queue.put(each)
    assert [taken(queue), taken(queue)] == [first, other]
    queue.done(first)
    assert taken(queue) is second


def test_a_newer_question_replaces_those_that_wait_and_stops_the_one_at_work() -> None:
    queue = FairQueue()
    running, waiting, newest = (job("a", Stream("page", number)) for number in range(3))
    queue.put(running)
    assert taken(queue) is running
    queue.put(waiting)
    queue.put(newest)
    assert running.cancelled.is_set()
    with raises(Superseded):
        waiting.future.result(timeout=0)
    queue.done(running)
    assert taken(queue) is newest


def test_the_queue_forgets_whoever_is_served() -> None:
    queue = FairQueue()
    for number in range(100):
        queue.put(job(f"visitor {number}", Stream("page", 1)))
    for _ in range(100):
        queue.done(taken(queue))
    assert not queue.waiting and not queue.running


def test_nobody_replaces_the_question_of_another_by_its_name() -> None:
    queue = FairQueue()
    mine = job("a", Stream("page", 1))
    queue.put(mine)
    queue.put(job("b", Stream("page", 99)))
    assert not mine.future.done()
    assert taken(queue) is mine


def test_what_is_cancelled_while_it_waits_is_never_taken() -> None:
    queue = FairQueue()
    first, second = job("a"), job("b")
    queue.put(first)
    queue.put(second)
    first.cancel()
    assert taken(queue) is second
    with raises(Superseded):
        first.future.result(timeout=0)


def test_one_visitor_cannot_fill_the_queue() -> None:
    queue = FairQueue()
    for _ in range(MAX_WAITING):
        queue.put(job("a"))
    with raises(EngineError, match="more than can be answered"):
        queue.put(job("a"))
    queue.put(job("b"))


def test_closing_tells_whoever_waits() -> None:
    queue = FairQueue()
    waiting = job("a")
    queue.put(waiting)
    queue.close()
    assert queue.take() is None
    with raises(EngineError):
        waiting.future.result(timeout=0)


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=40))
def test_everybody_is_served_within_one_round(visitors: list[str]) -> None:
    queue = FairQueue()
    for visitor in visitors:
        queue.put(job(visitor))
    left = list(visitors)
    while left:
        waiting_for_turn = list(dict.fromkeys(queue.waiting))
        for expected in waiting_for_turn:
            current = taken(queue)
            assert current.visitor == expected
            left.remove(expected)
            queue.done(current)
