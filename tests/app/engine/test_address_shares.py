"""One network address with many visitors beside others."""

import gc
from itertools import count, product
from weakref import ref

import pytest

from headlight_app.contract.request import Lane
from headlight_app.engine import address_shares as subject
from headlight_app.engine.address_shares import (
    AT_ONCE,
    BURST_SECONDS,
    LETTER_SECONDS,
    LETTER_TEXT,
    LONG_SHARE,
    MAX_BURSTS,
    SHARE,
    AddressShares,
)
from headlight_app.engine.fair_queue import MAX_WAITING_OF_ADDRESS, YIELDING_TOGETHER, FairQueue
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream

HERE, THERE = "192.0.2.1", "192.0.2.2"
LONG = LETTER_TEXT + 1


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> AddressShares:
    """Shares whose time stands still."""
    monkeypatch.setattr(subject, "monotonic", lambda: 1_000.0)
    return AddressShares()


def job(visitor: str, route: str = "compare", alike: str = "", address: str = HERE) -> Job:
    request = EngineRequest(route, b"{}", visitor=visitor, alike=alike)
    return Job(visitor, request, 10.0, Stream("page", 1), address=address)


def answered(asked: Job, seconds: float) -> None:
    asked.took = seconds
    asked.finish(b"")


def ask(shares: AddressShares, visitor: str, seconds: float, size: int = LONG, route: str = "compare") -> Lane:
    """Ask a question of the short lane from HERE and have it answered; returns its lane."""
    asked = job(visitor, route)
    lane = shares.admit(asked, Lane.SHORT, size)
    answered(asked, seconds if lane is Lane.SHORT else 0.0)
    return lane


@pytest.mark.parametrize("size", [1, LONG])
def test_nothing_keeps_an_answer_once_it_is_given(shares: AddressShares, size: int) -> None:
    gc.disable()  # which runs seldom in a server that has frozen its modules
    try:
        asked = job("ann")
        shares.admit(asked, Lane.SHORT, size)
        answered(asked, 0.01)
        kept = ref(asked)
        del asked
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("lane", [Lane.SHORT, Lane.LONG])
def test_new_visitors_of_one_address_have_a_few_turns_for_long_questions_and_then_one(
    shares: AddressShares, lane: Lane
) -> None:
    jobs = [job(f"visitor {number}") for number in range(38)]
    lanes = [shares.admit(each, lane, LONG) for each in jobs]
    own = [each.visitor for each in jobs if each.visitor != f"at {HERE}"]
    assert len(own) == AT_ONCE[lane] and lanes[AT_ONCE[lane] :] == [Lane.LONG] * (38 - AT_ONCE[lane])
    assert len({each.stream for each in jobs}) > 1, "in a shared queue no question replaces that of another visitor"
    other = job("somebody", address=THERE)
    assert shares.admit(other, lane, LONG) is lane and other.visitor == "somebody"
    for each in jobs:
        answered(each, 0.0)
    assert shares.admit(job("late"), lane, LONG) is lane and len(shares.in_flight) <= 2


def test_all_questions_of_a_class_find_room_in_the_turn_that_it_shares(shares: AddressShares) -> None:
    queue, streams = FairQueue(), 6
    for number, stream in product(range(30), range(streams)):
        asked = job(f"visitor {number}")
        asked.stream = Stream(f"{number} {stream}", 1)
        if shares.admit(asked, Lane.SHORT, LONG) is Lane.LONG:
            queue.put(asked)
    assert len(queue.waiting[f"at {HERE}"]) == 29 * streams  # all but those of the first, who was alone
    with pytest.raises(EngineError, match="Your network has sent more"):
        for _ in range(MAX_WAITING_OF_ADDRESS):
            queue.put(Job(f"at {HERE}", asked.request, 10.0, address=HERE))


def test_an_address_has_a_part_of_the_time_for_long_questions_and_gets_it_again(
    shares: AddressShares, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitors = (f"visitor {number}" for number in count())
    took = [ask(shares, next(visitors), 0.5) for _ in range(20)]
    assert took.count(Lane.SHORT) == BURST_SECONDS / 0.5 + 1, "the last one begins while time is left"
    monkeypatch.setattr(subject, "monotonic", lambda: 1_000.0 + BURST_SECONDS / LONG_SHARE)
    ask(shares, next(visitors), 0.5)
    assert ask(shares, next(visitors), 0.5) is Lane.SHORT


def test_letters_of_a_class_behind_that_address_keep_their_turns(shares: AddressShares) -> None:
    for number in range(100):
        ask(shares, f"visitor {number}", 0.5)
    for number in range(30):
        student = f"student {number}"
        assert ask(shares, student, LETTER_SECONDS / 3, size=80, route="trace") is Lane.SHORT
        for size in range(80, 900, 50):
            assert ask(shares, student, LETTER_SECONDS / 3, size, "trace") is Lane.SHORT, "a text that has grown"
    slow = job("student 1", "trace", alike="trace\nmodel")
    for _ in range(5):
        shares._measure(slow, Lane.SHORT)
        slow.took = 1.0
    assert shares.admit(slow, Lane.SHORT, 80) is Lane.SHORT, "short texts share a run, also on a slow machine"


def test_who_alternates_letters_and_long_questions_asks_long_ones(shares: AddressShares) -> None:
    for number in range(100):
        ask(shares, f"visitor {number}", 0.5)
    lanes = [ask(shares, "anna", 0.5 if number % 2 else 0.001, size=10) for number in range(40)]
    assert lanes.count(Lane.SHORT) < 4


def test_an_address_that_uses_most_of_the_time_yields_to_others_while_they_ask(
    shares: AddressShares, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = FairQueue(shares.yields)

    def put(visitor: str, address: str) -> None:
        waiting = job(visitor, "trace", alike="trace", address=address)
        assert shares.admit(waiting, Lane.SHORT, 10) is Lane.SHORT
        queue.put(waiting)

    for number in range(500):
        ask(shares, f"visitor {number}", LETTER_SECONDS / 2, 10, "trace")
    for number in range(100):
        put(f"visitor {number}", HERE)
    assert not shares.yields(job("visitor 1")), "nobody else is here"
    put("anna", THERE)
    assert queue.turn("anna") == 0
    first = queue.take()
    assert first and first.visitor == "anna" and queue.take_alike(first, 15) == []
    later = queue.take()
    assert later and len(queue.take_alike(later, 15)) == YIELDING_TOGETHER - 1
    monkeypatch.setattr(subject, "monotonic", lambda: 1_000.0 + MAX_BURSTS * BURST_SECONDS / SHARE)
    assert not shares.yields(job("visitor 1"))


def test_whoever_is_alone_delays_nobody(shares: AddressShares) -> None:
    assert {ask(shares, "anna", 5.0) for _ in range(20)} == {Lane.SHORT}


def test_a_question_that_is_never_answered_gives_its_turn_back(shares: AddressShares) -> None:
    shares.admit(job("ben", address=THERE), Lane.SHORT, 1)
    waiting = [job(f"visitor {number}") for number in range(AT_ONCE[Lane.SHORT])]
    for each in waiting:
        assert shares.admit(each, Lane.SHORT, LONG) is Lane.SHORT
        each.finish(ValueError("the queue is full"))
    assert shares.admit(job("anna"), Lane.SHORT, LONG) is Lane.SHORT
