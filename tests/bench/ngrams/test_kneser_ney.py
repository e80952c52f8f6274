"""Kneser-Ney against hand calculations and against a direct implementation of the paper."""

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headlight.data.corpus import TokenizedText
from tests.bench.ngrams.kneser_ney import KneserNey, count_kneser_ney, likelihood_from_probabilities
from tests.bench.ngrams.tables import discounts

texts = st.lists(st.integers(0, 3), min_size=1, max_size=40)
short = st.lists(st.integers(0, 3), max_size=6)
Runs = dict[tuple[int, ...], float]


def array(ids: list[int]) -> np.ndarray:
    """Token ids; there may be none."""
    return np.array(ids, dtype=np.int64)


def counted(ids: list[int], size: int = 4, order: int = 3, weight: float = 1.0) -> KneserNey:
    return count_kneser_ney(array(ids), np.full(len(ids), weight), size, order)


def reference_probability(ids: list[int], context: list[int], token: int, size: int, order: int) -> float:
    """Chen and Goodman 1999, equations 24 to 27, one probability at a time."""
    tokens = [size] * (order - 1) + ids
    longest: Runs = defaultdict(float)
    for end in range(order, len(tokens) + 1):
        longest[tuple(tokens[end - order : end])] += 1
    counts = [longest]
    for _ in range(order - 1):
        shorter: Runs = defaultdict(float)
        for run in counts[0]:
            shorter[run[1:]] += 1
        counts.insert(0, shorter)
    history = ([size] * order + context)[len(context) + order - (order - 1) :] if order > 1 else []
    probability = 1 / size
    for length in range(1, order + 1):
        before = tuple(history[len(history) - (length - 1) :])
        level = {run[-1]: seen for run, seen in counts[length - 1].items() if run[:-1] == before}
        total = sum(level.values())
        if total:
            lost = discounts(array([int(seen) for seen in counts[length - 1].values()]))
            rest = sum(lost[int(min(seen, 3)) - 1] for seen in level.values()) / total
            own = level.get(token, 0)
            probability = (own - lost[int(min(own, 3)) - 1] if own else 0) / total + rest * probability
    return float(probability)


def test_a_toy_text_matches_a_hand_calculation() -> None:
    """a b a b a c. Bigrams: (start)a 1, ab 2, ba 2, ac 1, so D = 2 / (2 + 4) = 1/3.

    Different tokens before a: 2, before b: 1, before c: 1, so D = 2 / (2 + 2) = 1/2, and the 3 halves given up are
    shared by three tokens: p(a) = (1.5 + 0.5) / 4 = 1/2, p(b) = p(c) = (0.5 + 0.5) / 4 = 1/4.
    After a (3 times): b keeps 5/3, c keeps 2/3, and 2/3 goes by p.
    """
    model = counted([0, 1, 0, 1, 0, 2], size=3, order=2)
    nothing = np.array([2])  # c was never followed by anything
    assert model.distribution(nothing) == pytest.approx([1 / 2, 1 / 4, 1 / 4])
    assert model.distribution(np.array([0])) == pytest.approx([2 / 18, 11 / 18, 5 / 18])
    assert model.distribution(np.array([1])) == pytest.approx([5 / 6 + 1 / 12, 1 / 24, 1 / 24])
    assert model.probabilities(np.array([1, 0, 1]))[1:] == pytest.approx([5 / 6 + 1 / 12, 11 / 18])


def test_the_discounts_match_a_hand_calculation() -> None:
    """Four seen once, three twice, two three times, one four times: Y = 4 / 10."""
    counts = np.array([1] * 4 + [2] * 3 + [3] * 2 + [4] + [9])
    assert discounts(counts) == pytest.approx([1 - 0.8 * 3 / 4, 2 - 1.2 * 2 / 3, 3 - 1.6 * 1 / 2])
    assert discounts(np.array([1, 1, 2])) == pytest.approx([0.5, 0.5, 0.5])
    assert discounts(np.array([5])) == pytest.approx([0.5, 0.5, 0.5])


@example([0, 0, 0, 0, 0, 1, 0, 2, 1, 3, 0, 3, 0, 3, 0], [3], 2)  # equation 26 gives a negative discount
@given(texts, short, st.integers(1, 4))
def test_probabilities_sum_to_one(ids: list[int], context: list[int], order: int) -> None:
    probability = counted(ids, order=order).distribution(array(context))
    assert probability.sum() == pytest.approx(1.0, abs=1e-5)
    assert np.all(probability > 0) or len(set(ids)) < 4


@given(texts, short, st.integers(1, 4))
def test_probabilities_match_a_direct_implementation_of_the_paper(
    ids: list[int], queried: list[int], order: int
) -> None:
    probability = counted(ids, order=order).probabilities(array(queried))
    slow = [reference_probability(ids, queried[:place], token, 4, order) for place, token in enumerate(queried)]
    assert probability == pytest.approx(slow, abs=1e-5)


@given(texts, short)
def test_distribution_agrees_with_probabilities(ids: list[int], queried: list[int]) -> None:
    model = counted(ids)
    singly = [model.distribution(array(queried[:place]))[token] for place, token in enumerate(queried)]
    assert model.probabilities(array(queried)) == pytest.approx(singly, abs=1e-6)


@given(texts, st.sampled_from([0.5, 3.0]))
def test_epochs_of_the_only_text_change_nothing(ids: list[int], epochs: float) -> None:
    queried = np.array([0, 1, 2, 3, 0, 0, 1])
    assert counted(ids, weight=epochs).probabilities(queried) == pytest.approx(
        counted(ids).probabilities(queried), abs=1e-6
    )


def test_a_text_with_more_epochs_weighs_more() -> None:
    ids, first = np.array([0, 1, 0, 1, 0, 2, 0, 2]), np.array([1.0] * 4 + [3.0] * 4)
    probability = count_kneser_ney(ids, first, 3, 2).distribution(np.array([0]))
    assert probability[2] > probability[1]


def test_saved_tables_load_equal(tmp_path: Path) -> None:
    model = counted([0, 1, 2, 3, 2, 1, 0, 0, 1, 2])
    model.save(tmp_path)
    queried = np.array([0, 1, 2, 2, 2])
    assert np.array_equal(KneserNey.load(tmp_path, 4, 3).probabilities(queried), model.probabilities(queried))


def test_uniform_probabilities_cost_the_logarithm_of_the_vocabulary() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    text = TokenizedText("toy", 1.0, np.arange(20), nothing, nothing, 0)
    assert likelihood_from_probabilities(np.full(20, 1 / 300), text).bits_per_token == pytest.approx(math.log2(300))
