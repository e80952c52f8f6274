"""Attention on typed numbers is torch's own."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from model.course.attention import attend
from model.course.attention_by_hand.look_up import look_up
from model.course.pictures import BarsPicture
from model.errors import InputError


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_a_head_computes_what_torch_computes(queries: int, keys: int, width: int, value_width: int, seed: int) -> None:
    torch.manual_seed(seed)
    q, k, v = torch.randn(queries, width), torch.randn(keys, width), torch.randn(keys, value_width)
    allowed = torch.rand(queries, keys) < 0.8
    allowed[:, 0] = True
    head = attend(q, k, v, allowed=allowed)
    expected = functional.scaled_dot_product_attention(q[None], k[None], v[None], allowed)[0]
    torch.testing.assert_close(head.output, expected)
    torch.testing.assert_close(head.weights.sum(-1), torch.ones(queries))
    assert (head.masked_scores[~allowed] == -torch.inf).all()


def test_matrices_that_do_not_fit_are_told_apart() -> None:
    with pytest.raises(InputError, match="2 channels and keys 3"):
        attend(torch.zeros(1, 2), torch.zeros(2, 3), torch.zeros(2, 1))
    with pytest.raises(InputError, match="2 keys and 3 values"):
        attend(torch.zeros(1, 2), torch.zeros(2, 2), torch.zeros(3, 1))


def test_a_sharp_look_up_is_a_hard_one() -> None:
    query, keys, values = torch.tensor([[1.0, 0.5]]), torch.tensor([[1.0, 0], [0, 1], [-1, 0]]), torch.eye(3)
    rows = look_up(query, keys, values, 20.0)
    bars = rows[0].pictures[1]
    assert isinstance(bars, BarsPicture)
    torch.testing.assert_close(
        torch.as_tensor(bars.series["hard"]), torch.as_tensor(bars.series["soft"]), atol=1e-4, rtol=0
    )
