"""The engine's processes: a failure in one is a one-sentence error for one visitor."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from multiprocessing import Pipe, connection
from pathlib import Path
from time import sleep
from typing import ClassVar
from unittest.mock import Mock
from weakref import ref

import msgspec
import psutil
import pytest

from headlight_app.contract.request import Lane
from headlight_app.engine import engine as subject
from headlight_app.engine import worker_process
from headlight_app.engine.engine import MAX_SHARED, Engine, WorkerPool, shared_workers
from headlight_app.engine.fair_queue import Superseded
from headlight_app.engine.job import EngineError, Job, Stream, VisitorFolder
from headlight_app.engine.worker_process import POLL_SECONDS, READY, Watch, WorkerLimits, WorkerProcess, _is_ready
from headlight_app.engine.worker_template import IS_POSSIBLE, WorkerTemplate
from tests.app.asking import body, unpack
from tests.app.engine.faulty_worker import put, put_to_work, request

LIMITS = WorkerLimits(module="tests.app.engine.faulty_worker")
MEMORY = 1 << 30
PATIENCE = 120  # seconds; a busy machine is slow to start a process


@pytest.fixture(scope="module")
def lane() -> Iterator[WorkerPool]:
    made = WorkerPool("short", LIMITS, 1)
    yield made
    made.close()


def ask(lane: WorkerPool, handler: str, body: str = "{}", visitor: str = "anna", seconds: float = 60.0) -> str:
    return put(lane, handler, body, visitor, seconds).future.result(timeout=PATIENCE).decode()


def test_a_question_is_answered_in_another_process(lane: WorkerPool) -> None:
    assert ask(lane, "echo", '{"text": "the cat"}') == "the cat"
    assert ask(lane, "process") == ask(lane, "process")


def test_a_lone_surrogate_travels(lane: WorkerPool) -> None:
    job = put(lane, "echo", '{"text": "\\ud800"}')
    with pytest.raises(EngineError):
        job.future.result(timeout=PATIENCE)
    assert ask(lane, "echo", '{"text": "after"}') == "after"


def test_a_refusal_is_a_sentence_and_the_worker_stays(lane: WorkerPool) -> None:
    before = ask(lane, "process")
    with pytest.raises(EngineError, match=r"^This text cannot be read\.$"):
        ask(lane, "refuse")
    with pytest.raises(EngineError, match="ZeroDivisionError"):
        ask(lane, "fail")
    assert ask(lane, "process") == before


def test_a_crash_is_a_sentence_and_others_are_answered(lane: WorkerPool) -> None:
    before = ask(lane, "process")
    crash, other = put(lane, "crash"), put(lane, "process", visitor="ben")
    with pytest.raises(EngineError, match="try once more"):
        crash.future.result(timeout=PATIENCE)
    assert other.future.result(timeout=PATIENCE).decode() != before


def test_long_work_comes_last_on_the_machine() -> None:
    with closing(WorkerPool("long", replace(LIMITS, niceness=10), 1)) as lane:
        assert ask(lane, "echo", '{"text": "the cat"}') == "the cat"
        assert process_of(lane).nice() == min(psutil.Process().nice() + 10, 19)


def test_what_computes_for_too_long_is_ended_from_outside(lane: WorkerPool) -> None:
    with pytest.raises(EngineError, match="took longer than the 1 seconds"):
        ask(lane, "spin", seconds=1.0)
    assert ask(lane, "echo", '{"text": "again"}') == "again"


def test_what_hangs_with_the_interpreter_lock_is_ended_from_outside(
    lane: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "STARVED_SECONDS", 0.0)
    with pytest.raises(EngineError, match="took longer than the 1 seconds"):
        ask(lane, "hang", seconds=1.0)
    assert ask(lane, "echo", '{"text": "again"}') == "again"


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
@pytest.mark.parametrize("size", [1, 1 << 20], ids=["short", "longer than a pipe"])
def test_a_worker_that_is_stopped_is_replaced_and_its_question_answered(lane: WorkerPool, size: int) -> None:
    question = json.dumps({"text": "x" * size})
    for at_work in (False, True):
        stopped = int(ask(lane, "process"))
        job = put_to_work(lane, "sleep", '{"seconds": 0.5}') if at_work else None
        os.kill(stopped, signal.SIGSTOP)
        assert ask(lane, "echo", question, visitor="ben") == "x" * size
        assert not job or job.future.result(timeout=PATIENCE) == b"slept"
        assert not psutil.pid_exists(stopped)


def test_a_question_that_others_keep_from_the_processors_is_waited_for(lane: WorkerPool) -> None:
    assert ask(lane, "sleep", '{"seconds": 1}', seconds=0.5) == "slept"


def test_a_question_that_is_replaced_is_stopped_at_work(lane: WorkerPool) -> None:
    before = ask(lane, "process")
    old = put_to_work(lane, "sleep", '{"seconds": 1000}', stream=Stream("page", 1))
    new = put(lane, "process", stream=Stream("page", 2))
    with pytest.raises(Superseded):
        old.future.result(timeout=PATIENCE)
    assert new.future.result(timeout=PATIENCE).decode() == before, "the worker stops the job itself and keeps running"


def test_what_does_not_let_go_is_ended(lane: WorkerPool) -> None:
    job = put_to_work(lane, "hang")
    job.cancel()
    with pytest.raises(Superseded):
        job.future.result(timeout=PATIENCE)
    assert ask(lane, "echo", '{"text": "again"}') == "again"


def test_what_waits_and_is_alike_is_answered_along_with_each_other_and_stays_apart(lane: WorkerPool) -> None:
    held = put_to_work(lane, "sleep", '{"seconds": 0.3}')
    handlers = ("echo", "refuse", "fail", "echo", "sleep", "crash", "echo")
    jobs = [
        put(lane, handler, json.dumps({"text": str(number), "seconds": 1_000}), f"visitor {number}", alike="same")
        for number, handler in enumerate(handlers)
    ]
    while "visitor 4" not in lane.queue.running:
        sleep(POLL_SECONDS)
    assert {f"visitor {number}" for number in range(4, 7)} <= set(lane.queue.running), "all run in one batch"
    jobs[4].cancel()
    told = {number: job.future.exception(timeout=PATIENCE) for number, job in enumerate(jobs)}
    assert {number for number, error in told.items() if not error} == {0, 3, 6}
    assert [jobs[number].future.result() for number in (0, 3, 6)] == [b"0", b"3", b"6"]
    assert isinstance(told[4], Superseded)
    assert "cannot be read" in str(told[1]) and "ZeroDivisionError" in str(told[2]) and "try once more" in str(told[5])
    assert held.future.result(timeout=PATIENCE) == b"slept"


def test_weights_cut_off_under_an_open_model_cost_one_answer(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = shutil.copytree(toys / "next", tmp_path / "next") / "model.safetensors"
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))

    def read(lane: WorkerPool, text: str) -> str:
        job = put(lane, "trace", json.dumps(body("trace", model="next", text=text)))
        tokens = unpack(job.future.result(timeout=PATIENCE))[0]["tokens"]
        return "".join(token["text"] for token in tokens if not token["special"])

    with closing(WorkerPool("short", WorkerLimits(), 1)) as lane:
        assert read(lane, "the cat") == "the cat"
        whole = weights.read_bytes()
        os.truncate(weights, 0)
        with pytest.raises(EngineError, match=r"\.$"):
            read(lane, "the dog")
        weights.write_bytes(whole)
        assert read(lane, "the dog") == "the dog"


def test_what_eats_memory_is_ended() -> None:
    with closing(WorkerPool("small", replace(LIMITS, memory_bytes=MEMORY), 1)) as lane:
        with pytest.raises(EngineError, match="memory"):
            ask(lane, "fill")
        assert ask(lane, "echo", '{"text": "again"}') == "again"


@pytest.mark.parametrize("is_shared", [True, False])
def test_where_all_models_are_ones_own_they_may_be_as_large_as_any(is_shared: bool) -> None:
    with closing(Engine(1, 500 << 20, is_shared=is_shared)) as engine:
        own, offered = (engine.lanes[lane].threads[0].worker for lane in (Lane.PRIVATE, Lane.SHORT))
        assert isinstance(own, WorkerProcess) and isinstance(offered, WorkerProcess)
        assert (own.limits.memory_bytes < offered.limits.memory_bytes) is is_shared


def test_of_two_workers_one_answers_while_the_other_is_at_work() -> None:
    with closing(WorkerPool("short", LIMITS, 2)) as lane:
        long = put(lane, "sleep", '{"seconds": 1000}', seconds=2_000.0)
        assert ask(lane, "echo", '{"text": "meanwhile"}', visitor="ben") == "meanwhile"
        assert not long.future.done()


def test_a_private_worker_serves_one_visitor_and_starts_anew_for_the_next() -> None:
    with closing(WorkerPool("private", LIMITS, 2, is_private=True)) as lane:
        anna, ben = ask(lane, "process"), ask(lane, "process", visitor="ben")
        assert anna != ben
        assert ask(lane, "process") == anna and ask(lane, "process", visitor="ben") == ben
        cleo = ask(lane, "process", visitor="cleo")
        assert cleo not in (anna, ben), "a process that has read one visitor's files never serves another"


@pytest.mark.parametrize("keep_seconds, kept", [(60.0, True), (0.0, False)])
def test_newcomers_share_one_private_worker_while_the_others_are_in_use(
    keep_seconds: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "KEEP_SECONDS", keep_seconds)
    with closing(WorkerPool("private", LIMITS, 2, is_private=True)) as lane:
        anna = ask(lane, "process")
        newcomers = {ask(lane, "process", visitor=name) for name in ("ben", "cleo", "dora")}
        assert len(newcomers) == 3
        assert (ask(lane, "process") == anna) == kept, "after KEEP_SECONDS the longest idle worker is reassigned"


def test_a_lane_keeps_no_answer_once_it_is_given() -> None:
    with closing(WorkerPool("short", LIMITS, 1)) as lane:
        asked = put(lane, "echo", '{"text": "large"}')
        assert asked.future.result(60)
        kept = ref(asked)
        del asked
        for _ in range(100):  # the thread forgets it after it has passed it on
            if kept() is None:
                return
            sleep(0.05)
        raise AssertionError("the lane refers to the last job")


def test_a_process_that_new_visitors_share_ends_once_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "REST_SECONDS", 0.2)
    with closing(WorkerPool("private", LIMITS, 2, is_private=True)) as lane:
        anna, ben = int(ask(lane, "process")), int(ask(lane, "process", visitor="ben"))
        psutil.wait_procs([psutil.Process(ben)], timeout=60)
        assert not psutil.pid_exists(ben) and psutil.pid_exists(anna)
        assert ask(lane, "echo", '{"text": "again"}', visitor="ben") == "again"


@pytest.mark.skipif(not IS_POSSIBLE, reason="a fork is safe on Linux alone")
def test_new_visitors_get_a_process_of_their_own_without_its_imports() -> None:
    with closing(WorkerTemplate()) as template:
        employ = partial(WorkerProcess, fork=template.fork)
        with closing(WorkerPool("private", LIMITS, 1, is_private=True, employ=employ)) as lane:
            anna = int(ask(lane, "process"))
            assert template.process and psutil.Process(anna).ppid() == template.process.pid
            ben = int(ask(lane, "process", visitor="ben"))
            assert ben != anna and not psutil.pid_exists(anna)
            with pytest.raises(EngineError, match="ended"):
                ask(lane, "crash", visitor="ben")
            assert ask(lane, "process", visitor="ben") != str(ben)
            template.process.kill()
            template.process.wait()
            assert ask(lane, "echo", '{"text": "again"}', visitor="cleo") == "again", "a new template was started"
            cleo = int(ask(lane, "process", visitor="cleo"))
        assert not psutil.pid_exists(cleo)
    assert template.process is None


def test_a_process_that_leaves_no_zombie_has_ended_as_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(process: psutil.Process) -> float:
        raise psutil.NoSuchProcess(process.pid)

    with closing(WorkerPool("private", LIMITS, 1, is_private=True)) as lane:
        ask(lane, "process")
        with monkeypatch.context() as patched, pytest.raises(EngineError, match="ended"):
            patched.setattr(worker_process, "_processor_seconds", gone)
            ask(lane, "process")
        with monkeypatch.context() as patched, pytest.raises(EngineError, match="does not start"):
            patched.setattr(worker_process, "_processor_seconds", gone)
            ask(lane, "process")
        before = ask(lane, "process")
        monkeypatch.setattr(
            worker_process, "_is_held", Mock(side_effect=chain([psutil.NoSuchProcess(1)], repeat(False)))
        )
        assert ask(lane, "process") != before, "another was started"


@pytest.mark.skipif(not IS_POSSIBLE, reason="a fork is safe on Linux alone")
@pytest.mark.parametrize("closes", [False, True])
def test_a_template_that_is_suspended_is_replaced_or_ended(closes: bool) -> None:
    with closing(WorkerTemplate()) as template:
        employ = partial(WorkerProcess, fork=template.fork)
        with closing(WorkerPool("private", LIMITS, 1, is_private=True, employ=employ)) as lane:
            ask(lane, "process")
            assert template.process and template.line and template.line.gettimeout()
            template.process.send_signal(signal.SIGSTOP)
            template.line.settimeout(PATIENCE if closes else 0.5)
            job = put(lane, "echo", '{"text": "again"}', "ben", 60.0)
            if not closes:
                assert job.future.result(timeout=PATIENCE) == b"again"
                return
            while not template.lock.locked():
                sleep(POLL_SECONDS)
            template.close()
            with pytest.raises(EngineError, match="stopped"):
                job.future.result(timeout=PATIENCE)
            assert template.process is None


@pytest.mark.parametrize(("gigabytes", "cores", "workers"), [(4, 8, 1), (12, 8, 3), (64, 2, 2), (64, 64, MAX_SHARED)])
def test_new_visitors_share_as_many_processes_as_memory_and_cores_allow(
    gigabytes: int, cores: int, workers: int
) -> None:
    assert shared_workers(gigabytes << 30, cores) == workers


def test_each_of_the_shared_processes_takes_new_visitors() -> None:
    with closing(WorkerPool("private", LIMITS, 2, is_private=True, shared=2)) as lane:
        long = put(lane, "sleep", '{"seconds": 1000}', seconds=2_000.0)
        assert len({ask(lane, "process", visitor=name) for name in ("ben", "cleo", "dora")}) == 3
        assert not long.future.done()


class CountedStart(WorkerProcess):
    """Records how many processes start at the same time."""

    counts: ClassVar[list[int]] = [0]

    def start(self) -> None:
        if self.process is not None:
            return
        self.counts.append(self.counts[-1] + 1)
        sleep(0.2)
        super().start()
        self.counts.append(self.counts[-1] - 1)


def test_the_processes_of_new_visitors_start_one_after_the_other() -> None:
    with closing(WorkerPool("private", LIMITS, 3, is_private=True, employ=CountedStart)) as lane:
        jobs = [Job(visitor, request("echo", '{"text": "here"}'), 60.0) for visitor in ("anna", "ben", "cleo")]
        for job in jobs:
            lane.queue.put(job)
        assert [job.future.result(timeout=PATIENCE) for job in jobs] == [b"here"] * 3
        assert CountedStart.counts == [0, 1] * 3 + [0], "parallel starts would slow down other visitors' requests"


def process_of(lane: WorkerPool) -> psutil.Process:
    """The process of a lane's only worker; waits until it exists."""
    worker = lane.threads[0].worker
    assert isinstance(worker, WorkerProcess)
    while (process := worker.process) is None:
        sleep(POLL_SECONDS)
    return psutil.Process(process.pid)


