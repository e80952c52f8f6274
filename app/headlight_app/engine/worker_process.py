"""Controls one worker process: starts it, sends it requests, watches it, stops it and restarts it.

Only bytes cross the pipe, never pickles: a worker's output may come from an untrusted file.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread
from time import monotonic
from typing import Protocol

import msgspec
import psutil

from headlight.errors import HeadlightError
from headlight_app.engine.fair_queue import STOPPED, SUPERSEDED, Superseded
from headlight_app.engine.job import EngineError, Job
from headlight_app.engine.worker_environment import worker_environment

POLL_SECONDS = 0.05  # between two checks of a busy worker's time and memory
CANCEL_SECONDS = 1.0  # in which a worker must end a cancelled job
START_SECONDS = 60.0  # in which a worker must be ready
STARVED_SECONDS = 60.0  # extra time for a start or a question while other processes use the CPUs
HELD_SECONDS = 1.0  # for which a worker may be suspended (as by Ctrl+Z) before it is replaced
PIPE_BYTES = 32 << 10  # that a pipe buffers without a reader
TOGETHER = 16  # jobs answered together: more would save little, and each waits for the shared forward pass
ANSWER, SENTENCE, READY = b"A", b"S", b"R"  # the first byte of a message from a worker
ASK, CANCEL = b"Q", b"C"  # and of a message to a worker
DIED = (
    "The process that was answering ended, so this has no answer. Its models are being opened again: try once more. "
    "If it happens again, the model's files are the cause."
)

HELD = (
    "The process that was answering was suspended on the server, and so was its replacement, so this has no answer. "
    "Ask the person who runs the server."
)


class WorkerHeld(EngineError):
    """A worker is suspended (SIGSTOP): it neither answers nor exits."""


@dataclass(frozen=True)
class WorkerLimits:
    """The limits of a worker: memory in bytes (0: nine tenths of the machine's), and its niceness.

    The GPUs of a cluster are divided among `gpu_workers` workers; 0 gives this one none.
    `module` is the name of the module it runs, which this module does not import.
    """

    memory_bytes: int = 0
    niceness: int = 0
    gpu_workers: int = 0
    module: str = "headlight_app.worker.serve"

    def to_json(self) -> str:
        """The limits as JSON, for a command line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> WorkerLimits:
        """The limits from JSON."""
        return cls(**json.loads(text))


class Process(Protocol):
    """What is used of a process."""

    pid: int

    def poll(self) -> int | None:
        """None while it runs."""

    def kill(self) -> None:
        """End it."""

    def wait(self) -> object:
        """Wait for its end."""


Fork = Callable[[Connection, WorkerLimits], Process]  # a way to start a worker with its end of the pipe


class WorkerProcess:
    """A worker process that starts when needed, by `fork` if it is given. Only one thread uses it."""

    at_once = TOGETHER

    def __init__(self, limits: WorkerLimits, fork: Fork | None = None) -> None:
        self.fork = fork
        self.limits = replace(limits, memory_bytes=limits.memory_bytes or psutil.virtual_memory().total * 9 // 10)
        self.process: Process | None = None
        self.connection: Connection | None = None
        self.asked, self.has_ended = 0, False

    def start(self) -> None:
        """Start it unless it runs. Raises EngineError if it does not become ready, WorkerHeld if it is suspended."""
        if self._runs():
            return
        self.stop()
        self.connection, theirs = Pipe()
        self.process = (self.fork or _start_process)(theirs, self.limits)
        theirs.close()
        if self.has_ended:
            self.end()
        is_ready = False
        with suppress(psutil.NoSuchProcess):
            watch = Watch(psutil.Process(self.process.pid), self.limits, START_SECONDS)
            is_ready = _is_ready(self.connection, watch)
        if not is_ready:
            self.stop()
            raise EngineError(STOPPED if self.has_ended else "The engine does not start; the server's log says why.")

    def _runs(self) -> bool:
        """Whether it runs and is not suspended. A forked one that has ended leaves no zombie, so psutil finds none."""
        if self.process is None or self.process.poll() is not None:
            return False
        try:
            return not _is_held(psutil.Process(self.process.pid))
        except psutil.NoSuchProcess:
            return False

    def answer(self, job: Job) -> bytes:
        """The answer to a job. If it fails, raises HeadlightError with a sentence for the visitor."""
        for _ in range(2):  # a suspended worker is replaced once, and the question sent again
            try:
                for _, outcome in self.answer_together([job]):
                    if isinstance(outcome, bytes):
                        return outcome
                    raise outcome
            except WorkerHeld:
                self.stop()
        raise EngineError(HELD)

    def answer_together(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, bytes | HeadlightError]]:
        """Each job as it is answered, with its answer or error.

        Raises EngineError if the worker fails midway, and WorkerHeld if it is suspended.
        """
        self.start()
        try:
            yield from self._converse(jobs)
        except (EOFError, OSError, psutil.NoSuchProcess) as error:
            self.stop()
            raise EngineError(DIED) from error

    def stop(self) -> None:
        """End it at once; the next job starts it again."""
        if self.connection is not None:
            self.connection.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = self.connection = None

    def end(self) -> None:
        """End it permanently, from another thread: its current jobs fail, and it never starts again."""
        self.has_ended = True
        process = self.process
        if process is not None:
            process.kill()

    def _converse(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, bytes | HeadlightError]]:
        assert self.connection is not None and self.process is not None
        numbers = range(self.asked + 1, self.asked + 1 + len(jobs))
        pending = {number.to_bytes(8, "little"): job for number, job in zip(numbers, jobs, strict=True)}
        self.asked += len(jobs)
        asked = [(number, job.request) for number, job in pending.items()]
        _send(self.connection, ASK + msgspec.msgpack.encode(asked))
        watch = Watch(psutil.Process(self.process.pid), self.limits, max(job.seconds for job in jobs))
        cancelled_at: dict[bytes, float] = {}
        while pending:
            if self.connection.poll(POLL_SECONDS):
                message = self.connection.recv_bytes()
                if message[1:9] in pending:
                    job = pending.pop(message[1:9])
                    yield job, _outcome(job, message)
            elif problem := watch.problem():
                self.stop()
                raise EngineError(problem)
            elif self._cancel(pending, cancelled_at):
                self.stop()
                yield from ((job, Superseded(SUPERSEDED)) for job in pending.values())
                return

    def _cancel(self, pending: Mapping[bytes, Job], cancelled_at: dict[bytes, float]) -> bool:
        """Send new cancellations to the worker. True if all jobs are cancelled and CANCEL_SECONDS are over."""
        assert self.connection is not None
        for number, job in pending.items():
            if job.cancelled.is_set() and number not in cancelled_at:
                cancelled_at[number] = monotonic()
                self.connection.send_bytes(CANCEL + number)
        wanted = pending.keys() - cancelled_at.keys()
        return not wanted and monotonic() - max(cancelled_at.values()) > CANCEL_SECONDS


