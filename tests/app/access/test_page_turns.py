"""A limited number of page runs compute at once; a waiting run blocks no other."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from time import sleep

import pytest

from headlight_app.access.page_turns import MAX_RUNS, page_turn, without_turn

PATIENCE = 30.0


def test_so_many_runs_compute_at_a_time_and_all_of_them_in_the_end() -> None:
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
    assert most == MAX_RUNS


def test_runs_that_wait_for_an_answer_hold_nobody_up() -> None:
    answered = Event()

    def wait(number: int) -> bool:
        with page_turn("ann"), without_turn():
            return answered.wait(PATIENCE)

    def answer() -> None:
        with page_turn("ann"):
            answered.set()

    with ThreadPoolExecutor(2 * MAX_RUNS + 1) as pool:
        waiting = [pool.submit(wait, number) for number in range(2 * MAX_RUNS)]
        pool.submit(answer).result(PATIENCE)
        assert all(run.result(PATIENCE) for run in waiting)


def test_a_run_that_ends_early_gives_its_turn_back() -> None:
    for _ in range(2 * MAX_RUNS):
        with pytest.raises(ValueError, match="stopped"), page_turn("ann"), without_turn():
            raise ValueError("stopped")
    with page_turn("ann"):
        pass


def test_what_is_no_run_of_the_page_waits_without_a_turn() -> None:
    with without_turn():
        pass
