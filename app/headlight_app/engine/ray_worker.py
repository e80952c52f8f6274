"""Workers on the machines of a Ray cluster: an actor there controls a worker process like the local ones.

If an untrusted file crashes the process, its actor survives and reports an error sentence. So a lost actor means a
lost machine, and its question is sent to another one.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

import msgspec
import psutil
import ray
from ray.exceptions import RayError, RayTaskError

from headlight.errors import HeadlightError
from headlight_app.engine.fair_queue import STOPPED, SUPERSEDED, Superseded
from headlight_app.engine.job import EngineError, EngineRequest, Job, VisitorFolder
from headlight_app.engine.worker_environment import OF_HEADLIGHT, worker_environment
from headlight_app.engine.worker_process import (
    ANSWER,
    CANCEL,
    CANCEL_SECONDS,
    DIED,
    POLL_SECONDS,
    SENTENCE,
    START_SECONDS,
    STARVED_SECONDS,
    TOGETHER,
    WorkerLimits,
    WorkerProcess,
)

FOLDER_PREFIX = "headlight-engine-"  # of an actor's folder for its visitor's files; its process id follows
ATTEMPTS = 5  # machines on which a question is tried, one after the other
PLACE_CPUS = 0.001  # of a CPU: with 0, Ray may let a lost node choose where to place the actor
NODE_LABEL = "ray.io/node-id"
CHUNK_BYTES = 64 << 20  # of a file per message
CLOSE_SECONDS = 3.0  # in which an actor ends its process and deletes its files
UNREACHABLE = "The machines that answer cannot be reached. Try again in a moment."
TOO_LARGE = "This checkpoint is too large to send to the machines that answer here. Open a smaller one."
NO_ROOM = "The machines that answer have no room for this checkpoint now. Try again in a few minutes."


class RayCluster:
    """A cluster by its address for `ray.init`: ray://HOST:PORT, or HOST:PORT if this machine belongs to it.

    Each of its machines has this version of Headlight. Access to one machine allows running any code on all.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.lock = Lock()

    def connect(self) -> None:
        """Connect to the cluster unless connected. Raises EngineError if it cannot be reached."""
        with self.lock:
            if ray.is_initialized():
                return
            ray.shutdown()  # clears what remains of a broken connection
            try:
                ray.init(self.address, log_to_driver=False, logging_level=logging.ERROR)
            except (OSError, RayError, RuntimeError, ValueError) as error:
                raise EngineError(f"There is no Ray cluster at {self.address!r} that can be reached.") from error

    def worker(self, limits: WorkerLimits) -> RayWorker:
        """A new worker on any machine of the cluster."""
        return RayWorker(self, limits)

    def new_actor(self, limits: WorkerLimits, lost_node: str) -> Any:
        """An actor on any machine, with its share of the GPUs if there are any.

        Ray may still list a node that was just lost, so another node is preferred.
        """
        self.connect()
        passed = worker_environment(os.environ)
        environment = {name: value for name, value in passed.items() if name.startswith(OF_HEADLIGHT)}
        share = gpu_share(ray.cluster_resources().get("GPU", 0.0), limits.gpu_workers)
        free = ray.available_resources().get("GPU", 0.0) >= share
        elsewhere = {"label_selector": {NODE_LABEL: f"!{lost_node}"}, "fallback_strategy": [{"label_selector": {}}]}
        options = {
            "num_cpus": PLACE_CPUS,
            "num_gpus": share if free else 0,
            "max_concurrency": 2,  # a question, and the call that cancels it
            "scheduling_strategy": "SPREAD",
            **(elsewhere if lost_node else {}),
        }
        return ray.remote(WorkerActor).options(**options).remote(limits, environment)


