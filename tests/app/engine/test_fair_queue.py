"""The order in which visitors' questions are answered."""

from dataclasses import replace
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx, raises

from headlight_app.engine import fair_queue as subject
from headlight_app.engine.fair_queue import MAX_WAITING, FairQueue, QueueFigures, Superseded
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream


def job(visitor: str, stream: Stream | None = None, alike: str = "") -> Job:
    return Job(visitor, EngineRequest("trace", b"{}", alike=alike), 1.0, stream)


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


def test_addresses_take_turns_however_many_visitors_each_has() -> None:
    queue = FairQueue(by_address=True)
    for number in range(20):
        queue.put(replace(job(f"newcomer {number}"), address="192.0.2.1"))
    served = [taken(queue).visitor for _ in range(2)]
    queue.put(replace(job("anna"), address="192.0.2.2"))
    queue.put(job("the server"))
    served += [taken(queue).visitor for _ in range(4)]
    assert served == ["newcomer 0", "newcomer 1", "anna", "the server", "newcomer 2", "newcomer 3"]


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
    with raises(EngineError, match="more questions than can be answered"):
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


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "one model", "another"])), max_size=40),
    st.integers(1, 4),
    st.integers(1, 5),
)
def test_whoever_waits_alike_is_taken_along_in_turn_and_nobody_starves(
    asked: list[tuple[str, str]], workers: int, limit: int
) -> None:
    queue = FairQueue()
    jobs = [job(visitor, alike=alike) for visitor, alike in asked]
    for each in jobs:
        queue.put(each)
    served: list[Job] = []
    firsts: list[Job] = []  # jobs that took a turn; the others of a batch take none
    while len(served) < len(jobs):
        at_work: list[Job] = []
        for _ in range(workers):
            if not any(visitor not in queue.running for visitor in queue.waiting):
                break
            first = taken(queue)
            firsts.append(first)
            waiting_longest = list(queue.waiting)
            along = queue.take_alike(first, limit - 1)
            assert len(along) < limit and all(each.request.alike == first.request.alike != "" for each in along)
            places = [waiting_longest.index(each.visitor) for each in along]
            assert places == sorted(places), "a batch keeps the order of the queue"
            at_work += [first, *along]
        assert len({each.visitor for each in at_work}) == len(at_work), "only one job of a visitor runs at a time"
        for each in at_work:
            queue.done(each)
        served += at_work
    for visitor in "abcdefgh":
        assert [each for each in served if each.visitor == visitor] == [
            each for each in jobs if each.visitor == visitor
        ]
        before_first = served[: next((i for i, each in enumerate(served) if each.visitor == visitor), 0)]
        turns = [sum(each.visitor == other for each in before_first if each in firsts) for other in "abcdefgh"]
        assert max(turns) <= 1, "no visitor has two turns before each has had one"


def test_the_queue_tells_how_busy_it_is_and_whose_turn_comes_when() -> None:
    queue = FairQueue()
    assert queue.figures() == QueueFigures(0, 0, 0, 0, 0.0, 0.0)
    for visitor in "abbc":
        queue.put(job(visitor))
    first = taken(queue)
    assert queue.figures() == QueueFigures(3, 1, people=3, answered=0, per_second=0.0, per_busy_second=0.0)
    assert [queue.turn(visitor) for visitor in "abcd"] == [0, 1, 2, 0], "a running job is not waiting"
    queue.done(first)
    queue.done(taken(queue))
    figures = queue.figures()
    assert (figures.waiting, figures.people, figures.answered) == (2, 2, 2) and figures.per_second > 0
    assert [queue.turn(visitor) for visitor in "bc"] == [1, 0], "the visitor served last waits behind the others"


def test_one_who_waits_for_their_own_question_alone_waits_for_nobody() -> None:
    queue = FairQueue()
    for _ in range(2):
        queue.put(job("a"))
    taken(queue)
    assert queue.turn("a") == 0
    queue.put(job("b"))
    assert queue.turn("b") == 2, "behind the running question and the one queued earlier"


@given(st.lists(st.tuples(st.floats(0.0, 60.0), st.floats(0.01, 1.0), st.integers(1, 4)), min_size=2, max_size=30))
def test_what_can_be_answered_does_not_depend_on_how_seldom_people_ask(rounds: list[tuple[float, float, int]]) -> None:
    now = 0.0
    with patch.object(subject, "monotonic", lambda: now):
        queue = FairQueue()
        for pause, seconds, people in rounds:
            now += pause
            for number in range(people):
                queue.put(job(f"visitor {number}", alike="one model"))
            first = taken(queue)
            jobs = [first, *queue.take_alike(first, people)]
            now += seconds
            for each in jobs:
                queue.done(each)
        worked = sum(seconds for _, seconds, _ in rounds[1:])  # since the first answers
        answered = sum(people for _, _, people in rounds) - 1
        assert queue.figures().per_busy_second == approx(answered / worked)
