"""Other functions from scores to weights, against sums over the pairs of tokens."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from model.cancellation import Cancelled, cancellable
from model.course.pictures import MatrixPicture
from model.course.screen import Answer, Screen
from model.course.variants.functions import FUNCTIONS, TEMPERATURE
from model.course.variants.linear_attention import (
    HEADS,
    SAME_NUMBERS,
    cost,
    linear_attention,
    random_head,
    written_bytes,
)
from model.errors import InputError


def compute(screen: Screen, **inputs: str) -> Answer:
    return screen.compute(**screen.parse(inputs))


def matrices(answer: Answer) -> list[Tensor]:
    return [picture.values for row in answer for picture in row.pictures if isinstance(picture, MatrixPicture)]


def test_linear_attention_is_the_average_that_its_formula_says() -> None:
    q, k, v = random_head(5, 3, 1)

    def phi(x: float) -> float:
        return x + 1 if x > 0 else float(torch.exp(torch.tensor(x)))

    for i in range(5):
        products = [sum(phi(float(q[i, c])) * phi(float(k[j, c])) for c in range(3)) for j in range(5)]
        expected = sum(p * v[j] for j, p in enumerate(products)) / sum(products)
        torch.testing.assert_close(linear_attention(q, k, v)[i], expected)


def test_each_function_on_the_same_head() -> None:
    softmax, hard, linear, *_ = matrices(compute(FUNCTIONS))
    scores = torch.tensor([[4.0, 0, -2], [0, 4, 2], [2, 2, 0]]) / 2**0.5
    torch.testing.assert_close(softmax, scores.exp() / scores.exp().sum(1, keepdim=True))
    assert hard.tolist() == [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]]
    torch.testing.assert_close(linear.sum(1), torch.ones(3))


@pytest.mark.parametrize(("degrees", "weights"), [("0.05", [1.0, 0.0, 0.0]), ("20", [0.36, 0.34, 0.30])])
def test_temperature_goes_from_argmax_to_the_mean(degrees: str, weights: list[float]) -> None:
    assert matrices(compute(TEMPERATURE, temperature=degrees))[0][0].tolist() == pytest.approx(weights, abs=0.02)


def test_memory_grows_with_the_square_or_with_the_length() -> None:
    growth = {}
    for name, head in HEADS.items():
        short, long = (written_bytes(head, *random_head(length, 4, 0)) for length in (256, 512))
        growth[name] = long / short
    assert growth["softmax"] > 3.8 and growth["linear, with the weights"] > 3.8
    assert growth["linear, keys times values first"] < 2.01


def test_both_orders_agree_on_the_screen_and_measuring_can_be_stopped() -> None:
    assert "differ by at most" in str(compute(SAME_NUMBERS)[-1])
    with cancellable(lambda: True), pytest.raises(Cancelled):
        cost("512", 8, 1)


def test_matrices_that_do_not_fit_get_a_sentence() -> None:
    with pytest.raises(InputError, match="must fit"):
        compute(FUNCTIONS, keys="1,0;0,1")
    with pytest.raises(InputError, match="must fit"):
        compute(TEMPERATURE, keys="1;2;3")
