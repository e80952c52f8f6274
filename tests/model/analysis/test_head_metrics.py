"""Head metrics, compared with small rows computed by hand and with traces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from headlight.analysis.head_metrics import (
    allowed_mask,
    attention_distance,
    attention_share,
    compute_head_metrics,
    entropy,
    mean_over_rows,
    strongest_local_head,
    unnormalized_sum,
)
from tests.model import toys

raw = arrays.arrays(np.float32, (2, 3, 5, 5), elements=st.floats(0, 1, width=32))


def shares(weights: np.ndarray) -> np.ndarray:
    """Rows that sum to one, or to zero."""
    total = weights.sum(-1, keepdims=True)
    rows: np.ndarray = np.divide(weights, total, out=np.zeros_like(weights), where=total > 1e-3)
    return rows


@given(raw)
def test_the_entropy_lies_between_one_key_and_an_even_spread(weights: np.ndarray) -> None:
    rows = entropy(shares(weights))
    assert rows.shape == (2, 3, 5)
    assert np.all(rows >= 0)
    assert np.all(rows <= np.log2(5) + 1e-5)


@given(st.lists(st.floats(0.1, 10), min_size=6, max_size=6), st.booleans())
def test_metrics_are_of_rows_that_sum_to_one_whatever_an_edit_leaves(factors: list[float], negative: bool) -> None:
    text = toys.causal().encode("the cat saw the cat")
    size = len(text.ids)
    weights = np.tril(np.random.default_rng(0).random((1, 2, size, size), np.float32))
    weights /= weights.sum(-1, keepdims=True)
    scale = np.resize(np.array(factors, np.float32), size)[:, None]
    edited = weights * scale - np.triu(np.full((size, size), 0.2 * negative, np.float32), 1)
    allowed = np.broadcast_to(np.tril(np.ones((size, size), bool)), weights.shape)
    plain = compute_head_metrics(weights, allowed, text)
    for name, values in compute_head_metrics(edited, allowed, text).items():
        np.testing.assert_allclose(values, plain[name], atol=1e-5)
    assert unnormalized_sum(weights) is None
    assert unnormalized_sum(weights * 0.5) == pytest.approx(0.5)
    assert plain["entropy"].max() <= np.log2(size) and plain["distance"].max() <= size - 1


def test_entropy_and_distance_of_known_rows() -> None:
    weights = np.array([[1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0, 0, 0, 0], [0.5, 0, 0, 0.5]], dtype=np.float32)
    assert entropy(weights) == pytest.approx([0, 2, 0, 1])
    assert attention_distance(weights) == pytest.approx([0, (1 + 0 + 1 + 2) / 4, 0, 1.5])
    assert mean_over_rows(attention_distance(weights[None]), weights[None]) == pytest.approx([(0 + 1 + 1.5) / 3])


def test_the_mean_of_no_rows_is_nan() -> None:
    nothing = np.zeros((2, 3, 3), dtype=np.float32)
    assert np.isnan(mean_over_rows(entropy(nothing), nothing)).all()
    everywhere = np.ones((2, 3, 3), dtype=bool)
    assert np.isnan(attention_share(nothing, everywhere, everywhere[:1])).all()


def test_without_masks_cells_that_any_head_attends_to_count_as_allowed() -> None:
    weights = np.zeros((2, 1, 2, 2), dtype=np.float32)
    weights[:, 0, 1, 0] = 1
    assert allowed_mask(weights, []).tolist() == [[[[False, False], [True, False]]]] * 2
    assert allowed_mask(weights, [np.ones((1, 2, 2), dtype=bool)] * 2).all()


def test_the_strongest_local_head_attends_most_to_a_neighbour() -> None:
    before, after = np.array([[0.1, 0.7], [0.2, np.nan]]), np.array([[np.nan, 0.2], [0.8, np.nan]])
    assert strongest_local_head({"previous": before, "next": after, "first": np.ones((2, 2))}) == (1, 0)
    assert strongest_local_head({"previous": before, "next": np.full((2, 2), np.nan)}) == (0, 1)


def test_without_local_metrics_the_first_head_is_chosen() -> None:
    assert strongest_local_head({"previous": np.full((2, 2), np.nan), "entropy": np.ones((2, 2))}) == (0, 0)
    assert strongest_local_head({"entropy": np.ones((2, 2))}) == strongest_local_head({}) == (0, 0)


def test_a_query_that_may_look_at_one_key_alone_chooses_nothing() -> None:
    text = toys.causal().encode("the cat saw")
    size = len(text.ids)
    weights = np.tril(np.ones((1, 1, size, size), np.float32))
    weights /= weights.sum(-1, keepdims=True)
    allowed = np.tril(np.ones((1, 1, size, size), bool))
    found = compute_head_metrics(weights, allowed, text)
    without_first_row = [1 / (row + 1) for row in range(1, size)]
    assert found["current"][0, 0] == pytest.approx(np.mean(without_first_row))
    assert found["current"][0, 0] == pytest.approx(found["first"][0, 0]), "both average the rows with more than one key"
