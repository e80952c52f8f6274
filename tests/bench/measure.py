"""Times two ways of doing the same work in alternation, so that a busy machine slows both equally."""

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
    """The time of `what` in multiples of `yardstick`: the median of the ratios of all turns."""

    what: str
    yardstick: str
    times: Times
    yardstick_times: Times
    ratio: float


def compare(what: str, work: Work, yardstick: str, plain: Work, turns: int = 15) -> Ratio:
    """Run both in alternation, `turns` times, after one warm-up each."""
    return race(what, partial(_seconds, work), yardstick, partial(_seconds, plain), turns)


def race(what: str, clock: Clock, yardstick: str, plain: Clock, turns: int = 15) -> Ratio:
    """The same as `compare` for self-timed works: each call does the work and returns its seconds."""
    pairs = [(clock(), plain()) for _ in range(turns + 1)][1:]
    ours, theirs = zip(*pairs, strict=True)
    return Ratio(what, yardstick, Times.of(ours), Times.of(theirs), median(one / other for one, other in pairs))


def at_once(works: Sequence[Work]) -> None:
    """Run each work in its own thread, and wait for all."""
    with ThreadPoolExecutor(len(works)) as threads:
        list(threads.map(lambda work: work(), works))


def table(ratios: Iterable[Ratio]) -> Iterator[str]:
    """A Markdown table, each line as soon as it is measured."""
    yield "| what | ms | p95 | against | ms | p95 | ratio |"
    yield "|---|---:|---:|---|---:|---:|---:|"
    for each in ratios:
        ours, theirs = (f"{times.middle:.1f} | {times.slow:.1f}" for times in (each.times, each.yardstick_times))
        yield f"| {each.what} | {ours} | {each.yardstick} | {theirs} | {each.ratio:.2f} |"


def _seconds(work: Work) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started