@pytest.mark.parametrize("module", ["tests.app.engine.faulty_worker", "tests.app.engine.silent_worker"])
def test_closing_ends_a_worker_that_does_not_let_go_and_one_that_is_still_starting(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "END_SECONDS", PATIENCE)
    lane = WorkerPool("short", WorkerLimits(module=module), 1)
    hanging, waiting = (put(lane, "hang", visitor=visitor, seconds=2_000.0) for visitor in ("anna", "ben"))
    process = process_of(lane)
    lane.close()
    assert not any(thread.is_alive() for thread in lane.threads)
    assert not process.is_running()
    with pytest.raises(EngineError):
        hanging.future.result(timeout=0)
    with pytest.raises(EngineError, match="being stopped"):
        waiting.future.result(timeout=0)
    with pytest.raises(EngineError, match="being stopped"):
        put(lane, "hang", visitor="cleo")


class LateWatch(Watch):
    """Watches a start whose time is over. At its third look it sends READY as the worker would, if it has `to_send`."""

    def __init__(self, process: psutil.Process, seconds: float, to_send: connection.Connection | None) -> None:
        super().__init__(process, WorkerProcess(LIMITS).limits, seconds)
        self.begun, self.to_send, self.looks = self.begun - seconds - 1, to_send, 0

    def problem(self) -> str:
        self.looks += 1
        if self.to_send is not None and self.looks == 3:
            self.to_send.send_bytes(READY)
        return super().problem()


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_start_has_extra_time_only_while_other_processes_use_the_processors(is_busy: bool) -> None:
    ours, theirs = Pipe()
    program = "while True: pass" if is_busy else "import time; time.sleep(1_000)"
    with subprocess.Popen([sys.executable, "-c", program]) as process, ours, theirs:
        watch = LateWatch(psutil.Process(process.pid), 0.1 if is_busy else 30.0, None if is_busy else theirs)
        assert _is_ready(ours, watch) != is_busy
        process.kill()


