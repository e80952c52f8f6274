"""The engine's public interface: each request ends with an answer as bytes or with an error sentence."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from threading import Lock, Thread
from time import monotonic
from typing import Protocol

import psutil

from headlight.errors import HeadlightError, unforeseen
from headlight_app.access.settings import LOCAL_ENGINE, settings
from headlight_app.contract.request import Lane
from headlight_app.engine.address_shares import AddressShares
from headlight_app.engine.contract import WarmUpRequest
from headlight_app.engine.fair_queue import FairQueue
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream
from headlight_app.engine.worker_process import WorkerLimits, WorkerProcess
from headlight_app.engine.worker_template import IS_POSSIBLE, WorkerTemplate

WARM_UP = "warm-up"  # the visitor name of warm-up requests
VISITOR_WORKERS = 4  # open visitors' own files, each for one visitor at a time; new visitors share the last ones
MAX_SHARED = 4  # private workers that new visitors share
KEEP_SECONDS = 120.0  # after its owner's last job, before others may get a private worker (a shared one at once)
REST_SECONDS = 30.0  # without a job in the lane; then the workers that new visitors share end
GRACE_SECONDS = 0.5  # that workers get to finish, before they are killed
END_SECONDS = 0.5  # to wait for killed workers to exit
VISITOR_MEMORY_BYTES = 2 << 30  # of a private worker on a shared server; twice the upload limit is added


class Worker(Protocol):
    """A worker on this machine or another, which can be stopped. It answers at most `at_once` jobs together."""

    at_once: int

    def start(self) -> None:
        """Start it ahead of its first job, if it runs on this machine. Raises HeadlightError if that fails."""
        ...

    def answer(self, job: Job) -> bytes:
        """The answer to a job. If it fails, raises HeadlightError with a sentence for the visitor."""
        ...

    def answer_together(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, bytes | HeadlightError]]:
        """Each job as it is answered, with its answer or error. Raises HeadlightError if the worker fails midway."""
        ...

    def stop(self) -> None:
        """End it at once; the next job starts it again."""
        ...

    def end(self) -> None:
        """End it permanently, from another thread: its current jobs fail, and it never starts again."""
        ...


class WorkerThread(Thread):
    """Passes a lane's jobs to one worker, each together with waiting jobs that can share its forward pass."""

    def __init__(self, lane: WorkerPool, worker: Worker) -> None:
        super().__init__(daemon=True, name=f"engine-{lane.name}")
        self.lane, self.worker = lane, worker
        self.owner, self.last_used, self.is_idle = "", -KEEP_SECONDS, True
        self.begun, self.together = 0.0, 1  # when the current jobs were taken, and their number

    def run(self) -> None:
        """Answer until the lane is closed."""
        while self._answer_next():
            continue  # nothing here refers to the last answer, which may be large
        self.worker.stop()

    def _answer_next(self) -> bool:
        """Answer the next job, and those that share its forward pass; False once the lane is closed."""
        job = self._next_job()
        if job is None:
            return False
        self.is_idle = False
        alike = self.lane.queue.take_alike(job, self.worker.at_once - 1, self._accepts)
        self.begun, self.together = monotonic(), 1 + len(alike)
        for left in self._answer_together([job, *alike]) if alike else [job]:
            self._finish(left, self._answer(left))
        return True

    def _next_job(self) -> Job | None:
        """Wait for the next job; None once the lane is closed."""
        while True:
            try:
                return self.lane.queue.take(self._accepts, REST_SECONDS)
            except TimeoutError:
                if self.lane.is_private and self._is_shared():
                    self.worker.stop()  # new visitors get a new process anyway

    def _answer_together(self, jobs: list[Job]) -> list[Job]:
        """Answer several jobs together. Returns those left unanswered because one of them stopped the worker."""
        left = list(jobs)
        try:
            for job, outcome in self.worker.answer_together(jobs):
                left.remove(job)
                self._finish(job, outcome)
        except HeadlightError:
            return left
        except Exception as error:
            self._fail(error)
        return left

    def _finish(self, job: Job, outcome: bytes | Exception) -> None:
        job.took = (monotonic() - self.begun) / self.together
        job.finish(outcome)
        self.is_idle, self.last_used = True, monotonic()
        self.lane.queue.done(job)

    def _accepts(self, visitor: str) -> bool:
        """Whether this worker takes a visitor's job: a private worker takes its owner's jobs, others take all.

        A new visitor gets the idle worker that was used longest ago, among those that may change their owner.
        """
        if not self.lane.is_private or visitor == self.owner:
            return True
        others = [thread for thread in self.lane.threads if thread is not self]
        if not self._may_change_owner() or any(thread.owner == visitor for thread in others):
            return False
        free = [thread for thread in others if thread.is_idle and thread._may_change_owner()]
        return all(self._order() <= thread._order() for thread in free)

    def _order(self) -> tuple[bool, float]:
        """Sort key: a new visitor gets the first idle worker in this order."""
        return self._is_shared(), self.last_used

    def _is_shared(self) -> bool:
        """Whether it is one of the last workers, which new visitors share."""
        return self in self.lane.threads[-self.lane.shared :]

    def _may_change_owner(self) -> bool:
        """Whether its owner has been inactive for KEEP_SECONDS, or new visitors share it.

        Without this rule, many new visitors would close the models that others have open.
        """
        return self._is_shared() or monotonic() - self.last_used > KEEP_SECONDS

    def _change_owner(self, visitor: str) -> None:
        """Restart the process for a new owner, because it holds the previous owner's models."""
        self.worker.stop()
        self.owner = visitor
        with self.lane.starting:
            self.worker.start()

    def _answer(self, job: Job) -> bytes | Exception:
        try:
            if self.lane.is_private and job.visitor != self.owner:
                self._change_owner(job.visitor)
            return self.worker.answer(job)
        except HeadlightError as error:
            return error
        except Exception as error:
            return self._fail(error)

    def _fail(self, error: Exception) -> EngineError:
        """Stop the worker after an unforeseen error; the lane continues. The question is not logged."""
        logging.getLogger(__name__).error("The engine failed", exc_info=error)
        self.worker.stop()
        return EngineError(unforeseen(error, "Try again or reload."))


