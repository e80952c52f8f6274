"""Problem types: probabilities, compared numbers and log-odds agree with each other, also near 0 and 1."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from headlight.problem_types import PROBLEM_TYPES

LOGITS = arrays(
    np.float32, array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=6), elements=st.floats(-9, 9, width=32)
)
PROBABLE = [name for name, row in PROBLEM_TYPES.items() if row.is_probability]


@pytest.mark.parametrize("name", PROBABLE)
@given(logits=LOGITS)
def test_log_odds_and_log_probabilities_are_those_of_the_probabilities(name: str, logits: np.ndarray) -> None:
    row = PROBLEM_TYPES[name]
    probabilities = row.values(logits).astype(np.float64)
    np.testing.assert_allclose(row.compared(torch.from_numpy(logits)).exp().numpy(), probabilities, rtol=1e-4)
    np.testing.assert_allclose(row.log_odds(logits), np.log(probabilities / (1 - probabilities)), rtol=0.02, atol=0.02)


def test_log_odds_near_certainty_keep_their_digits() -> None:
    """Log-odds from float32 probabilities would stop at 16, so a token's effect on a clear answer would show 0."""
    row = PROBLEM_TYPES["single-label"]
    assert row.log_odds(np.array([[60.0, 0.0], [60.5, 0.0]], np.float32))[:, 0].tolist() == [60.0, 60.5]
    assert row.log_odds(np.array([-80.0, 3.0, 4.0], np.float32))[0] == pytest.approx(-80 - np.logaddexp(3, 4))


def test_a_softmax_of_several_rows_is_that_of_each() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    rows = [PROBLEM_TYPES["single-label"].values(row) for row in logits]
    np.testing.assert_array_equal(PROBLEM_TYPES["single-label"].values(logits), np.stack(rows))


def test_scores_are_the_logits() -> None:
    logits = np.array([1.5, -2.0], np.float32)
    row = PROBLEM_TYPES["regression"]
    assert not row.is_probability
    assert row.values(logits).tolist() == row.log_odds(logits).tolist() == [1.5, -2.0]
