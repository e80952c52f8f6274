"""A queue that serves visitors in turn, so that one visitor's many questions do not hold up another's."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Condition

from headlight_app.engine.job import EngineError, Job, Stream

MAX_WAITING = 64  # jobs of one visitor
MAX_WAITING_IN_ALL = 4_096
TOO_MANY = "You have asked more than can be answered at once. Wait a moment, then try again."
CROWDED = "So many people are asking that no more questions can be taken now. Try again in a moment."
SUPERSEDED = "A newer question has replaced this one."
STOPPED = "Headlight is being stopped."


class Superseded(EngineError):
    """The same part of a page has asked something newer."""


class FairQueue:
    """Jobs by visitor: one at work for each, the next from the visitor who has waited longest."""

    def __init__(self) -> None:
        self.waiting: OrderedDict[str, deque[Job]] = OrderedDict()  # in the order in which they are served
        self.running: dict[str, Job] = {}
        self.changed = Condition()
        self.closed = False

    def put(self, job: Job) -> None:
        """Add a job; older ones of its stream are dropped, or stopped. Raises EngineError where there are too many."""
        with self.changed:
            dropped = self._supersede(job)
            if len(self.waiting.get(job.visitor, ())) >= MAX_WAITING:
                raise EngineError(TOO_MANY)
            if self.closed:
                raise EngineError(STOPPED)
            if sum(map(len, self.waiting.values())) >= MAX_WAITING_IN_ALL:
                raise EngineError(CROWDED)
            self.waiting.setdefault(job.visitor, deque()).append(job)
            self.changed.notify_all()
        for old in dropped:
            old.finish(Superseded(SUPERSEDED))

    def take(self, accepts: Callable[[str], bool] = lambda visitor: True) -> Job | None:
        """The next job of a visitor whom the worker accepts, as soon as there is one; None once the queue is closed."""
        with self.changed:
            while not self.closed:
                for visitor, jobs in self.waiting.items():
                    if visitor not in self.running and accepts(visitor):
                        job = jobs.popleft()
                        del self.waiting[visitor]
                        if jobs:
                            self.waiting[visitor] = jobs  # behind everybody else
                        if job.cancelled.is_set():
                            break
                        self.running[visitor] = job
                        return job
                else:
                    self.changed.wait()
                    continue
                job.finish(Superseded(SUPERSEDED))
            return None

    def done(self, job: Job) -> None:
        """The job is answered; its visitor's next may be taken."""
        with self.changed:
            del self.running[job.visitor]
            self.changed.notify_all()

    def close(self) -> None:
        """Take nothing more; who waits is told so."""
        with self.changed:
            self.closed = True
            left = [job for jobs in self.waiting.values() for job in jobs]
            self.waiting.clear()
            running = list(self.running.values())
            self.changed.notify_all()
        for job in running:
            job.cancel()
        for job in left:
            job.finish(EngineError(STOPPED))

    def _supersede(self, job: Job) -> list[Job]:
        """Take out the visitor's older jobs of the same stream, and stop the one at work."""
        if job.stream is None:
            return []
        jobs = self.waiting.get(job.visitor, deque())
        older = [other for other in jobs if _is_older(other.stream, job.stream)]
        for other in older:
            jobs.remove(other)
        at_work = self.running.get(job.visitor)
        if at_work and _is_older(at_work.stream, job.stream):
            at_work.cancel()
        return older


def _is_older(one: Stream | None, other: Stream) -> bool:
    return one is not None and one.client == other.client and one.number < other.number
