"""Which rows of a parametrized test `make test` runs; the others, marked `full`, are left to `make test-all`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from allpairspy import AllPairs
from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

# Examples of a hypothesis test that says nothing else, and of the same test in `make test`.
USUAL_EXAMPLES, SHORT_EXAMPLES = 100, 25


def is_full(row: ParameterSet) -> bool:
    """Whether only `make test-all` runs a row."""
    return any(getattr(mark, "name", "") == "full" for mark in row.marks)


def parameter_set(*values: Any, full: bool, id: str | None = None) -> ParameterSet:
    """The values of one test."""
    return pytest.param(*values, marks=pytest.mark.full if full else (), id=id)


def combinations(*axes: Iterable[Any]) -> list[ParameterSet]:
    """The product of at least two axes; a cover of all pairs of values of different axes is not `full`.

    Most errors in combinations come from two values at once (Kuhn, Wallace and Gallo 2004), and the cover grows with
    the two longest axes, while the product is multiplied by each new axis.
    """
    values = [list(axis) for axis in axes]
    return _product(values, {tuple(places) for places in AllPairs([list(range(len(axis))) for axis in values])})


def each_once(*axes: Iterable[Any]) -> list[ParameterSet]:
    """The product of axes whose values do not act on one another; a cover of every value is not `full`."""
    values = [list(axis) for axis in axes]
    longest = max(map(len, values))
    return _product(values, {tuple(place % len(axis) for axis in values) for place in range(longest)})


def _product(axes: list[list[Any]], cover: set[tuple[int, ...]]) -> list[ParameterSet]:
    """The product of the axes; what is not at the places of the cover is `full`."""
    return [
        parameter_set(*(axis[place] for axis, place in zip(axes, places, strict=True)), full=places not in cover)
        for places in product(*(range(len(axis)) for axis in axes))
    ]


def some(values: Iterable[Any], is_one: Callable[[Any], bool]) -> list[ParameterSet]:
    """All values, `full` unless `is_one` says that the short run has them."""
    return [parameter_set(value, full=not is_one(value)) for value in values]


def first_of_each(values: Iterable[Any], kind: Callable[[Any], Hashable]) -> list[ParameterSet]:
    """All values, `full` if an earlier value has the same kind."""
    values = list(values)
    first = {kind(value): place for place, value in reversed([*enumerate(values)])}
    return [parameter_set(value, full=first[kind(value)] != place) for place, value in enumerate(values)]


def examples(most: int) -> settings:
    """Settings of a hypothesis test: `most` examples in the full run, and the usual share of them in the short one."""
    return settings(max_examples=max(1, most * settings().max_examples // USUAL_EXAMPLES))
