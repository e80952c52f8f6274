"""The short run holds every pair of values, and the full run every combination."""

from __future__ import annotations

from itertools import combinations as subsets
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sampling import (
    SHORT_EXAMPLES,
    USUAL_EXAMPLES,
    combinations,
    each_once,
    examples,
    first_of_each,
    is_full,
    some,
)

SIZES = st.lists(st.integers(1, 5), min_size=2, max_size=4)


def axes(sizes: list[int]) -> list[list[str]]:
    return [[f"{axis}-{value}" for value in range(size)] for axis, size in enumerate(sizes)]


def pairs(rows: list[tuple[Any, ...]]) -> set[tuple[Any, Any]]:
    return {pair for values in rows for pair in subsets(values, 2)}


@given(SIZES)
def test_every_pair_of_values_is_in_the_short_run_and_every_combination_in_the_full_one(sizes: list[int]) -> None:
    rows = combinations(*axes(sizes))
    every = list(product(*axes(sizes)))
    assert [row.values for row in rows] == every
    assert pairs([tuple(row.values) for row in rows if not is_full(row)]) == pairs(every)


@given(SIZES)
def test_every_value_is_in_the_short_run_where_pairs_say_nothing(sizes: list[int]) -> None:
    rows = each_once(*axes(sizes))
    assert [row.values for row in rows] == list(product(*axes(sizes)))
    short = [row.values for row in rows if not is_full(row)]
    assert len(short) == max(sizes)
    assert [sorted(set(values)) for values in zip(*short, strict=True)] == axes(sizes)


@given(SIZES)
def test_the_same_rows_are_short_each_time(sizes: list[int]) -> None:
    assert [is_full(row) for row in combinations(*axes(sizes))] == [is_full(row) for row in combinations(*axes(sizes))]


@given(st.integers(2, 6))
def test_a_new_mask_adds_few_rows_to_the_short_run_while_the_full_one_doubles(masks: int) -> None:
    before, after = (combinations(range(10), range(3), *[(False, True)] * count) for count in (masks, masks + 1))
    assert len(after) == 2 * len(before)
    assert sum(map(is_full, before)) == len(before) - 30, "no more rows than the two longest axes need"
    assert sum(map(is_full, after)) == len(after) - 30


def test_values_of_any_type_and_equal_ones_are_kept() -> None:
    rows = combinations([{"a": 1}, {}], [[], []])
    assert [row.values for row in rows] == [({"a": 1}, []), ({"a": 1}, []), ({}, []), ({}, [])]


def test_the_first_of_each_kind_is_short() -> None:
    rows = first_of_each(["gpt2", "bert", "gpt2-large", "t5", "bart"], lambda name: name[0])
    assert [row.values[0] for row in rows if not is_full(row)] == ["gpt2", "bert", "t5"]
    assert len(rows) == 5


def test_some_are_short() -> None:
    assert [is_full(row) for row in some([1, 2, 3], lambda value: value == 2)] == [True, False, True]


def test_hypothesis_draws_fewer_examples_in_the_short_run(pytestconfig: pytest.Config) -> None:
    usual = SHORT_EXAMPLES if "not full" in pytestconfig.option.markexpr else USUAL_EXAMPLES
    assert settings().max_examples == usual
    assert [examples(most).max_examples for most in (300, 100, 1)] == [3 * usual, usual, 1]
