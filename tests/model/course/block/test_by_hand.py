"""Norms, feed-forward and averages on typed numbers, compared with independent sums."""

from inspect import signature
from itertools import pairwise
from math import erf, sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from headlight.course.block.averages import AVERAGES, in_hull, spread_by_layer
from headlight.course.block.feed_forward import FEED_FORWARD, apply_feed_forward
from headlight.course.block.recurrence.by_hand import RECURRENCE, run_states, unrolled
from headlight.course.block.residual import LAYER_NORM, NORM_PLACEMENT, normalize, through_blocks
from headlight.course.screen import Screen
from headlight.errors import InputError
from headlight.views.kinds import BarsView, Equations, TableView
from tests.model.course.shown import compute, tensor, verdict, views


def test_layer_norm_is_the_sum_that_one_does_by_hand() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0, 6.0]])
    normed = normalize(x, "layernorm", torch.tensor([[1.0, 1, 1, 2]]), torch.tensor([[0.0, 0, 0, 0.5]]), 0.0)
    deviation = sqrt((4 + 1 + 0 + 9) / 4)  # mean 3
    assert normed[0].tolist() == pytest.approx([-2 / deviation, -1 / deviation, 0, 2 * 3 / deviation + 0.5])


def test_rms_norm_leaves_out_the_mean_and_the_shift() -> None:
    x = torch.tensor([[3.0, 4.0]])
    normed = normalize(x, "rmsnorm", torch.tensor([[1.0, 10.0]]), torch.tensor([[7.0, 7.0]]), 0.0)
    assert normed[0].tolist() == pytest.approx([3 / sqrt(12.5), 40 / sqrt(12.5)])


def test_the_screen_says_which_tokens_become_the_same_and_what_epsilon_is_for() -> None:
    assert "Tokens 0 and 1 have become the same" in verdict(compute(LAYER_NORM)).text
    told = verdict(compute(LAYER_NORM, x="1,1,1,1", epsilon="0"))
    assert told.good is False and "variance 0" in told.text
    (lines,) = (picture.lines for picture in views(compute(LAYER_NORM), Equations))
    assert lines[0].endswith("= 3") and lines[1].endswith("= 3.5") and lines[2].endswith("= -1.069")
    assert r"\sqrt{3.5 + 10^{-5}}" in lines[2]


def test_the_table_of_a_norm_has_the_means_and_variances() -> None:
    (table,) = views(compute(LAYER_NORM), TableView)
    assert table.rows[1][1:5] == pytest.approx((30.0, 350.0, 0.0, 1.0), abs=1e-4)


def layer_norm(x: Tensor) -> Tensor:
    return (x - x.mean()) / ((x - x.mean()).square().mean() + 1e-5).sqrt()


def test_placements_are_the_formulas_of_the_papers() -> None:
    x, matrix = torch.tensor([[3.0, -1.0, 2.0]]), torch.tensor([[0.5, 0.5, 0.0], [-0.5, 0.5, 0.0], [0.0, 0.0, 0.5]])
    expected = {
        "post": layer_norm(x + x @ matrix),
        "pre": x + layer_norm(x) @ matrix,
        "post-sublayer": x + layer_norm(x @ matrix),
        "sandwich": x + layer_norm(layer_norm(x) @ matrix),
        "none": x @ matrix,
    }
    for name, result in expected.items():
        torch.testing.assert_close(through_blocks(x, matrix, name, 1)[1], result[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("activation", "xor"), [("relu", [0.0, 1.0, 1.0, 0.0]), ("linear", [2.0, 1.0, 1.0, 0.0])])
def test_the_example_is_xor_only_with_an_activation(activation: str, xor: list[float]) -> None:
    values = FEED_FORWARD.parse({"activation": activation})
    _, output = apply_feed_forward(*(values[name] for name in signature(apply_feed_forward).parameters))
    assert output[:, 0].tolist() == pytest.approx(xor)


def test_the_network_is_two_maps_and_an_activation() -> None:
    x, up, down = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.5], [1.0]]), torch.tensor([[2.0, 3.0]])
    neurons, output = apply_feed_forward(x, up, torch.tensor([[0.25]]), "gelu", down, torch.tensor([[1.0, -1.0]]))
    before = 0.5 - 2 + 0.25
    neuron = before * (1 + erf(before / sqrt(2))) / 2
    assert neurons.item() == pytest.approx(neuron, abs=1e-6)
    assert output[0].tolist() == pytest.approx([2 * neuron + 1, 3 * neuron - 1], abs=1e-6)