def _outcome(job: Job, message: bytes) -> bytes | HeadlightError:
    """The answer or error in a worker's message about a job."""
    if job.cancelled.is_set():
        return Superseded(SUPERSEDED)
    content = message[9:]
    return EngineError(content.decode("utf-8", "replace")) if message[:1] == SENTENCE else content


class Watch:
    """Watches a worker's time and memory while it answers, from outside its process."""

    def __init__(self, process: psutil.Process, limits: WorkerLimits, seconds: float) -> None:
        self.process, self.limits, self.seconds = process, limits, seconds
        self.begun = self.last_running = monotonic()
        self.computed = _processor_seconds(process)

    def problem(self) -> str:
        """A sentence that says why the worker must be ended, or "". Raises WorkerHeld if it is suspended."""
        if not _is_held(self.process):
            self.last_running = monotonic()
        elif monotonic() - self.last_running > HELD_SECONDS:
            raise WorkerHeld(HELD)
        over = monotonic() - self.begun - self.seconds
        if over > STARVED_SECONDS or (over > 0 and _processor_seconds(self.process) - self.computed > self.seconds):
            return _too_slow(self.seconds)
        is_large = self.process.memory_info().rss > self.limits.memory_bytes
        return _too_large(self.limits.memory_bytes) if is_large else ""


