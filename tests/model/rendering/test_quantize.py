"""Weights as bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.rendering.html import quantize_weights


def test_forbidden_cells_differ_from_weights_of_zero() -> None:
    weights = np.array([[0.0, 0.25, 1.0, 0.0]])
    allowed = np.array([[True, True, True, False]])
    assert quantize_weights(weights, allowed).tolist() == [[1, 128, 255, 0]]


@given(st.floats(0, 1))
def test_a_byte_is_precise_enough_to_read(weight: float) -> None:
    code = int(quantize_weights(np.array([weight]), np.array([True]))[0])
    assert ((code - 1) / 254) ** 2 == pytest.approx(weight, abs=0.004)
