"""The engine from the outside: each request ends in an answer as bytes or in a sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from threading import Lock, Thread
from time import monotonic
from typing import Protocol

from headlight.errors import HeadlightError, unforeseen
from headlight_app.access.settings import LOCAL_ENGINE, settings
from headlight_app.contract.request import Lane
from headlight_app.engine.contract import WarmUpRequest
from headlight_app.engine.fair_queue import FairQueue
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream
from headlight_app.engine.worker_process import WorkerLimits, WorkerProcess

WARM_UP = "warm-up"  # in whose name workers start: no visitor's
VISITOR_WORKERS = 4  # that open what visitors brought, each for one visitor at a time
KEEP_SECONDS = 120.0  # after its last answer in which a visitor keeps such a worker
GRACE_SECONDS = 0.5  # in which workers let go of what they answer, before they are killed
END_SECONDS = 0.5  # in which those that are killed are gone
VISITOR_MEMORY_BYTES = 2 << 30  # of such a worker on a shared server, beside twice the largest upload


class Worker(Protocol):
    """A worker on this machine or another, which can be stopped. It is given `at_once` jobs that are alike at most."""

    at_once: int

    def start(self) -> None:
        """Have it ready before it is asked, where this machine starts it. Raises HeadlightError where that fails."""
        ...

    def answer(self, job: Job) -> bytes:
        """The answer to a job. Raises HeadlightError with the sentence for the person where there is none."""
        ...

    def answer_together(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, bytes | HeadlightError]]:
        """Jobs as they are answered, each with its answer or sentence. Raises HeadlightError where it breaks off."""
        ...

    def stop(self) -> None:
        """End it at once; it is started again when it is asked."""
        ...

    def end(self) -> None:
        """End it for good, from another thread: what it is answering fails, and it does not start again."""
        ...


class WorkerThread(Thread):
    """Hands a lane's jobs to one worker: one after the other, and with each those that wait and are alike."""

    def __init__(self, lane: WorkerPool, worker: Worker) -> None:
        super().__init__(daemon=True, name=f"engine-{lane.name}")
        self.lane, self.worker = lane, worker
        self.owner, self.last_used, self.is_idle = "", -KEEP_SECONDS, True

    def run(self) -> None:
        """Answer until the lane is closed."""
        while job := self.lane.queue.take(self._accepts):
            self.is_idle = False
            alike = self.lane.queue.take_alike(job, self.worker.at_once - 1, self._accepts)
            for left in self._answer_together([job, *alike]) if alike else [job]:
                self._finish(left, self._answer(left))
        self.worker.stop()

    def _answer_together(self, jobs: list[Job]) -> list[Job]:
        """Answer jobs along with each other; gives those without an answer, since what one did stopped the worker."""
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
        job.finish(outcome)
        self.is_idle, self.last_used = True, monotonic()
        self.lane.queue.done(job)

    def _accepts(self, visitor: str) -> bool:
        """Whether a visitor's job is for this worker: any, or, of a worker for visitors' own files, its owner's.

        A new visitor gets the worker that has been free for longest of those that may change their owner.
        """
        if not self.lane.is_private or visitor == self.owner:
            return True
        others = [thread for thread in self.lane.threads if thread is not self]
        if not self._may_change_owner() or any(thread.owner == visitor for thread in others):
            return False
        free = [thread for thread in others if thread.is_idle and thread._may_change_owner()]
        return all(self._order() <= thread._order() for thread in free)

    def _order(self) -> tuple[bool, float]:
        """Of several that are free, newcomers get the first by this order."""
        return self is self.lane.threads[-1], self.last_used

    def _may_change_owner(self) -> bool:
        """Whether its owner has not asked for a while, or it is the last worker, which all newcomers share.

        Otherwise newcomers, however many, would throw out the models that others have open.
        """
        return self is self.lane.threads[-1] or monotonic() - self.last_used > KEEP_SECONDS

    def _change_owner(self, visitor: str) -> None:
        """Begin anew for a visitor, because the process holds another's models."""
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
        """The lane goes on after any error; the question stays out of the log."""
        logging.getLogger(__name__).error("The engine failed", exc_info=error)
        self.worker.stop()
        return EngineError(unforeseen(error, "Try again or reload."))