class RayWorker:
    """A worker in the cluster that starts when needed. Only one thread uses it."""

    at_once = TOGETHER

    def __init__(self, cluster: RayCluster, limits: WorkerLimits) -> None:
        self.cluster, self.limits = cluster, limits
        self.local = WorkerProcess(limits)
        self.actor: Any = None
        self.places: dict[str, str] = {}  # folders on the actor's machine by the fingerprint of the sent files
        self.asked = 0
        self.node = self.lost_node = ""
        self.has_ended = False

    def start(self) -> None:
        """Do nothing: the first question starts the actor, and each lost machine is replaced by another."""

    def answer(self, job: Job) -> bytes:
        """The answer to a job. If it fails, raises HeadlightError with a sentence for the visitor."""
        if job.request.is_local:
            try:
                return self.local.answer(job)
            finally:
                self.local.stop()
        (outcome,) = self._outcomes([job])
        if isinstance(outcome, bytes):
            return outcome
        raise outcome or EngineError(DIED)

    def answer_together(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, bytes | HeadlightError]]:
        """Each job with its answer or error, once all are done. Raises EngineError if any has neither."""
        outcomes = self._outcomes(jobs)
        yield from ((job, outcome) for job, outcome in zip(jobs, outcomes, strict=True) if outcome is not None)
        if None in outcomes:
            raise EngineError(DIED)

    def _outcomes(self, jobs: Sequence[Job]) -> list[bytes | HeadlightError | None]:
        """The outcome of each job; None if the process ended before it. A lost machine is replaced by another."""
        for _ in range(ATTEMPTS):
            try:
                self._start()
                return self._converse(jobs)
            except RayTaskError:
                raise
            except (RayError, ConnectionError) as error:
                logging.getLogger(__name__).warning("A machine was lost: %s", error)
                self._forget()
                self.lost_node = self.node
                if _are_cancelled(jobs):
                    raise Superseded(SUPERSEDED) from error
        raise EngineError(UNREACHABLE)

    def stop(self) -> None:
        """End it at once and delete the files sent to it; the next job starts it again."""
        self.local.stop()
        if self.actor is not None:
            with suppress(RayError, ConnectionError):
                ray.wait([self.actor.close.remote()], timeout=CLOSE_SECONDS)
        self._forget()

    def end(self) -> None:
        """End it permanently, from another thread: its current jobs fail, and it never starts again."""
        self.has_ended = True
        self.local.end()
        actor = self.actor
        if actor is not None:
            with suppress(RayError, ConnectionError):
                actor.close.remote()

    def _forget(self) -> None:
        """Kill the actor, which may have ended already, and forget the files sent to it."""
        if self.actor is not None:
            with suppress(RayError, ConnectionError):
                ray.kill(self.actor)
        self.actor = None
        self.places.clear()

    def _start(self) -> None:
        if self.has_ended:
            raise EngineError(STOPPED)
        if self.actor is not None:
            return
        self.actor = self.cluster.new_actor(self.limits, self.lost_node)
        self.node, problem = self._wait_for(self.actor.start.remote(), START_SECONDS + STARVED_SECONDS)
        if problem:
            self.stop()
            raise EngineError(problem)

    def _converse(self, jobs: Sequence[Job]) -> list[bytes | HeadlightError | None]:
        requests = [msgspec.msgpack.encode(self._send_files(job)) for job in jobs]
        first, seconds = self.asked + 1, max(job.seconds for job in jobs)
        self.asked += len(jobs)
        reference = self.actor.answer.remote(first, requests, seconds)
        # The actor enforces `seconds`. This limit, which includes a process restart, detects a silent machine.
        messages: list[bytes] = self._wait_for(reference, START_SECONDS + seconds + 2 * STARVED_SECONDS, jobs)
        return [_read(job, message) for job, message in zip(jobs, messages, strict=True)]

    def _wait_for(self, reference: Any, seconds: float, jobs: Sequence[Job] = ()) -> Any:
        """The result of an actor's method. After `seconds`, stops the actor and raises EngineError."""
        deadline, said = monotonic() + seconds, reference.future()
        while not wait([said], POLL_SECONDS).done:
            if self.has_ended:
                raise EngineError(STOPPED)
            for number, job in enumerate(jobs, self.asked - len(jobs) + 1):
                if job.cancelled.is_set():
                    self.actor.cancel.remote(number)
            if _are_cancelled(jobs):
                deadline = min(deadline, monotonic() + 2 * CANCEL_SECONDS)
            if monotonic() > deadline:
                self.stop()
                raise Superseded(SUPERSEDED) if _are_cancelled(jobs) else EngineError(UNREACHABLE)
        return said.result()

    def _send_files(self, job: Job) -> EngineRequest:
        """The request with the folders of the actor's machine; checkpoints that it lacks are sent first."""
        found = {checkpoint: files for checkpoint in job.request.checkpoints if (files := _files(checkpoint))}
        if sum(path.stat().st_size for files in found.values() for path in files) > self.local.limits.memory_bytes:
            raise EngineError(TOO_LARGE)
        keys = {checkpoint: _fingerprint(files) for checkpoint, files in found.items()}
        missing = {checkpoint: key for checkpoint, key in keys.items() if key not in self.places}
        if missing:
            ray.get(self.actor.keep.remote([key for key in keys.values() if key in self.places]))
            self.places = {key: place for key, place in self.places.items() if key in keys.values()}
        for checkpoint, key in missing.items():
            self.places[key] = self._send(checkpoint, key, found[checkpoint], job)
        folders = tuple(
            msgspec.structs.replace(checkpoint, folder=f"{self.places[key]}/{_inside(checkpoint)}", sent="")
            for checkpoint, key in keys.items()
        )
        return msgspec.structs.replace(job.request, checkpoints=folders)

    def _send(self, checkpoint: VisitorFolder, key: str, files: list[Path], job: Job) -> str:
        """Write files to the actor's machine. Returns their folder there."""
        place = ""
        for path in files:
            for data in _chunks(path):
                if job.cancelled.is_set():
                    raise Superseded(SUPERSEDED)
                name = path.relative_to(_root(checkpoint)).as_posix()
                place = ray.get(self.actor.write.remote(key, name, data))
                if not place:
                    raise EngineError(NO_ROOM)
        return place


