"""Timing two ways of doing the same, turn by turn, so that a busy machine slows both alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

Work = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    """How long `what` takes, in multiples of `yardstick`; milliseconds are medians, the ratio is a median of ratios."""

    what: str
    yardstick: str
    milliseconds: float
    yardstick_milliseconds: float
    ratio: float


def compare(what: str, work: Work, yardstick: str, plain: Work, turns: int = 15) -> Ratio:
    """Both in turn, `turns` times, after one turn each that does not count."""
    pairs = [(_seconds(work), _seconds(plain)) for _ in range(turns + 1)][1:]
    ours, theirs = zip(*pairs, strict=True)
    ratio = median(one / other for one, other in pairs)
    return Ratio(what, yardstick, 1e3 * median(ours), 1e3 * median(theirs), ratio)


def table(ratios: Sequence[Ratio]) -> str:
    """One line each, as Markdown."""
    lines = ["| what | against | ms | ms | ratio |", "|---|---|---:|---:|---:|"]
    for each in ratios:
        times = f"{each.milliseconds:.1f} | {each.yardstick_milliseconds:.1f}"
        lines.append(f"| {each.what} | {each.yardstick} | {times} | {each.ratio:.2f} |")
    return "\n".join(lines)


def _seconds(work: Work) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started