class WorkerPool:
    """Workers for one kind of request, with a queue in front of them. In a private one each serves one visitor."""

    def __init__(
        self,
        name: str,
        limits: WorkerLimits,
        workers: int,
        is_private: bool = False,
        employ: Callable[[WorkerLimits], Worker] = WorkerProcess,
    ) -> None:
        self.name, self.is_private = name, is_private
        self.queue = FairQueue()
        self.starting = Lock()  # a start takes seconds of a processor; several at once would slow everybody's letters
        self.threads = [WorkerThread(self, employ(limits)) for _ in range(workers)]
        for thread in self.threads:
            thread.start()

    def start(self) -> None:
        """Have each worker start before it is asked."""
        for number in range(len(self.threads)):
            self.queue.put(Job(f"{WARM_UP} {number}", EngineRequest(WarmUpRequest.route, b"{}"), WarmUpRequest.seconds))

    def close(self) -> None:
        """Stop all work, and all workers."""
        close_pools([self])


class Engine:
    """A pool of workers for each lane: what is answered at once, long work, and what visitors brought themselves.

    Letters never wait for long work, and a process that reads a visitor's own files does no other visitor's work.
    `address` is where the workers are: on this machine, or in a Ray cluster. Raises EngineError where it has none.
    """

    def __init__(
        self, workers: int = 1, upload_bytes: int = 0, address: str = LOCAL_ENGINE, *, is_shared: bool = True
    ) -> None:
        employ = _employer(address)
        private = WorkerLimits(VISITOR_MEMORY_BYTES + 2 * upload_bytes if is_shared else 0, niceness=5)
        self.lanes = {
            Lane.SHORT: WorkerPool("short", WorkerLimits(gpu_workers=workers), workers, employ=employ),
            Lane.LONG: WorkerPool("long", WorkerLimits(niceness=10), 1, employ=employ),
            Lane.PRIVATE: WorkerPool("private", private, VISITOR_WORKERS, is_private=True, employ=employ),
        }

    def start(self) -> None:
        """Start the workers that answer letters, without waiting for them."""
        self.lanes[Lane.SHORT].start()

    def submit(
        self, visitor: str, request: EngineRequest, *, lane: Lane, seconds: float, stream: Stream | None = None
    ) -> Job:
        """Put a request into the queue. Raises EngineError where too many are waiting."""
        job = Job(visitor, request, seconds, stream)
        self.lanes[lane].queue.put(job)
        return job

    def close(self) -> None:
        """Stop all work, and all workers, within GRACE_SECONDS and END_SECONDS."""
        close_pools(list(self.lanes.values()))


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The one engine of this process; its workers start when they are first asked."""
    chosen = settings()
    return Engine(chosen.workers, chosen.upload_limit << 20, chosen.engine, is_shared=chosen.shared)


def close_pools(pools: Sequence[WorkerPool]) -> None:
    """Stop all work, and all workers, together: who waits is told so, and who does not let go in time is killed."""
    for pool in pools:
        pool.queue.close()
    threads = [thread for pool in pools for thread in pool.threads]
    _join(threads, GRACE_SECONDS)
    for thread in threads:
        if thread.is_alive():
            thread.worker.end()
    _join(threads, END_SECONDS)


def _join(threads: Sequence[Thread], seconds: float) -> None:
    """Wait until all have ended, so long at most."""
    until = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - monotonic()))


def _employer(address: str) -> Callable[[WorkerLimits], Worker]:
    """A maker of workers, on this machine or in the Ray cluster at an address."""
    if address == LOCAL_ENGINE:
        return WorkerProcess
    try:
        from headlight_app.engine.ray_worker import RayCluster  # an extra
    except ImportError as error:
        raise EngineError("Ray is not installed here: pip install 'attention-headlight[ray]'") from error
    cluster = RayCluster(address)
    cluster.connect()
    return cluster.worker