class WorkerActor:
    """Controls a worker process on its machine, and stores the files of that worker's visitor."""

    def __init__(self, limits: WorkerLimits, environment: dict[str, str]) -> None:
        threads = str(max(1, (os.cpu_count() or 1) // 2))
        os.environ.update(environment, OMP_NUM_THREADS=threads, OMP_WAIT_POLICY="passive")
        _delete_orphans()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
        self.worker = WorkerProcess(limits)
        self.jobs: dict[int, Job] = {}  # running jobs by their numbers

    def start(self) -> tuple[str, str]:
        """Start the process. Returns the node's id, and an error sentence if the process does not start."""
        problem = ""
        try:
            self.worker.start()
        except HeadlightError as error:
            problem = str(error)
        return ray.get_runtime_context().get_node_id(), problem

    def answer(self, first: int, requests: Sequence[bytes], seconds: float) -> list[bytes]:
        """For each request: ANSWER + the answer, SENTENCE + the error sentence, or CANCEL.

        Of several requests, those unanswered when the process ended get b"". Requests are numbered from `first`.
        """
        jobs = [Job("", msgspec.msgpack.decode(request, type=EngineRequest), seconds) for request in requests]
        self.jobs = dict(enumerate(jobs, first))
        if len(jobs) == 1:
            return [_written(self._answer_alone(jobs[0]))]
        messages = dict.fromkeys(jobs, b"")
        with suppress(HeadlightError):
            for job, outcome in self.worker.answer_together(jobs):
                messages[job] = _written(outcome)
        return list(messages.values())

    def _answer_alone(self, job: Job) -> bytes | HeadlightError:
        try:
            return self.worker.answer(job)
        except HeadlightError as error:
            return error

    def cancel(self, number: int) -> None:
        """Cancel a question; the server repeats this call until the question ends."""
        if number in self.jobs:
            self.jobs[number].cancel()

    def keep(self, keys: list[str]) -> None:
        """Delete all stored checkpoints except these."""
        for folder in self.folder.iterdir():
            if folder.name not in keys:
                shutil.rmtree(folder, ignore_errors=True)

    def write(self, key: str, name: str, data: bytes) -> str:
        """Append to a file of a checkpoint. Returns the checkpoint's folder, or "" if the disk is full."""
        path = self.folder / key / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(data)
        except OSError:
            return ""
        return str(self.folder / key)

    def close(self) -> None:
        """End the process, and delete the stored checkpoints."""
        self.worker.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def _are_cancelled(jobs: Sequence[Job]) -> bool:
    return bool(jobs) and all(job.cancelled.is_set() for job in jobs)


def _written(outcome: bytes | HeadlightError) -> bytes:
    """The outcome of a question as an actor's message."""
    if isinstance(outcome, bytes):
        return ANSWER + outcome
    return CANCEL if isinstance(outcome, Superseded) else SENTENCE + str(outcome).encode("utf-8", "replace")


def _read(job: Job, message: bytes) -> bytes | HeadlightError | None:
    """The answer or error in an actor's message about a job; None if the message is empty."""
    if message[:1] == CANCEL or job.cancelled.is_set():
        return Superseded(SUPERSEDED)
    if message[:1] == SENTENCE:
        return EngineError(message[1:].decode("utf-8", "replace"))
    return message[1:] if message else None


def gpu_share(gpus: float, workers: int) -> float:
    """Each worker's share of the GPUs, at most 1, rounded down to Ray's unit of 1/10,000."""
    return min(10_000, int(gpus * 10_000 / workers)) / 10_000 if workers else 0.0


def _delete_orphans() -> None:
    """Delete the folders of killed actors on this machine."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        number = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        if number.isdecimal() and not psutil.pid_exists(int(number)) and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def _root(checkpoint: VisitorFolder) -> Path:
    """The folder that contains the files to send."""
    folder = Path(checkpoint.sent or checkpoint.folder)
    return folder.parent if folder.is_file() else folder


def _inside(checkpoint: VisitorFolder) -> str:
    """The path to open, relative to the sent folder."""
    return Path(checkpoint.folder).relative_to(_root(checkpoint)).as_posix()


def _files(checkpoint: VisitorFolder) -> list[Path]:
    """The files to send: all of an upload, the top level of a folder, or a single file and its tokenizer files."""
    found: Iterable[Path]
    if checkpoint.sent:
        found = Path(checkpoint.sent).rglob("*")
    elif (opened := Path(checkpoint.folder)).is_file():
        found = chain([opened], opened.parent.glob("token*"))
    else:
        found = opened.glob("*")
    return sorted(path for path in found if path.is_file())


def _fingerprint(files: list[Path]) -> str:
    """A hash of the paths, sizes and modification times of files."""
    told = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    """A file in chunks; an empty file gives one empty chunk."""
    with path.open("rb") as file:
        yield file.read(CHUNK_BYTES)
        while data := file.read(CHUNK_BYTES):
            yield data