class WorkerPool:
    """The workers of one lane, and their queue. In a private pool each worker serves one visitor at a time."""

    def __init__(
        self,
        name: str,
        limits: WorkerLimits,
        workers: int,
        is_private: bool = False,
        employ: Callable[[WorkerLimits], Worker] = WorkerProcess,
        yields: Callable[[Job], bool] = lambda job: False,
        shared: int = 1,
    ) -> None:
        self.name, self.is_private, self.shared = name, is_private, shared
        self.queue = FairQueue(yields, by_address=is_private)
        self.starting = Lock()  # a start takes seconds of CPU time; several at once would delay everyone's keystrokes
        self.threads = [WorkerThread(self, employ(limits)) for _ in range(workers)]
        for thread in self.threads:
            thread.start()

    def start(self) -> None:
        """Queue one warm-up job per worker, so that each starts before a visitor's request."""
        for number in range(len(self.threads)):
            self.queue.put(Job(f"{WARM_UP} {number}", EngineRequest(WarmUpRequest.route, b"{}"), WarmUpRequest.seconds))

    def close(self) -> None:
        """Stop all jobs and workers."""
        close_pools([self])


class Engine:
    """A pool of workers for each lane: short requests, long work, and visitors' own files.

    A keystroke never waits for long work, and a process that reads a visitor's own files serves no other visitor.
    `address` is LOCAL_ENGINE for workers on this machine, or a Ray cluster. Raises EngineError if none is there.
    """

    def __init__(
        self, workers: int = 1, upload_bytes: int = 0, address: str = LOCAL_ENGINE, *, is_shared: bool = True
    ) -> None:
        employ = _employer(address)
        self.shares = AddressShares()
        self.template = WorkerTemplate()
        forked = employ is WorkerProcess and IS_POSSIBLE
        employ_private = partial(WorkerProcess, fork=self.template.fork) if forked else employ
        shared = shared_workers(psutil.virtual_memory().available, os.cpu_count() or 1)
        private = WorkerLimits(VISITOR_MEMORY_BYTES + 2 * upload_bytes if is_shared else 0, niceness=5)
        self.lanes = {
            Lane.SHORT: WorkerPool(
                "short", WorkerLimits(gpu_workers=workers), workers, employ=employ, yields=self.shares.yields
            ),
            Lane.LONG: WorkerPool("long", WorkerLimits(niceness=10), 1, employ=employ),
            Lane.PRIVATE: WorkerPool(
                "private",
                private,
                VISITOR_WORKERS + shared - 1,
                is_private=True,
                employ=employ_private,
                shared=shared,
            ),
        }

    def start(self) -> None:
        """Start the workers of the short lane, without waiting for them."""
        self.lanes[Lane.SHORT].start()

    def submit(
        self,
        visitor: str,
        request: EngineRequest,
        *,
        lane: Lane,
        seconds: float,
        stream: Stream | None = None,
        address: str = "",
        size: int | None = None,
    ) -> Job:
        """Put a request into the queue. Raises EngineError if too many are waiting.

        `size` is the number of characters in a component's texts, `address` the network address of its visitor.
        """
        job = Job(visitor, request, seconds, stream, address=address)
        lane = self.shares.admit(job, lane, size) if address and size is not None else lane
        try:
            self.lanes[lane].queue.put(job)
        except EngineError as error:
            job.finish(error)
            raise
        return job

    def close(self) -> None:
        """Stop all jobs and workers within GRACE_SECONDS + END_SECONDS."""
        close_pools(list(self.lanes.values()))
        self.template.close()


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The one engine of this process; each worker starts with its first job."""
    chosen = settings()
    return Engine(chosen.workers, chosen.upload_limit << 20, chosen.engine, is_shared=chosen.shared)


def shared_workers(available_bytes: int, cores: int) -> int:
    """How many private workers new visitors share: one for each core, while there is memory for another one's models.

    At most MAX_SHARED, at least one.
    """
    return max(1, min(MAX_SHARED, cores, available_bytes // VISITOR_MEMORY_BYTES - VISITOR_WORKERS + 1))


def close_pools(pools: Sequence[WorkerPool]) -> None:
    """Stop several pools at once: waiting jobs get an error, and workers still busy after the grace time are killed."""
    for pool in pools:
        pool.queue.close()
    threads = [thread for pool in pools for thread in pool.threads]
    _join(threads, GRACE_SECONDS)
    for thread in threads:
        if thread.is_alive():
            thread.worker.end()
    _join(threads, END_SECONDS)


def _join(threads: Sequence[Thread], seconds: float) -> None:
    """Wait until all threads have ended, at most `seconds` in total."""
    until = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - monotonic()))


def _employer(address: str) -> Callable[[WorkerLimits], Worker]:
    """The constructor of workers, on this machine or in the Ray cluster at an address."""
    if address == LOCAL_ENGINE:
        return WorkerProcess
    try:
        from headlight_app.engine.ray_worker import RayCluster  # needs the extra `ray`
    except ImportError as error:
        raise EngineError("Ray is not installed here: pip install 'attention-headlight[ray]'") from error
    cluster = RayCluster(address)
    cluster.connect()
    return cluster.worker
