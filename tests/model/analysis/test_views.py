"""Value norms, gradients, the plane of queries and keys, and row selection, by hand and by finite differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from headlight import EditError, TextError, Transformer
from headlight.analysis.attention_maps import renormalize_rows, top_mass_mask
from headlight.analysis.principal_components import qk_projection
from headlight.analysis.weight_importance import attention_gradient, weighted_value_norm
from headlight.nn.transformer import attention_at
from tests.model import toys
from tests.model.toys import traced

rows = arrays.arrays(np.float64, (3, 6), elements=st.floats(0, 1))


@pytest.mark.parametrize("choices", [{}, {"key_value_heads": 2}, {"value_head_dim": 3}])
def test_value_norms_are_the_norms_of_the_weighted_projected_values(choices: dict[str, Any]) -> None:
    model = toys.decoder(**choices)
    trace, path, head = traced(model), "decoder.1.self", 3
    fetched = weighted_value_norm(model, trace, path)
    assert fetched.shape == trace[f"{path}.weights"].shape
    output = attention_at(model, path)[0].output.weight.numpy()
    v = trace[f"{path}.v"]
    width = v.shape[-1]
    mine = v[head * len(v) // len(fetched)] @ output[:, head * width : (head + 1) * width].T
    by_hand = np.linalg.norm(trace[f"{path}.weights"][head][:, :, None] * mine[None], axis=-1)
    assert fetched[head] == pytest.approx(by_hand, rel=1e-4, abs=1e-6)


def test_the_norm_of_a_word_is_that_of_the_sum_of_its_vectors() -> None:
    model, path, head = toys.decoder(), "decoder.1.self", 2
    trace = traced(model)
    count = len(trace.text.ids)
    groups = ((0,), (1, 2, 3), tuple(range(4, count)))
    found = weighted_value_norm(model, trace, path, groups)
    output, v = attention_at(model, path)[0].output.weight.numpy(), trace[f"{path}.v"]
    width = v.shape[-1]
    vectors = (v[head * len(v) // len(found)] @ output[:, head * width : (head + 1) * width].T).astype(np.float64)
    for column, group in enumerate(groups):
        sums = trace[f"{path}.weights"][head][:, list(group)] @ vectors[list(group)]
        assert found[head, :, column] == pytest.approx(np.linalg.norm(sums, axis=-1), rel=1e-4, abs=1e-6)
    alone = weighted_value_norm(model, trace, path, tuple((place,) for place in range(count)))
    assert alone == pytest.approx(weighted_value_norm(model, trace, path), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("edits", [(), ("decoder.0.self.weights[1]=uniform",)])
def test_the_gradient_equals_finite_differences(edits: tuple[str, ...]) -> None:
    model, path, token = toys.decoder(), "decoder.0.self", 7
    trace = traced(model, *edits)
    slopes = attention_gradient(model, trace, path, -1 + len(trace.text.ids), token)
    assert slopes.shape == trace[f"{path}.weights"].shape

    def log_share(*more: str) -> float:
        return float(np.log(np.float64(traced(model, *edits, *more).probabilities(-1)[token])))

    for head, query, key in ((0, 3, 1), (2, 5, 5), (3, len(trace.text.ids) - 1, 0)):
        step, cell = 0.02, f"{path}.weights[{head},{query},{key}]=add"
        measured = (log_share(f"{cell}:{step}") - log_share(f"{cell}:-{step}")) / (2 * step)
        assert slopes[head, query, key] == pytest.approx(measured, rel=0.02, abs=2e-3)


def test_the_gradient_of_later_queries_is_zero() -> None:
    model = toys.decoder()
    slopes = attention_gradient(model, traced(model), "decoder.0.self", 2, 5)
    assert not slopes[:, 3:].any()
    assert slopes[:, 1:3].any()


@pytest.mark.parametrize("make", [toys.both, toys.captioner, toys.listener, toys.reader, toys.summarizer])
def test_the_gradient_reaches_encoder_and_cross_attention(make: Callable[[], Transformer]) -> None:
    model = make()
    trace = traced(model, text="the dog", source=toys.source(model, toys.TEXT))
    for path in ("encoder.2.self", "decoder.0.cross"):
        slopes = attention_gradient(model, trace, path, 1, 4)
        assert slopes.shape == trace[f"{path}.weights"].shape
        assert slopes.any()


def test_a_label_has_a_gradient_too() -> None:
    model = toys.encoder(output_head="sequence-classifier", labels=("glad", "sad"))
    trace = traced(model)
    up, down = (attention_gradient(model, trace, "encoder.0.self", 0, label) for label in (0, 1))
    shares = np.exp(trace["logits"].astype(np.float64))
    shares /= shares.sum()
    assert up * shares[0] == pytest.approx(-down * shares[1], abs=1e-5)  # one label's gain is the other's loss


def test_no_prediction_or_no_attention_gets_a_sentence() -> None:
    model = toys.decoder()
    trace = traced(model)
    with pytest.raises(TextError, match="no token 9999"):
        attention_gradient(model, trace, "decoder.0.self", 1, 9999)
    with pytest.raises(TextError, match="no token 99"):
        attention_gradient(model, trace, "decoder.0.self", 99, 1)
    with pytest.raises(EditError, match="no attention"):
        attention_gradient(model, trace, "decoder.7.self", 1, 1)
    bare = toys.decoder(output_head="none")
    with pytest.raises(TextError, match="without a head"):
        attention_gradient(bare, traced(bare), "decoder.0.self", 1, 1)


@pytest.mark.parametrize("choices", [{}, {"key_value_heads": 2}])
def test_the_plane_of_queries_and_keys_is_their_principal_one(choices: dict[str, Any]) -> None:
    trace = traced(toys.decoder(**choices))
    found = qk_projection(trace, "decoder.1.self", 2)
    q = trace["decoder.1.self.rotated_q"][2]
    k = trace["decoder.1.self.rotated_k"][2 * len(trace["decoder.1.self.rotated_k"]) // 4]
    vectors = np.concatenate([q, k]).astype(np.float64)
    values = np.linalg.eigvalsh(np.cov(vectors.T))[::-1]
    assert found.explained_variance == pytest.approx(tuple(values[:2] / values.sum()), rel=1e-4)
    plane = np.concatenate([found.queries, found.keys])
    assert plane.mean(0) == pytest.approx(np.zeros(2), abs=1e-5)
    assert plane.var(0, ddof=1) == pytest.approx(values[:2], rel=1e-3)
    assert (plane.max(0) >= -plane.min(0)).all()


def test_the_plane_of_one_token_and_of_a_head_out_of_range() -> None:
    model = toys.decoder()
    alone = traced(model, text="a", keep=("*.rotated_q", "*.rotated_k"))
    assert qk_projection(alone, "decoder.0.self", 0).queries.shape == (len(alone.text.ids), 2)
    with pytest.raises(EditError, match="no head 9"):
        qk_projection(alone, "decoder.0.self", 9)


def test_top_mass_by_hand() -> None:
    row = np.array([[0.5, 0.05, 0.3, 0.15], [0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    assert top_mass_mask(row, 0.75).tolist() == [
        [True, False, True, False],
        [False, False, False, False],
        [True, True, True, False],
    ]
    assert top_mass_mask(np.array([[-0.6, 0.3, 0.1]]), 0.5).tolist() == [[True, False, False]]


@given(rows, st.floats(0.01, 1))
def test_top_mass_holds_the_mass_with_the_fewest_cells(values: np.ndarray, share: float) -> None:
    kept = top_mass_mask(values, share)
    held = (values * kept).sum(-1)
    assert np.all(held >= share * values.sum(-1) * (1 - 1e-6))
    for row, cells in zip(values, kept, strict=True):
        if cells.any():
            assert row[cells].sum() - row[cells].min() < share * row.sum() + 1e-12
            assert row[cells].min() >= row[~cells].max(initial=0)


@given(rows)
def test_renormalized_rows_sum_to_one_or_stay_empty(values: np.ndarray) -> None:
    total = renormalize_rows(values).sum(-1)
    full = values.sum(-1) > 1e-300
    assert total[full] == pytest.approx(np.ones(full.sum()))
    assert not total[~values.any(-1)].any()