def test_what_has_ended_does_not_start_again() -> None:
    worker = WorkerProcess(LIMITS)
    worker.start()
    worker.end()
    for _ in range(2):  # neither the ended process nor a new one
        with pytest.raises(EngineError):
            worker.answer(Job("anna", request("process"), 60.0))
    assert worker.process is None


def test_what_a_visitor_brought_travels_with_the_request(lane: WorkerPool) -> None:
    folder = VisitorFolder("upload-1", "mine", "/nowhere")
    job = Job("anna", msgspec.structs.replace(request("folders"), checkpoints=(folder,)), 60.0)
    lane.queue.put(job)
    assert job.future.result(timeout=PATIENCE) == b"upload-1"
    assert ask(lane, "folders", visitor="ben") == ""


class WindowsPipe(connection.Connection):
    """Stands for the class of the same purpose that only Windows has."""


def test_on_windows_a_worker_inherits_its_end_of_the_pipe_as_a_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch of Windows, run here: `os.set_inheritable` takes file descriptors there, and a pipe's end is none."""
    monkeypatch.setattr(os, "set_handle_inheritable", os.set_inheritable, raising=False)
    monkeypatch.delattr(os, "set_inheritable")
    monkeypatch.setattr(connection, "PipeConnection", WindowsPipe, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    worker = WorkerProcess(LIMITS)
    try:
        assert worker.answer(Job("anna", request("echo", '{"text": "hello"}'), 60.0)) == b"hello"
    finally:
        worker.stop()
    ours, theirs = Pipe()
    with ours, worker_process._connected(os.dup(theirs.fileno())) as reopened:
        assert isinstance(reopened, WindowsPipe)
        theirs.close()
        reopened.send_bytes(b"ready")
        assert ours.recv_bytes() == b"ready"