def test_points_are_told_in_and_out_of_a_hull() -> None:
    corners = torch.tensor([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [1.0, 4.0], [2.0, 1.0]])
    points = torch.tensor([[2.0, 2.0], [0.0, 0.0], [4.0, 1.5], [4.1, 1.5], [0.0, 4.0], [-0.1, 0.0], [2.5, 3.6]])
    assert in_hull(points, corners).tolist() == [True, True, True, False, False, False, False]


@given(st.lists(st.tuples(*[st.floats(-100, 100, width=32)] * 6), min_size=3, max_size=6))
def test_attention_never_leaves_the_hull_of_its_values(rows: list[tuple[float, ...]]) -> None:
    def text(first: int) -> str:
        return ";".join(f"{row[first]},{row[first + 1]}" for row in rows)

    answer = compute(AVERAGES, queries=text(0), keys=text(2), values=text(4))
    assert verdict(answer).good is True


def test_averaging_again_and_again_makes_tokens_alike() -> None:
    values = AVERAGES.parse({})
    spreads = spread_by_layer(values["queries"], values["keys"], values["values"], 20)
    assert spreads[0] == pytest.approx(5.0) and spreads[20] < 1e-4  # the first: from (0, 0) to (4, 3)
    assert all(later <= earlier + 1e-6 for earlier, later in pairwise(spreads))


@pytest.mark.parametrize(
    ("screen", "inputs"),
    [
        (LAYER_NORM, {"gain": "1,1"}),
        (NORM_PLACEMENT, {"x": "1,2"}),
        (FEED_FORWARD, {"up_bias": "1"}),
        (FEED_FORWARD, {"down": "1;2"}),
        (AVERAGES, {"values": "0,0;1,1;2,2"}),
    ],
)
def test_matrices_that_do_not_fit_get_a_sentence(screen: Screen, inputs: dict[str, str]) -> None:
    with pytest.raises(InputError, match="must fit"):
        compute(screen, **inputs)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(2, 6), st.integers(0, 99))
def test_states_and_their_gradient_are_those_of_torch(inputs: int, width: int, tokens: int, seed: int) -> None:
    torch.manual_seed(seed)
    x, network = torch.randn(tokens, inputs), torch.nn.RNN(inputs, width, bias=False)
    u, w = (each.detach().T for each in network.parameters())
    states = run_states(x, u, w, "tanh")
    torch.testing.assert_close(torch.stack(states[1:]), network(x)[0])
    start = states[1].clone().requires_grad_()
    run_states(x[1:], u, w, "tanh", start)[-1].sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(unrolled(states, w, "tanh")[0].sum(1), start.grad)


def test_a_larger_matrix_keeps_more_of_the_first_token() -> None:
    left = {}
    for w in ("0.1,0;0,0.1", "4,0;0,4"):
        answer = compute(RECURRENCE, w=w, x="0,0;0,0;0,0;0,0", activation="tanh")
        (bars,) = views(answer, BarsView)
        left[w] = float(tensor(bars.series[""])[0])
        assert verdict(answer).good is True
    assert left["0.1,0;0,0.1"] == pytest.approx(sqrt(2) / 1_000) and left["4,0;0,4"] == pytest.approx(sqrt(2) * 64)