def _is_held(process: psutil.Process) -> bool:
    """Whether a process is suspended by a signal."""
    return bool(process.status() == psutil.STATUS_STOPPED)


def _send(connection: Connection, message: bytes) -> None:
    """Send a message without blocking: a large one in a thread, which ends when the connection closes."""
    if len(message) < PIPE_BYTES:
        connection.send_bytes(message)
        return

    def send() -> None:
        # The worker has ended, which the polling thread detects; a closed connection has no handle.
        with suppress(OSError, TypeError):
            connection.send_bytes(message)

    Thread(target=send, daemon=True, name="sending").start()


def _is_ready(connection: Connection, watch: Watch) -> bool:
    """Whether a worker sends READY before its watch finds a problem."""
    try:
        while not connection.poll(POLL_SECONDS):
            if watch.problem():
                return False
        return connection.recv_bytes() == READY
    except (EOFError, OSError):
        return False


def _processor_seconds(process: psutil.Process) -> float:
    """The CPU time of a process, summed over its threads."""
    times = process.cpu_times()
    return times.user + times.system


def _too_slow(seconds: float) -> str:
    return (
        f"This took longer than the {seconds:.0f} seconds that a question may take here, and was stopped. "
        "Shorten the text, or choose a smaller model."
    )


def _too_large(limit: int) -> str:
    return (
        f"This needed more than the {limit / 1e9:.1f} GB of memory that a question may take here, and was stopped. "
        "Shorten the text, or choose a smaller model."
    )


def _start_process(connection: Connection, limits: WorkerLimits) -> Process:
    handle = connection.fileno()
    return python_command("headlight_app.engine.worker_process", [str(handle), limits.to_json()], handle)


def python_command(module: str, arguments: Sequence[str], handle: int) -> subprocess.Popen[bytes]:
    """Start a module in a new interpreter with this one's `sys.path`, which inherits a handle.

    `multiprocessing` would import the main module again, which may be Streamlit's script.
    """
    command = [sys.executable, "-P", "-m", module, *arguments]
    path = os.pathsep.join(filter(None, sys.path))
    environment = worker_environment(os.environ) | {"PYTHONPATH": path}
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)  # a handle of Windows, no file descriptor
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, close_fds=False)
    # In its own process group: a terminal sends Ctrl+C to the server's group, also while this process imports.
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, pass_fds=[handle], process_group=0)


def main(arguments: Sequence[str]) -> None:
    """The main function of a worker process: set its limits, then serve."""
    handle, limits = int(arguments[0]), WorkerLimits.from_json(arguments[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl+C
    if sys.platform != "win32":
        confine(limits)
    gc.disable()  # modules live as long as the process: collecting during imports would find nothing
    serve: Callable[[Connection], None] = import_module(limits.module).serve
    gc.freeze()
    gc.enable()
    if sys.platform != "win32":
        os.nice(limits.niceness)  # only now: at low priority beside busy processes, imports took most of a minute
    with suppress(ConnectionError):  # the server has ended
        serve(_connected(handle))


def _connected(handle: int) -> Connection:
    """The connection of an inherited handle: on Windows, `Connection` reads sockets, and `Pipe` opens no socket."""
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        return PipeConnection(handle)
    return Connection(handle)


def confine(limits: WorkerLimits) -> None:
    """Limit this process's memory, and end it with the one that started it."""
    import ctypes
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.memory_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory_bytes, limits.memory_bytes))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a worker ends when its server is killed


if __name__ == "__main__":
    main(sys.argv[1:])
