"""Attention rollout and head metrics of traces, compared with small cases computed by hand."""

import numpy as np
import pytest
from hypothesis import given

from headlight import Trace, run
from headlight.analysis.attention_maps import attention_rollout
from headlight.analysis.head_metrics import HEAD_METRICS, head_metrics
from headlight.text.tokenizer import Encoded
from tests.model import toys
from tests.model.analysis.test_head_metrics import raw, shares

REPEATED = "the cat sat on the mat and the dog ran away"


def encoded(*pieces: str, special: tuple[int, ...] = ()) -> Encoded:
    """A text from pieces; equal pieces have equal ids."""
    known = sorted(set(pieces))
    marks = tuple(place in special for place in range(len(pieces)))
    ids = tuple(known.index(piece) for piece in pieces)
    return Encoded("".join(pieces), ids, pieces, pieces, ((0, 0),) * len(pieces), marks)


def trace_of_weights(weights: np.ndarray, text: Encoded, causal: bool = False) -> Trace:
    """A trace of one layer with only these weights [head query key] and the mask."""
    heads, size, _ = weights.shape
    config = toys.config(layers=1, heads=heads)
    mask = np.tril(np.ones((heads, size, size), dtype=bool)) if causal else np.ones((heads, size, size), dtype=bool)
    return Trace(config, text, None, {"decoder.0.self.weights": weights, "decoder.0.self.mask": mask})


@pytest.mark.parametrize(
    ("metric", "offset"), [("previous", -1), ("current", 0), ("next", 1)], ids=lambda value: str(value)
)
def test_a_head_that_attends_at_one_offset_has_that_metric(metric: str, offset: int) -> None:
    weights = np.eye(4, k=offset, dtype=np.float32)[None]
    assert head_metrics(trace_of_weights(weights, encoded("a", "b", "c", "d")))[metric] == pytest.approx(
        np.ones((1, 1))
    )


def test_an_induction_head_has_that_metric() -> None:
    text = encoded("<s>", " Tom", " saw", " Ann", ".", " Tom", " saw", special=(0,))
    weights = np.zeros((1, 7, 7), dtype=np.float32)
    weights[0, :, 0] = 1
    weights[0, 5] = [0, 0, 0.75, 0.25, 0, 0, 0]  # the second Tom looks at the token after the first
    weights[0, 6] = [0, 0, 0, 0.5, 0.5, 0, 0]
    values = head_metrics(trace_of_weights(weights, text, causal=True))
    assert values["induction"].item() == pytest.approx((0.75 + 0.5) / 2)
    assert values["punctuation"].item() == pytest.approx((0 + 0.5) / 2)  # queries after the full stop
    assert values["special"].item() == pytest.approx(4 / 6)
    assert values["first"].item() == pytest.approx(4 / 6)
    assert values["same-word"].item() == 0.0
    assert np.isnan(values["next"]).all()  # masked


def test_same_word_ignores_case_and_space() -> None:
    text = encoded("The", " dog", " and", " the", " cat")
    weights = np.eye(5, dtype=np.float32)[None]
    weights[0, 3] = [0.6, 0, 0, 0.4, 0]
    assert head_metrics(trace_of_weights(weights.copy(), text, causal=True))["same-word"].item() == pytest.approx(0.6)
    assert head_metrics(trace_of_weights(weights.copy(), text))["same-word"].item() == pytest.approx(0.3)


def test_punctuation_is_no_word() -> None:
    text = encoded("one", ",", " two", ",", " one")
    weights = np.zeros((1, 5, 5), dtype=np.float32)
    weights[0, :, 1] = 1
    values = head_metrics(trace_of_weights(weights, text, causal=True))
    assert values["same-word"].item() == 0.0  # averaged over one query, the second "one"
    assert values["punctuation"].item() == pytest.approx(1.0)


def test_every_metric_gives_a_number_for_each_head() -> None:
    trace = run(toys.decoder(), toys.causal(), REPEATED)
    values = head_metrics(trace)
    assert set(values) == set(HEAD_METRICS)
    for metric, heads in values.items():
        assert heads.shape == (2, 4)
        if metric in ("next", "punctuation"):  # later tokens are masked; no punctuation here
            assert np.isnan(heads).all(), metric
        elif not HEAD_METRICS[metric].unit:
            assert np.all(heads >= 0), metric
            assert np.all(heads <= 1 + 1e-5), metric


def test_a_trace_without_masks_gives_the_same_metrics() -> None:
    whole = run(toys.decoder(), toys.causal(), REPEATED)
    weights_only = run(toys.decoder(), toys.causal(), REPEATED, keep=("*.weights",))
    for metric, heads in head_metrics(whole).items():
        assert head_metrics(weights_only)[metric] == pytest.approx(heads, nan_ok=True)


def test_an_encoder_decoder_has_metrics_for_either_stack() -> None:
    trace = run(toys.both(), toys.masked(), "the dog", source=REPEATED)
    assert head_metrics(trace)["previous"].shape == (2, 4)
    assert head_metrics(trace, stack="encoder")["next"].shape == (3, 4)


@given(raw)
def test_rows_of_the_rollout_sum_to_one(weights: np.ndarray) -> None:
    reached = attention_rollout(shares(weights))
    assert reached.shape == (2, 5, 5)
    assert reached.sum(-1) == pytest.approx(np.ones((2, 5)), abs=1e-4)


def test_rollout_of_two_layers_by_hand() -> None:
    layer = np.array([[1, 0], [1, 0]], dtype=np.float32)  # the second token looks only at the first
    reached = attention_rollout(np.stack([layer[None], layer[None]]))
    assert reached[0] == pytest.approx(np.array([[1, 0], [0.5, 0.5]]))
    assert reached[1] == pytest.approx(np.array([[1, 0], [0.75, 0.25]]))


def test_rollout_of_a_model_without_residual_connections_is_the_product_of_its_weights() -> None:
    first, second = (shares(np.random.default_rng(seed).random((1, 3, 4, 4), np.float32)) for seed in (0, 1))
    reached = attention_rollout(np.concatenate([first, second]), residual=False)
    assert reached[1] == pytest.approx(second[0].mean(0) @ first[0].mean(0), abs=1e-5)


def test_negative_weights_of_an_edit_leave_rows_of_the_rollout_that_sum_to_one() -> None:
    weights = np.array([[[[1, 0], [-3, 0.5]]]], dtype=np.float32)
    assert attention_rollout(weights)[0] == pytest.approx(np.array([[1, 0], [0, 1]]))


def test_an_empty_row_keeps_only_its_residual_stream() -> None:
    assert attention_rollout(np.zeros((2, 3, 4, 4), dtype=np.float32))[-1] == pytest.approx(np.eye(4))
