"""A queue that serves visitors in turn, so that one visitor's many questions do not hold up another's."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition
from time import monotonic

from headlight_app.engine.job import EngineError, Job, Stream

MAX_WAITING = 64  # jobs of one visitor
MAX_WAITING_IN_ALL = 4_096
MAX_COUNTED, COUNTED_SECONDS = 4_096, 10.0  # answers, and for how long they count as of late
MAX_TIMED = 256  # answers that tell how fast one comes after the other
TOO_MANY = "You have asked more than can be answered at once. Wait a moment, then try again."
CROWDED = "So many people are asking that no more questions can be taken now. Try again in a moment."
SUPERSEDED = "A newer question has replaced this one."
STOPPED = "Headlight is being stopped."


class Superseded(EngineError):
    """The same part of a page has asked something newer."""


@dataclass(frozen=True)
class QueueFigures:
    """Jobs that wait and that are at work, how many visitors' they are, and what was answered: in all, and a second.

    `per_busy_second` is what the last answers came to in each second in which any was at work: what can be answered.
    """

    waiting: int
    running: int
    people: int
    answered: int
    per_second: float
    per_busy_second: float


class FairQueue:
    """Jobs by visitor: one at work for each, the next from the visitor who has waited longest."""

    def __init__(self) -> None:
        self.waiting: OrderedDict[str, deque[Job]] = OrderedDict()  # in the order in which they are served
        self.running: dict[str, Job] = {}
        self.changed = Condition()
        self.closed = False
        self.answered = 0
        self.answered_at: deque[tuple[float, float]] = deque(maxlen=MAX_COUNTED)  # when, and after how long a work
        self.worked, self.at_work_since = 0.0, 0.0  # seconds in which jobs were at work, without those since

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
                        if jobs[0].cancelled.is_set():
                            break
                        return self._start(visitor)
                else:
                    self.changed.wait()
                    continue
                self._next(visitor).finish(Superseded(SUPERSEDED))
            return None

    def take_alike(self, job: Job, limit: int, accepts: Callable[[str], bool] = lambda visitor: True) -> list[Job]:
        """Jobs of others that wait to be answered along with one that was taken, at most `limit`, in their turn."""
        with self.changed:
            alike = [
                visitor
                for visitor, jobs in self.waiting.items()
                if job.request.alike
                and jobs[0].request.alike == job.request.alike
                and visitor not in self.running
                and not jobs[0].cancelled.is_set()
                and accepts(visitor)
            ][:limit]
            return [self._start(visitor) for visitor in alike]

    def done(self, job: Job) -> None:
        """The job is answered; its visitor's next may be taken."""
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
        """How busy the queue is."""
        with self.changed:
            waiting = sum(map(len, self.waiting.values()))
            people = len(self.waiting.keys() | self.running.keys())
            speeds = self._per_second(), self._per_busy_second()
            return QueueFigures(waiting, len(self.running), people, self.answered, *speeds)

    def turn(self, visitor: str) -> int:
        """How many others' jobs come before a visitor's next; 0 where none of theirs waits."""
        with self.changed:
            if visitor not in self.waiting:
                return 0
            return len(self.running.keys() - {visitor}) + list(self.waiting).index(visitor)

    def _per_second(self) -> float:
        """Answers a second of late, 0 where there were none."""
        now = monotonic()
        recent = [moment for moment, _ in self.answered_at if now - moment < COUNTED_SECONDS]
        return len(recent) / max(1.0, now - recent[0]) if recent else 0.0

    def _per_busy_second(self) -> float:
        """Answers a second while any is at work, 0 before there were two."""
        last = [worked for _, worked in self.answered_at][-MAX_TIMED:]
        seconds = last[-1] - last[0] if last else 0.0
        return (len(last) - 1) / seconds if seconds else 0.0

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

    def _start(self, visitor: str) -> Job:
        if not self.running:
            self.at_work_since = monotonic()
        self.running[visitor] = self._next(visitor)
        return self.running[visitor]

    def _next(self, visitor: str) -> Job:
        """A visitor's next job, taken out; their others wait behind everybody else."""
        jobs = self.waiting.pop(visitor)
        job = jobs.popleft()
        if jobs:
            self.waiting[visitor] = jobs
        return job

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
