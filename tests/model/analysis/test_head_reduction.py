"""Several heads as one map: forbidden cells of some heads never reach the mean."""

import numpy as np
import pytest

from headlight.analysis.attention_maps import HEAD_REDUCTIONS, combine_heads

VALUES = np.array([[[2.0, -8.0]], [[4.0, np.finfo(np.float32).min]]], dtype=np.float32)
ALLOWED = np.array([[[True, True]], [[True, False]]])


def test_a_forbidden_cell_of_one_head_is_left_out_of_the_mean() -> None:
    assert combine_heads(VALUES, ALLOWED, "mean").tolist() == [[3.0, -8.0]]


def test_the_largest_is_so_in_magnitude_and_among_what_counts() -> None:
    assert combine_heads(VALUES, ALLOWED, "max").tolist() == [[4.0, -8.0]]


@pytest.mark.parametrize("reduction", HEAD_REDUCTIONS)
def test_what_counts_in_no_head_is_not_a_number(reduction: str) -> None:
    assert np.isnan(combine_heads(VALUES, np.zeros_like(ALLOWED), reduction)).all()
