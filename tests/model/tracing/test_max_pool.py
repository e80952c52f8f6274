"""Max pooling keeps the largest number of each block."""

import numpy as np
import pytest

from headlight.tracing.recompute import block_starts, max_pool


@pytest.mark.parametrize("length", [1, 79, 80, 81, 500])
def test_pooling_keeps_the_largest_weight(length: int) -> None:
    weights = np.random.default_rng(0).random((2, 3, length, length))
    pooled = max_pool(weights, 80)
    assert pooled.shape == (2, 3, min(length, 80), min(length, 80))
    assert np.array_equal(pooled.max((-2, -1)), weights.max((-2, -1)))


@pytest.mark.parametrize(("length", "side"), [(1, 80), (7, 3), (80, 80), (500, 80)])
def test_pooling_is_the_maximum_of_each_block(length: int, side: int) -> None:
    weights = np.random.default_rng(0).random((length, length))
    starts = block_starts(length, side)
    assert starts[-1] == length
    rows = np.maximum.reduceat(weights, starts[:-1], axis=0)
    np.testing.assert_array_equal(max_pool(weights, side), np.maximum.reduceat(rows, starts[:-1], axis=1))
