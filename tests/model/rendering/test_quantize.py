"""What a browser paints weights from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.rendering.quantize import MAX_THUMBNAIL_SIDE, max_pool, quantize_weights


def test_forbidden_cells_differ_from_weights_of_zero() -> None:
    weights = np.array([[0.0, 0.25, 1.0, 0.0]])
    allowed = np.array([[True, True, True, False]])
    assert quantize_weights(weights, allowed).tolist() == [[1, 128, 255, 0]]


@given(st.floats(0, 1))
def test_a_byte_is_precise_enough_to_read(weight: float) -> None:
    code = int(quantize_weights(np.array([weight]), np.array([True]))[0])
    assert ((code - 1) / 254) ** 2 == pytest.approx(weight, abs=0.004)


@pytest.mark.parametrize("length", [1, 79, 80, 81, 500])
def test_pooling_keeps_the_largest_weight(length: int) -> None:
    weights = np.random.default_rng(0).random((2, 3, length, length))
    pooled = max_pool(weights)
    assert pooled.shape == (2, 3, min(length, MAX_THUMBNAIL_SIDE), min(length, MAX_THUMBNAIL_SIDE))
    assert np.array_equal(pooled.max((-2, -1)), weights.max((-2, -1)))
