"""Other functions from scores to weights, compared with sums over the pairs of tokens."""

from typing import Any

import pytest
import torch
from torch import Tensor

from headlight.cancellation import Cancelled, cancellable
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl
from headlight.course.screen import ScreenRows
from headlight.course.variants.functions import FUNCTIONS, TEMPERATURE, head_weights, temperature_in_model
from headlight.course.variants.linear_attention import (
    HEADS,
    LINEAR,
    causal_linear_attention,
    cost,
    linear_attention,
    random_head,
    written_bytes,
)
from headlight.errors import InputError
from headlight.tracing.run import run
from headlight.views.kinds import HeatMapView, MatrixView
from headlight.views.rows import as_rows
from tests.model import toys
from tests.model.course.shown import compute, tensor, verdict, views


def matrices(answer: ScreenRows) -> list[Tensor]:
    return [tensor(view.values) for view in views(answer, MatrixView)]


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
    assert verdict(compute(LINEAR)).good and matrices(compute(LINEAR))[2].shape == (3, 3)
    with cancellable(lambda: True), pytest.raises(Cancelled):
        cost("512", 8, 1)


def test_matrices_that_do_not_fit_get_a_sentence() -> None:
    with pytest.raises(InputError, match="must fit"):
        compute(FUNCTIONS, keys="1,0;0,1")
    with pytest.raises(InputError, match="must fit"):
        compute(TEMPERATURE, keys="1;2;3")


@pytest.mark.parametrize("options", [{}, {"positional_encoding": "alibi"}, {"heads": 4, "key_value_heads": 2}])
def test_the_functions_of_a_model_read_what_its_head_has_read(options: dict[str, Any]) -> None:
    model = toys.decoder(**options)
    trace = run(model, toys.causal(), toys.SENTENCE)
    path = "decoder.1.self"
    for head in range(model.config.heads):
        softmax, hard, linear = (
            head_weights(model, trace, path, head, name) for name in ("softmax", "hardmax", "linear")
        )
        torch.testing.assert_close(softmax, torch.tensor(trace[f"{path}.weights"][head]))
        assert (hard.argmax(1) == softmax.argmax(1)).all()
        torch.testing.assert_close(linear.sum(1), torch.ones(len(linear)))


def test_a_temperature_divides_the_scores_of_one_head_of_a_model() -> None:
    opened = Checkpoint(toys.decoder(), toys.causal(), "")
    scores = torch.tensor(run(opened.model, opened.tokenizer, toys.SENTENCE)["decoder.1.self.masked_scores"][1])
    first, *_ = as_rows(temperature_in_model(opened, toys.SENTENCE, 1, 1, 0.5))
    _, changed = (picture for picture in first.views if isinstance(picture, HeatMapView))
    torch.testing.assert_close(tensor(changed.values), torch.softmax(scores / 0.5, 1), atol=1e-4, rtol=0)
    with pytest.raises(InputError, match="no head 9"):
        temperature_in_model(opened, toys.SENTENCE, 1, 9, 0.5)
    with pytest.raises(InputError, match="plain softmax"):
        ModelControl(default="", needs="softmax").require(toys.decoder(attention_function="linear").config)


def test_a_state_that_is_carried_on_gives_what_causal_weights_give() -> None:
    q, k, v = random_head(7, 3, 2)
    whole = causal_linear_attention(q, k, v)
    for token in range(1, 8):
        torch.testing.assert_close(whole[token - 1], linear_attention(q[:token], k[:token], v[:token])[-1])
    answer = compute(LINEAR, mask="causal", token="3", seed="2")
    assert verdict(answer).good and not matrices(answer)[0].triu(1).any()
    with pytest.raises(InputError, match="no token 8"):
        compute(LINEAR, mask="causal", token="8")
