"""The answer to a long text omits the weights; they are recomputed layer by layer on request, with equal values."""

import numpy as np
import pytest

from headlight.errors import EditError
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS
from headlight_app.contract.state import State
from headlight_app.explore.answers import head_view as subject
from headlight_app.explore.answers.head_view import FORBIDDEN, head_view
from headlight_app.explore.answers.quantities import QUANTITIES
from headlight_app.inference import resolved_question
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.resolved_question import resolve
from headlight_app.inference.trace_cache import trace_cache
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat and the dog ran"


QUESTION = make_question("next", TEXT)


def test_nothing_of_pairs_is_kept_and_predictions_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, codes = ask_worker("trace", model=QUESTION.model, text=TEXT)
    _everything_is_long(monkeypatch)
    found, empty = ask_worker("trace", model=QUESTION.model, text=TEXT)
    assert not [
        path for path in resolve(QUESTION).trace.values if path.rpartition(".")[2] in (*QUERY_KEY_HOOK_POINTS, "logits")
    ]
    for before, after in zip(usual["predictions"], found["predictions"], strict=True):
        assert [one["id"] for one in before["candidates"]] == [one["id"] for one in after["candidates"]]
        np.testing.assert_allclose(
            [one["after"] for one in before["candidates"]], [one["after"] for one in after["candidates"]], atol=1e-6
        )
    grid = found["attention_groups"][0]
    assert grid["pending"] and not usual["attention_groups"][0]["pending"] and set(empty) == {0}
    layers = [ask_worker("thumbnails", model=QUESTION.model, text=TEXT, layer=layer)[1] for layer in range(2)]
    made, kept = (np.frombuffer(part, np.uint8).astype(int) for part in (b"".join(layers), codes))
    assert np.abs(made - kept).max() <= 1  # of 255: rounding


def test_a_long_text_is_classified_like_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    question = make_question("mood", TEXT)
    (usual,) = predictions(resolve(question))
    _everything_is_long(monkeypatch)
    (made,) = predictions(resolve(question))
    assert [one.text for one in made.candidates] == [one.text for one in usual.candidates]
    assert [one.after for one in made.candidates] == pytest.approx([one.after for one in usual.candidates], abs=1e-6)


@pytest.mark.parametrize("kind", [name for name, quantity in QUANTITIES.items() if quantity.hook_point])
def test_the_region_that_is_looked_at_is_exact(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    zoomed = State(quantity=kind, layer=1, head=2, zoom="3-8/1-6")
    usual = head_view(resolve(QUESTION), zoomed)
    assert usual.rows.tokens == ((3,), (4,), (5,), (6,), (7,)) and usual.columns.tokens[0] == (1,)
    _everything_is_long(monkeypatch)
    made = head_view(resolve(QUESTION), zoomed)
    assert (made.rows.labels, made.rows.tokens) == (usual.rows.labels, usual.rows.tokens)
    np.testing.assert_array_equal(made.cell_states, usual.cell_states)
    np.testing.assert_allclose(made.values, usual.values, atol=1e-5)
    assert "queries 3 to 7, keys 1 to 5" in made.rules


@pytest.mark.parametrize("reduction", ["mean", "max"])
@pytest.mark.parametrize("quantity", [name for name, quantity in QUANTITIES.items() if quantity.hook_point])
def test_heads_with_different_masks_are_combined_as_those_of_a_short_text(
    quantity: str, reduction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = make_question("next", TEXT, edits=("decoder.0.self.mask[1,5,2]=set:0",))
    state = State(quantity=quantity, heads=("0.1", "0.2"), head_reduction=reduction)
    usual = head_view(resolve(question), state)
    _everything_is_long(monkeypatch)
    made = head_view(resolve(question), state)
    np.testing.assert_allclose(made.values, usual.values, atol=1e-5)
    assert np.nanmin(made.values) > -1e3, "a cell masked in one head does not count as a score"
    assert np.isfinite(made.values[5, 2])


def test_what_has_no_room_is_the_largest_of_its_block_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = head_view(resolve(QUESTION), State(head=1))
    _everything_is_long(monkeypatch)
    monkeypatch.setattr(subject, "MAX_SIDE_CELLS", 4)
    made = head_view(resolve(QUESTION), State(head=1))
    assert made.values.shape == (4, 4)
    for row, queries in enumerate(made.rows.tokens):
        for column, keys in enumerate(made.columns.tokens):
            block = exact.values[np.ix_(queries, keys)]
            if np.isnan(block).all():
                assert made.cell_states[row, column] == FORBIDDEN
            else:
                np.testing.assert_allclose(made.values[row, column], np.nanmax(block), atol=1e-5)
    size = -(-exact.values.shape[0] // 4)
    assert any(f"largest of up to {size} x {size}" in rule for rule in made.rules)


def test_what_a_long_text_cannot_show_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    _everything_is_long(monkeypatch)
    with pytest.raises(EditError, match="only these can be shown: weights, scores, masked scores"):
        head_view(resolve(QUESTION), State(quantity="rollout"))
    with pytest.raises(EditError, match="Select at most 4"):
        head_view(resolve(QUESTION), State(heads=("0.0", "0.1", "0.2", "0.3", "1.0")))


@pytest.mark.parametrize("window", ["", "x", "5-3/0-2", "90-95/0-3", "1-2"])
def test_a_window_that_makes_no_sense_is_no_window(window: str) -> None:
    assert (
        head_view(resolve(QUESTION), State(zoom=window)).values.shape
        == head_view(resolve(QUESTION), State()).values.shape
    )


def _everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolved_question, "MAX_WEIGHTS_BYTES", 0)
    trace_cache.cache_clear()
    resolved_question._kept_logits.cache_clear()
