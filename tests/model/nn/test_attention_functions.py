"""Kernels compared with references: PyTorch's softmax, slow loops for hard and linear."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from headlight import ATTENTION_FUNCTIONS
from headlight.config import PerLayerConfig
from headlight.nn.attention_functions import score_formula
from tests.model import reference, toys

SHAPE = (2, 3, 5, 7)  # batch head query key
CHANNELS = 4


def case(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, keys, a bias, and a mask whose first row is always empty."""
    generator = torch.Generator().manual_seed(seed)
    batch, heads, queries, keys = SHAPE
    q = torch.randn(batch, heads, queries, CHANNELS, generator=generator) * 2
    k = torch.randn(batch, heads, keys, CHANNELS, generator=generator) * 2
    bias = torch.randn(heads, queries, keys, generator=generator)
    allowed = torch.rand(SHAPE, generator=generator) < 0.6
    allowed[:, :, 0] = False
    return q, k, bias, allowed


def weights(name: str, q: Tensor, k: Tensor, scale: float, bias: Tensor, allowed: Tensor) -> Tensor:
    """The weights from all three steps of a kernel."""
    kernel = ATTENTION_FUNCTIONS[name]
    return kernel.normalize(kernel.mask(kernel.score(q, k, scale, bias), allowed), allowed)


@pytest.mark.parametrize("scale", [0.5, 1.0])
@given(st.integers(0, 10_000))
def test_softmax_is_torchs_own(scale: float, seed: int) -> None:
    q, k, bias, allowed = case(seed)
    values = torch.eye(SHAPE[3]).expand(*SHAPE[:2], -1, -1)  # with unit vectors as values, output = weights
    penalty = bias.expand(SHAPE).masked_fill(~allowed, -torch.inf)
    wanted = functional.scaled_dot_product_attention(q, k, values, attn_mask=penalty, scale=scale)
    wanted = wanted.masked_fill(~allowed.any(-1, keepdim=True), 0.0)  # NaN or zero, depending on PyTorch's version
    torch.testing.assert_close(weights("softmax", q, k, scale, bias, allowed), wanted)


@given(st.integers(0, 10_000))
def test_linear_is_the_loop_over_cells(seed: int) -> None:
    q, k, bias, allowed = case(seed)
    ours = weights("linear", q, k, 0.5, bias, allowed)
    for batch, head in np.ndindex(SHAPE[:2]):
        one = reference.linear(
            q[batch, head].double().numpy(),
            k[batch, head].double().numpy(),
            allowed[batch, head].numpy(),
            bias[head].double().numpy(),
        )
        np.testing.assert_allclose(ours[batch, head], one, atol=1e-5)


@given(st.integers(0, 10_000))
def test_hard_is_the_loop_over_rows(seed: int) -> None:
    q, k, bias, allowed = case(seed)
    scores = q @ k.transpose(-2, -1) * 0.5 + bias
    ours = weights("hardmax", q, k, 0.5, bias, allowed)
    for batch, head in np.ndindex(SHAPE[:2]):
        one = reference.hard(scores[batch, head].double().numpy(), allowed[batch, head].numpy())
        np.testing.assert_allclose(ours[batch, head], one, atol=1e-6)


def test_hard_shares_a_tie_evenly_among_allowed_keys() -> None:
    scores = torch.tensor([[[[1.0, 3.0, 3.0, 3.0, 2.0]]]])
    allowed = torch.tensor([[[[True, True, False, True, True]]]])
    kernel = ATTENTION_FUNCTIONS["hardmax"]
    assert kernel.normalize(kernel.mask(scores, allowed), allowed).flatten().tolist() == [0, 0.5, 0, 0.5, 0]


@pytest.mark.parametrize("channels", [4, 16, 64])
@pytest.mark.parametrize("keys", [2, 3, 5, 8, 17, 50])
def test_equal_keys_tie_however_many_there_are(keys: int, channels: int) -> None:
    """A matrix product sums its edge columns in another order, so scores of equal keys may differ in the last bit."""
    generator = torch.Generator().manual_seed(keys)
    q = torch.randn(1, 2, 3, channels, generator=generator)
    k = torch.randn(1, 2, 1, channels, generator=generator).repeat(1, 1, keys, 1)
    everywhere = torch.ones(1, 1, 3, keys, dtype=torch.bool)
    ours = weights("hardmax", q, k, channels**-0.5, torch.zeros(2, 3, keys), everywhere)
    torch.testing.assert_close(ours, torch.full_like(ours, 1 / keys))


