"""Timing two ways of doing the same, turn by turn, so that a busy machine slows both alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

Work = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Times:
    """The median and the 95th percentile of one thing measured many times, in milliseconds."""

    middle: float
    slow: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Times:
        return cls(1e3 * median(seconds), 1e3 * float(np.percentile(seconds, 95)))


@dataclass(frozen=True)
class Ratio:
    """How long `what` takes, in multiples of `yardstick`: the median of the ratios of all turns."""

    what: str
    yardstick: str
    times: Times
    yardstick_times: Times
    ratio: float


def compare(what: str, work: Work, yardstick: str, plain: Work, turns: int = 15) -> Ratio:
    """Both in turn, `turns` times, after one turn each that does not count."""
    return race(what, partial(_seconds, work), yardstick, partial(_seconds, plain), turns)


def race(what: str, clock: Clock, yardstick: str, plain: Clock, turns: int = 15) -> Ratio:
    """The same for works that bring a clock of their own: each call does the work and gives its seconds."""
    pairs = [(clock(), plain()) for _ in range(turns + 1)][1:]
    ours, theirs = zip(*pairs, strict=True)
    return Ratio(what, yardstick, Times.of(ours), Times.of(theirs), median(one / other for one, other in pairs))


def at_once(works: Sequence[Work]) -> None:
    """Each work in a thread of its own, until all have ended."""
    with ThreadPoolExecutor(len(works)) as threads:
        list(threads.map(lambda work: work(), works))


def table(ratios: Iterable[Ratio]) -> Iterator[str]:
    """As Markdown, a line each as soon as it is measured."""
    yield "| what | ms | p95 | against | ms | p95 | ratio |"
    yield "|---|---:|---:|---|---:|---:|---:|"
    for each in ratios:
        ours, theirs = (f"{times.middle:.1f} | {times.slow:.1f}" for times in (each.times, each.yardstick_times))
        yield f"| {each.what} | {ours} | {each.yardstick} | {theirs} | {each.ratio:.2f} |"


def _seconds(work: Work) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started
