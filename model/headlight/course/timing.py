"""Measurements that a screen makes on the spot: times, and numbers of multiplications."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from statistics import median
from time import perf_counter
from typing import TypeVar

from torch.utils.flop_counter import FlopCounterMode

from headlight.cancellation import check_cancelled

ROUNDS = 5
Key = TypeVar("Key", bound=Hashable)


def median_times(actions: Mapping[Key, Callable[[], object]]) -> dict[Key, float]:
    """The median time of each action in ms. Raises Cancelled.

    Each round runs all actions, so a busy moment of the machine spoils one measurement of several actions instead of
    most measurements of one. The first round does not count: it is slower than all others.
    """
    times: dict[Key, list[float]] = {key: [] for key in actions}
    for _ in range(1 + ROUNDS):
        for key, action in actions.items():
            check_cancelled()
            begin = perf_counter()
            action()
            times[key].append(1000 * (perf_counter() - begin))
    return {key: median(each[1:]) for key, each in times.items()}


def multiply_adds(action: Callable[[], object]) -> int:
    """The multiply-adds of an action's matrix products, as counted by torch; this works on the meta device, too."""
    with FlopCounterMode(display=False) as counter:
        action()
    return int(counter.get_total_flops()) // 2  # torch counts a multiplication and an addition as two