def test_the_scale_cancels_in_the_linear_kernel() -> None:
    q, k, bias, allowed = case(0)
    torch.testing.assert_close(weights("linear", q, k, 0.5, bias, allowed), weights("linear", q, k, 1.0, bias, allowed))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("name", sorted(ATTENTION_FUNCTIONS))
def test_an_empty_row_has_zeros_and_the_others_sum_to_one(name: str, dtype: torch.dtype) -> None:
    q, k, bias, allowed = case(0)
    sums = weights(name, q.to(dtype), k.to(dtype), 0.5, bias.to(dtype), allowed).float().sum(-1)
    wanted = allowed.any(-1).float()
    torch.testing.assert_close(sums, wanted, atol=1e-5 if dtype.itemsize > 2 else 0.02, rtol=0)
    assert (sums[:, :, 0] == 0).all()


@pytest.mark.parametrize("name", sorted(ATTENTION_FUNCTIONS))
def test_a_sink_takes_the_share_that_a_key_of_its_score_would(name: str) -> None:
    kernel = ATTENTION_FUNCTIONS[name]
    allowed = torch.ones(1, 1, 2, 3, dtype=torch.bool)
    allowed[:, :, 0] = False
    score = kernel.sink_score(torch.zeros(1, 1))
    masked = kernel.mask(score.expand(1, 1, 2, 3), allowed)
    shares = kernel.normalize_with_sink(masked, allowed, torch.zeros(1, 1))
    torch.testing.assert_close(shares[0, 0], torch.tensor([[0.0] * 3, [0.25] * 3]))


@pytest.mark.parametrize("name", ["softmax", "linear"])
def test_gradients_are_finite_with_an_empty_row(name: str) -> None:
    q, k, bias, allowed = case(0)
    for each in (q, k, bias):
        each.requires_grad_()
    torch.autograd.backward((weights(name, q, k, 0.5, bias, allowed) * 100).square().sum())
    for each in (q, k, bias):
        assert each.grad is not None
        assert each.grad.isfinite().all()
        assert each.grad.any()


@pytest.mark.parametrize("name", sorted(ATTENTION_FUNCTIONS))
def test_what_is_written_into_masked_scores_is_what_is_weighed(name: str) -> None:
    """An edit may allow a query to attend to masked keys; the row still sums to one."""
    q, k, bias, allowed = case(0)
    kernel = ATTENTION_FUNCTIONS[name]
    masked = torch.full_like(kernel.mask(kernel.score(q, k, 0.5, bias), allowed), 2.0)
    shares = kernel.normalize(masked, allowed)[:, :, 1:]
    torch.testing.assert_close(shares, torch.full_like(shares, 1 / SHAPE[3]))


@pytest.mark.parametrize("attention_function", sorted(ATTENTION_FUNCTIONS))
def test_the_formula_of_the_scores_has_a_scale_only_where_the_model_has_one(attention_function: str) -> None:
    scaled = toys.decoder(attention_function=attention_function).config
    assert r"\sqrt{d}" in score_formula(scaled)
    assert "sqrt" not in score_formula(scaled.replace(**{"attention.scale": False}))
    by_layer = scaled.replace(per_layer=PerLayerConfig(score_scales=(0.5, 0.25)))
    assert r"\sqrt" not in score_formula(by_layer)
    assert r"\cdot c_\ell" in score_formula(by_layer)


@pytest.mark.parametrize("attention_function", sorted(ATTENTION_FUNCTIONS))
def test_the_formula_of_the_scores_has_the_soft_cap_of_the_model(attention_function: str) -> None:
    config = toys.decoder(attention_function=attention_function).config
    assert "tanh" not in score_formula(config)
    assert r"30 \tanh" in score_formula(config.replace(**{"attention.score_soft_cap": 30.0}))
