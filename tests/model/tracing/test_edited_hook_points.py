"""Edits of hook points that are not vectors: weights, masks, the scale, and position ids."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import POSITIONAL_ENCODINGS, EditError, Trace, run, variant
from tests.model import toys
from tests.model.tracing.test_interventions import EDITED, TEXT, run_edited


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 7))
def test_uniform_on_part_of_a_row_shares_its_sum_evenly_and_keeps_the_rows_sum(
    query: int, start: int, length: int
) -> None:
    end = min(start + length, 7)
    before = run_edited()[EDITED][1, query]
    edited = run_edited(None, f"{EDITED}[1,{query},{start}:{end}]=uniform")[EDITED][1, query]
    places = np.arange(7)
    inside = (places >= start) & (places < end)
    allowed = inside & (places <= query)
    assert edited.sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_array_equal(edited[~inside], before[~inside])
    if allowed.any():
        np.testing.assert_allclose(edited[allowed], before[inside].sum() / allowed.sum(), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(edited[places > query], 0)


def test_setting_a_weight_leaves_the_others_but_masking_a_cell_gives_them_its_weight() -> None:
    before = run_edited()[EDITED][1, 5]
    one, other = run_edited(None, f"{EDITED}[1,5,2]=set:0"), run_edited(None, "decoder.0.self.mask[1,5,2]=set:0")
    wanted = np.where(np.arange(7) == 2, 0, before)
    np.testing.assert_array_equal(one[EDITED][1, 5], wanted)
    np.testing.assert_allclose(other[EDITED][1, 5], wanted / wanted.sum(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("attention_function", ["softmax", "hardmax", "linear"])
@pytest.mark.parametrize("position", ["rope", "relative", "disentangled"])
def test_a_scale_of_one_in_every_layer_equals_the_unscaled_variant(position: str, attention_function: str) -> None:
    model = toys.decoder(positional_encoding=position, attention_function=attention_function)
    edited, unscaled = run_edited(model, "decoder.*.self.scale=set:1"), run_edited(variant(model, scale=False))
    assert edited["decoder.0.self.scale"].tolist() == [1, 1, 1, 1]
    for path in unscaled.values:
        np.testing.assert_allclose(edited[path], unscaled[path], rtol=1e-5, atol=1e-5)


def test_scaling_a_heads_scale_equals_scaling_its_scores_without_bias() -> None:
    before, edited = run_edited(), run_edited(None, "decoder.0.self.scale[2]=scale:0.5")
    np.testing.assert_array_equal(before["decoder.0.self.scale"], np.full(4, 0.5, np.float32))
    scores, ours = before["decoder.0.self.scores"], edited["decoder.0.self.scores"]
    np.testing.assert_allclose(ours[2], scores[2] / 2, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ours[[0, 1, 3]], scores[[0, 1, 3]])
    shared = run_edited(None, "decoder.0.self.scores[2]=scale:0.5")
    np.testing.assert_allclose(edited[EDITED], shared[EDITED], rtol=1e-5, atol=1e-6)


OF_DISTANCES = ("rope", "rope-patches", "alibi", "relative", "disentangled")  # a text moved as a whole is the same
OF_PLACES = ("sinusoidal", "sinusoidal-halves", "learned", "relative-patches")


@pytest.mark.parametrize("position", sorted(set(POSITIONAL_ENCODINGS) - {"none"}))
def test_every_positional_encoding_follows_edited_position_ids(position: str) -> None:
    model = toys.decoder(positional_encoding=position)
    before, edited = run_edited(model), run_edited(model, "decoder.position_ids[5]=set:2")
    assert edited["decoder.position_ids"].tolist() == [0, 1, 2, 3, 4, 2, 6]
    assert np.abs(edited["logits"][5:] - before["logits"][5:]).max() > 1e-3
    np.testing.assert_array_equal(edited["logits"][:5], before["logits"][:5])  # earlier tokens do not see it
    np.testing.assert_array_equal(edited["decoder.0.self.mask"], before["decoder.0.self.mask"])
    moved = run_edited(model, "decoder.position_ids=add:3")
    distance = np.abs(moved["logits"] - before["logits"]).max()
    if position in OF_DISTANCES:
        assert distance < 1e-3
    if position in OF_PLACES:
        assert distance > 1e-3


@given(st.sampled_from(["sinusoidal", "sinusoidal-halves", "rope", "alibi"]), st.floats(0.05, 0.95))
def test_fractional_position_ids_where_the_encoding_allows_them(position: str, share: float) -> None:
    trace = run_edited(toys.decoder(positional_encoding=position), f"decoder.position_ids[5]=add:{share}")
    assert trace["decoder.position_ids"][5] == pytest.approx(5 + share)
    if position == "alibi":
        model = toys.decoder(positional_encoding=position)
        slopes = -run_edited(model)["decoder.0.self.bias"][:, 1, 0]
        np.testing.assert_allclose(trace["decoder.0.self.bias"][:, 5, 4], -slopes * (1 + share), rtol=1e-5)


@pytest.mark.parametrize(
    ("position", "edit", "message"),
    [
        (
            "learned",
            "decoder.position_ids[5]=set:2.5",
            "Token 5 cannot be at position 2.5: .* integer positions from 0 to 23",
        ),
        ("learned", "decoder.position_ids[5]=set:24", "from 0 to 23"),
        ("learned", "decoder.position_ids[1]=add:-2", "Token 1 cannot be at position −1"),
        ("relative", "decoder.position_ids[5]=set:2.5", "Relative .* has integer positions from -16,777,216"),
        ("disentangled", "decoder.position_ids[5]=set:0.5", "integer positions"),
        ("rope", "decoder.position_ids[5]=set:1e30", "position 1.00·10³⁰"),
        ("rope", "decoder.position_ids[7]=set:1", "asks for pos 7, but decoder.position_ids has 7"),
    ],
)
def test_a_position_id_out_of_range_gets_a_sentence(position: str, edit: str, message: str) -> None:
    with pytest.raises(EditError, match=message) as caught:
        run_edited(toys.decoder(positional_encoding=position), edit)
    assert str(caught.value).endswith(".")


def test_source_and_target_have_their_own_position_ids() -> None:
    def message(*edits: str) -> Trace:
        return run(toys.both(), toys.masked(), "a bird", edits, source=TEXT)

    before, edited = message(), message("encoder.position_ids[2]=set:5", "decoder.0.cross.scale[1]=set:0")
    assert edited["encoder.position_ids"][2] == 5
    np.testing.assert_array_equal(edited["decoder.position_ids"], before["decoder.position_ids"])
    weights = edited["decoder.0.cross.weights"]
    np.testing.assert_allclose(weights[1], 1 / weights.shape[-1], rtol=1e-5)
    assert np.abs(edited["encoder.final_residual"] - before["encoder.final_residual"]).max() > 1e-3
