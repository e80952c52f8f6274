"""A queue that serves visitors in turn, so that many requests of one visitor do not delay another's."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition
from time import monotonic

from cachetools import LRUCache

from headlight_app.engine.job import EngineError, Job, Stream

MAX_WAITING = 64  # jobs of one visitor
MAX_WAITING_OF_ADDRESS = 256  # jobs of all visitors who share the queue of their address, such as a class
MAX_WAITING_IN_ALL = 4_096
YIELDING_TOGETHER = 4  # jobs that yield and are answered together, so that others wait for few
MAX_ADDRESSES = 10_000  # whose last turn is remembered
MAX_COUNTED, COUNTED_SECONDS = 4_096, 10.0  # answers remembered, and the window of the rate of answers
MAX_TIMED = 256  # answers over which the capacity is measured
TOO_MANY = "You have sent more questions than can be answered at once. Wait a moment, then try again."
TOO_MANY_OF_ADDRESS = TOO_MANY.replace("You have", "Your network has")
CROWDED = "So many people are asking that no more questions can be taken now. Try again in a moment."
SUPERSEDED = "A newer question has replaced this one."
STOPPED = "Headlight is being stopped."


class Superseded(EngineError):
    """The same part of a page has sent a newer request."""


class QueueFull(EngineError):
    """Too many questions are waiting, of this visitor or of all."""


@dataclass(frozen=True)
class QueueFigures:
    """Waiting and running jobs, the number of their visitors, and the answers in total and per second.

    `per_busy_second` counts the last answers per second in which any job was running: the capacity of the pool.
    """

    waiting: int
    running: int
    people: int
    answered: int
    per_second: float
    per_busy_second: float


class FairQueue:
    """Jobs by visitor: at most one of each visitor runs, and visitors are served round-robin.

    Those whose next job `yields` are served when no others wait. If `by_address`, network addresses take turns, and
    the visitors of each take its turns.
    """

    def __init__(self, yields: Callable[[Job], bool] = lambda job: False, *, by_address: bool = False) -> None:
        self.yields, self.by_address = yields, by_address
        self.served: LRUCache[str, int] = LRUCache(MAX_ADDRESSES)  # when an address had its last turn, as a number
        self.turns = 0
        self.waiting: OrderedDict[str, deque[Job]] = OrderedDict()  # in serving order
        self.running: dict[str, Job] = {}
        self.changed = Condition()
        self.closed = False
        self.answered = 0
        self.answered_at: deque[tuple[float, float]] = deque(maxlen=MAX_COUNTED)  # when, and busy seconds until then
        self.worked, self.at_work_since = 0.0, 0.0  # busy seconds, and start of the current busy period

    def put(self, job: Job) -> None:
        """Add a job; drops or cancels older ones of its stream. Raises EngineError if too many wait."""
        with self.changed:
            dropped = self._supersede(job)
            is_shared = job.visitor == f"at {job.address}"
            if len(self.waiting.get(job.visitor, ())) >= (MAX_WAITING_OF_ADDRESS if is_shared else MAX_WAITING):
                raise QueueFull(TOO_MANY_OF_ADDRESS if is_shared else TOO_MANY)
            if self.closed:
                raise EngineError(STOPPED)
            if sum(map(len, self.waiting.values())) >= MAX_WAITING_IN_ALL:
                raise QueueFull(CROWDED)
            self.waiting.setdefault(job.visitor, deque()).append(job)
            self.changed.notify_all()
        for old in dropped:
            old.finish(Superseded(SUPERSEDED))

    def take(self, accepts: Callable[[str], bool] = lambda visitor: True, seconds: float | None = None) -> Job | None:
        """Wait for the next job of a visitor whom the worker accepts, and take it; None once the queue is closed.

        Raises TimeoutError if nothing changes in the queue for `seconds`.
        """
        with self.changed:
            while not self.closed:
                for visitor in self._order():
                    if visitor not in self.running and accepts(visitor):
                        if self.waiting[visitor][0].cancelled.is_set():
                            break
                        return self._start(visitor)
                else:
                    if not self.changed.wait(seconds):
                        raise TimeoutError
                    continue
                self._next(visitor).finish(Superseded(SUPERSEDED))
            return None

    def take_alike(self, job: Job, limit: int, accepts: Callable[[str], bool] = lambda visitor: True) -> list[Job]:
        """Take up to `limit` other visitors' waiting jobs that can share a run with `job`, in serving order."""
        if not job.request.alike:
            return []
        is_late = self.yields(job)
        with self.changed:
            alike = [
                visitor
                for visitor, jobs in self.waiting.items()
                if jobs[0].request.alike == job.request.alike
                and visitor not in self.running
                and not jobs[0].cancelled.is_set()
                and accepts(visitor)
                and self.yields(jobs[0]) == is_late
            ][: YIELDING_TOGETHER - 1 if is_late else limit]
            return [self._start(visitor) for visitor in alike]

    def done(self, job: Job) -> None:
        """Mark a job as answered, so that its visitor's next one may be taken."""
        with self.changed:
            now = monotonic()
            worked = self.worked + now - self.at_work_since
            del self.running[job.visitor]
            if not self.running:
                self.worked = worked
            self.answered += 1
            self.answered_at.append((now, worked))
            self.changed.notify_all()

    def figures(self) -> QueueFigures:
        """The current load of the queue."""
        with self.changed:
            waiting = sum(map(len, self.waiting.values()))
            people = len(self.waiting.keys() | self.running.keys())
            speeds = self._per_second(), self._per_busy_second()
            return QueueFigures(waiting, len(self.running), people, self.answered, *speeds)

    def turn(self, visitor: str) -> int:
        """How many jobs of other visitors come before this visitor's next one; 0 if this visitor has none waiting."""
        with self.changed:
            if visitor not in self.waiting:
                return 0
            return len(self.running.keys() - {visitor}) + self._order().index(visitor)

    def _order(self) -> list[str]:
        """The waiting visitors in serving order."""

        def key(visitor: str) -> tuple[bool, int]:
            job = self.waiting[visitor][0]
            return self.yields(job), self.served.get(job.address or visitor, 0) if self.by_address else 0

        return sorted(self.waiting, key=key)

    def _per_second(self) -> float:
        """Answers per second within COUNTED_SECONDS."""
        now = monotonic()
        recent = [moment for moment, _ in self.answered_at if now - moment < COUNTED_SECONDS]
        return len(recent) / max(1.0, now - recent[0]) if recent else 0.0

    def _per_busy_second(self) -> float:
        """Answers per busy second; 0 before the second answer."""
        last = [worked for _, worked in self.answered_at][-MAX_TIMED:]
        seconds = last[-1] - last[0] if last else 0.0
        return (len(last) - 1) / seconds if seconds else 0.0

    def close(self) -> None:
        """Accept no more jobs, cancel the running ones and fail the waiting ones."""
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

    def _start(self, visitor: str) -> Job:
        if not self.running:
            self.at_work_since = monotonic()
        self.running[visitor] = job = self._next(visitor)
        if self.by_address:
            self.turns += 1
            self.served[job.address or visitor] = self.turns
        return job

    def _next(self, visitor: str) -> Job:
        """Remove and return a visitor's next job; the visitor's remaining jobs move to the end of the order."""
        jobs = self.waiting.pop(visitor)
        job = jobs.popleft()
        if jobs:
            self.waiting[visitor] = jobs
        return job

    def _supersede(self, job: Job) -> list[Job]:
        """Remove and return the visitor's older waiting jobs of the same stream, and cancel a running one."""
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
