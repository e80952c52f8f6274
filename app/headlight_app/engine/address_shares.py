"""Keeps one network address, however many visitors ask from it, from delaying the questions of others.

Visitors take turns, so an address with a hundred cookies has a hundred turns. A class behind one router has thirty, and
its letters take milliseconds each. So letters always have their visitor's turn, questions that take longer have a small
part of the short lane's time, and an address that uses more than half of that time yields to the others.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from time import monotonic

from cachetools import LRUCache

from headlight_app.contract.request import Lane
from headlight_app.engine.job import Job

LETTER_SECONDS = 0.03  # a letter's answer takes less, also at the end of a long text
LETTER_TEXT = 200  # characters of a question that counts as a letter until it has been measured
BURST_SECONDS = 2.0  # of the short lane's time that an address may use at once, beyond its share
LONG_SHARE, SHARE = 0.04, 0.5  # of an address in the lane's time: for long questions, and for all
MAX_BURSTS = 3  # of debt, so that whoever was alone for long has a share again soon
AT_ONCE = {Lane.SHORT: 2, Lane.LONG: 4}  # long questions of an address with a turn of their own
CONTESTED_SECONDS = 10.0  # since the last question of others
MAX_REMEMBERED = 10_000  # visitors' kinds of questions, and addresses


@dataclass
class Others:
    """When somebody else has asked last: whoever is alone delays nobody."""

    last: str = ""
    last_at: float = -CONTESTED_SECONDS
    other_at: float = -CONTESTED_SECONDS

    def note(self, name: str) -> None:
        """Record a question."""
        if name != self.last:
            self.other_at = self.last_at
        self.last, self.last_at = name, monotonic()

    def are_here(self, name: str) -> bool:
        """Whether anybody but this one has asked recently."""
        return monotonic() - (self.other_at if name == self.last else self.last_at) < CONTESTED_SECONDS


class AddressShares:
    """The time that each network address has used, and how long each visitor's questions took."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.typical: LRUCache[tuple[str, str], float] = LRUCache(MAX_REMEMBERED)  # seconds, by visitor and route
        self.free_at: LRUCache[tuple[str, float], float] = LRUCache(MAX_REMEMBERED)  # when a share is unused again
        self.in_flight: Counter[tuple[Lane, str]] = Counter()
        self.visitors, self.addresses = Others(), Others()

    def admit(self, job: Job, lane: Lane, size: int) -> Lane:
        """The lane for a question with `size` characters; of too many long ones, the address has one turn for all."""
        with self.lock:
            self.visitors.note(job.visitor)
            self.addresses.note(job.address)
            if lane not in AT_ONCE or (lane is Lane.SHORT and self._is_letter(job, size)):
                job.at_end.append(partial(self._measure, job, lane))
                return lane
            is_full = self.in_flight[lane, job.address] >= AT_ONCE[lane]
            if self.visitors.are_here(job.visitor) and (is_full or self._is_used(job.address, LONG_SHARE)):
                if job.stream:
                    job.stream = replace(job.stream, client=f"{job.visitor} {job.stream.client}")
                job.visitor = f"at {job.address}"
                return Lane.LONG
            self.in_flight[lane, job.address] += 1
        job.at_end.append(partial(self._end, job, lane))
        return lane

    def yields(self, job: Job) -> bool:
        """Whether a waiting question lets those of other addresses go first."""
        with self.lock:
            return bool(job.address) and self._is_used(job.address, SHARE) and self.addresses.are_here(job.address)

    def _is_letter(self, job: Job, size: int) -> bool:
        """Whether a question takes little time: short ones that share a run do, others if the last ones did."""
        is_short = size <= LETTER_TEXT
        typical = self.typical.get((job.request.visitor, job.request.route))
        return is_short if typical is None or (is_short and job.request.alike) else typical <= LETTER_SECONDS

    def _is_used(self, address: str, share: float) -> bool:
        return self.free_at.get((address, share), 0.0) - monotonic() > BURST_SECONDS / share

    def _use(self, address: str, share: float, seconds: float) -> None:
        now = monotonic()
        free_at = max(self.free_at.get((address, share), now), now) + seconds / share
        self.free_at[address, share] = min(free_at, now + MAX_BURSTS * BURST_SECONDS / share)

    def _measure(self, job: Job, lane: Lane) -> None:
        """Record how long an answer of the short lane took."""
        if lane is not Lane.SHORT or not job.took:
            return
        with self.lock:
            key = job.request.visitor, job.request.route
            seconds = min(job.took, 8 * LETTER_SECONDS)  # opening a model counts no longer than a few letters
            self.typical[key] = (self.typical.get(key, seconds) + seconds) / 2
            self._use(job.address, SHARE, job.took)
            if job.took > LETTER_SECONDS:
                self._use(job.address, LONG_SHARE, job.took)

    def _end(self, job: Job, lane: Lane) -> None:
        self._measure(job, lane)
        with self.lock:
            self.in_flight[lane, job.address] -= 1
            self.in_flight += Counter()  # removes zero counts
