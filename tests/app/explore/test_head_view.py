"""The picture of the chosen heads says what it shows, and shows it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.explore.api import metrics_work, points_work, view_work
from app.explore.head_view import FORBIDDEN, LEFT_OUT, SHOWN, view
from app.explore.quantities import KINDS
from app.packing import unpack
from app.services.attention_payload import answer
from app.services.head_selection import plain
from app.services.traces import trace, value
from app.state.state import VIEWS, Question, State
from model.analysis.head_metrics import head_metrics
from model.errors import EditError

TEXT = "the cat sat on the mat"
QUESTION = Question("next", TEXT)
PAIR = Question("masked", "the cat sat [SEP] the dog lay")


def weights(question: Question, layer: int, head: int) -> np.ndarray:
    stack = "encoder" if question.model in ("masked", "mood") else "decoder"
    found: np.ndarray = value(question, f"{stack}.{layer}.self.weights")[head]
    return found


def test_the_address_knows_everything_that_can_be_shown() -> None:
    assert set(VIEWS) == set(KINDS)


def test_one_head_is_its_weights() -> None:
    made = view(QUESTION, State(layer=1, head=2))
    shown = made.states == SHOWN
    assert np.array_equal(shown, np.tril(np.ones_like(shown)))
    assert np.array_equal(made.numbers[shown], weights(QUESTION, 1, 2)[shown])
    assert np.isnan(made.numbers[made.states == FORBIDDEN]).all()
    assert list(made.limits) == [0, 1]
    assert made.rows.names == trace(QUESTION).text.pieces


def test_scores_show_what_the_mask_takes_away() -> None:
    before, after = (view(QUESTION, State(view=name)) for name in ("scores", "masked"))
    assert (before.states == SHOWN).all()
    allowed = after.states == SHOWN
    assert not allowed.all()
    assert np.array_equal(before.numbers[allowed], after.numbers[allowed])
    assert before.limits[1] == before.numbers.max()


@pytest.mark.parametrize("kind", ["moved", "rollout", "gradient", "head"])
@pytest.mark.parametrize("model", ["next", "masked", "both"])
def test_every_kind_has_a_picture_of_every_self_attention(kind: str, model: str) -> None:
    question = Question(model, TEXT, source=TEXT if model == "both" else "")
    made = view(question, State(view=kind, layer=1, head=3))
    assert np.isfinite(made.numbers[made.states == SHOWN]).all()
    assert np.abs(made.numbers[made.states == SHOWN]).max() > 0
    low, high = made.limits
    assert (low == -high) == made.kind.signed


def test_the_mean_and_the_largest_of_heads_are_said_and_shown() -> None:
    heads = ("0.1", "1.3", "1.3", "9.9", "x")
    both = np.stack([weights(QUESTION, 0, 1), weights(QUESTION, 1, 3)])
    made = view(QUESTION, State(heads=heads))
    assert made.each.shape[0] == 2
    assert "mean of 2 heads" in made.said
    shown = made.states == SHOWN
    assert made.numbers[shown] == pytest.approx(both.mean(0)[shown])
    assert view(QUESTION, State(heads=heads, rule="largest")).numbers[shown] == pytest.approx(both.max(0)[shown])


def test_hidden_tokens_leave_the_picture_with_or_without_renormalising() -> None:
    plain, sums = (view(QUESTION, State(hide="first", rest=rest)) for rest in ("as-is", "renormalised"))
    count = len(trace(QUESTION).text.ids)
    assert plain.rows.tokens == tuple((place,) for place in range(1, count))
    assert np.nansum(plain.numbers, -1) == pytest.approx(1 - weights(QUESTION, 0, 0)[1:, 0], abs=1e-5)
    assert np.nansum(sums.numbers, -1) == pytest.approx(np.ones(count - 1), abs=1e-5)
    assert "first token hidden, rows not renormalised" in plain.said
    assert "first token hidden, rows renormalised" in sums.said


def test_special_tokens_are_hidden_but_a_mask_is_not() -> None:
    made = view(Question("masked", "the cat [MASK] on"), State(hide="special"))
    assert [name.strip() for name in made.rows.names] == ["the", "cat", "[MASK]", "on"]
    with pytest.raises(EditError, match="Everything is hidden"):
        view(Question("masked", "[SEP]"), State(hide="special"))


def test_words_are_sums_over_keys_and_means_over_queries() -> None:
    question = Question("masked", "the sheat sat")
    made = view(question, State(unit="words"))
    parts = made.rows.tokens
    assert any(len(part) > 1 for part in parts), "this tokenizer cuts the long word"
    whole = weights(question, 0, 0)
    by_hand = [[whole[np.ix_(row, column)].sum(1).mean() for column in parts] for row in parts]
    assert made.numbers == pytest.approx(np.array(by_hand), abs=1e-6)
    assert np.array_equal(
        view(question, State(unit="words", view="scores")).rows.tokens, [(i,) for i in range(len(whole))]
    )


def test_only_the_largest_weights_are_shown_and_the_rest_is_left_out() -> None:
    made = view(QUESTION, State(mass=60))
    full = weights(QUESTION, 0, 0)
    kept = np.where(made.states == SHOWN, full, 0).sum(-1)
    assert (kept >= 0.6 - 1e-6).all()
    assert (made.states == LEFT_OUT).any()
    assert "the largest of each row that make 60 %" in made.said
    assert np.isnan(made.each[0][made.states == LEFT_OUT]).all()


def test_a_pair_of_sentences_can_be_looked_at_by_its_parts() -> None:
    meta, _ = answer(PAIR)
    assert meta["grids"][0]["pairs"]
    assert not answer(QUESTION)[0]["grids"][0]["pairs"]
    made = view(PAIR, State(pair="a-b"))
    assert [name.strip() for name in made.rows.names] == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    assert [name.strip() for name in made.columns.names] == ["the", "dog", "lay", "[SEP]"]
    assert made.numbers == pytest.approx(weights(PAIR, 0, 0)[:5, 5:])
    assert "only A → B" in made.said
    assert view(QUESTION, State(pair="a-b")).rows.names == view(QUESTION, State()).rows.names


def test_differences_to_a_head_a_text_and_the_model_as_trained() -> None:
    shown = view(QUESTION, State()).states == SHOWN
    here = weights(QUESTION, 0, 0)
    made = view(QUESTION, State(view="head", versus="1.2"))
    assert made.numbers[shown] == pytest.approx((here - weights(QUESTION, 1, 2))[shown])
    assert "layer 1, head 2" in made.said[0]
    other = "the dog sat on the mat"
    made = view(QUESTION, State(view="text", other=other))
    assert made.numbers[shown] == pytest.approx((here - weights(Question("next", other), 0, 0))[shown])
    edited = Question("next", TEXT, edits=("decoder.0.self.weights[0]=set:0",))
    made = view(edited, State(view="trained"))
    assert made.numbers[shown] == pytest.approx(-here[shown])
    assert not view(edited, State(view="trained", head=1)).numbers[shown].any()


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (State(view="trained"), "Nothing is changed yet"),
        (State(view="text"), "as many tokens"),
        (State(view="text", other="the cat"), "equally many: this one has"),
    ],
)
def test_what_cannot_be_shown_is_said(state: State, told: str) -> None:
    with pytest.raises(EditError, match=told):
        view(QUESTION, state)


def test_rollout_follows_a_text_through_itself_alone() -> None:
    question = Question("both", "the cat", source=TEXT)
    made = view(question, State(view="rollout", layer=1))
    assert np.nansum(made.numbers, -1) == pytest.approx(np.ones(len(made.rows.names)), abs=1e-5)
    with pytest.raises(EditError, match="its own attention"):
        view(question, State(view="rollout", attention="decoder.cross"))


def test_the_gradient_is_of_the_chosen_candidate() -> None:
    best = answer(QUESTION)[0]["predictions"][0]["candidates"]
    first, second = (view(QUESTION, State(view="gradient", target=one)) for one in (-1, best[1]["id"]))
    assert f"log p of “{best[0]['piece'].strip()}” after “mat”" in first.said[0]
    assert f"log p of “{best[1]['piece'].strip()}” after “mat”" in second.said[0]
    assert not np.array_equal(first.numbers, second.numbers, equal_nan=True)


def test_the_numbers_reach_the_browser_row_after_row() -> None:
    body: dict[str, Any] = {"model": "next", "text": TEXT, "heads": ["0.0", "1.1"], "mass": 80}
    meta, raw = unpack(view_work({**body, "each": True}))
    rows, columns = len(meta["rows"]["names"]), len(meta["columns"]["names"])
    cells = rows * columns
    assert meta["each"] == 2
    assert len(raw) == 4 * 3 * cells + cells
    numbers = np.frombuffer(raw[: 12 * cells], "<f4").reshape(3, rows, columns)
    made = view(QUESTION, State(heads=("0.0", "1.1"), mass=80))
    assert np.array_equal(numbers[0], made.numbers.astype(np.float32), equal_nan=True)
    assert np.array_equal(numbers[1:], made.each.astype(np.float32), equal_nan=True)
    assert np.array_equal(np.frombuffer(raw[12 * cells :], np.uint8).reshape(rows, columns), made.states)
    alone, raw = unpack(view_work(body))
    assert alone["each"] == 0 and len(raw) == 5 * cells


def test_points_and_metrics_reach_the_browser() -> None:
    meta, raw = unpack(points_work({"model": "next", "text": TEXT, "layer": 1, "head": 3}))
    assert len(raw) == 4 * 2 * 2 * meta["queries"]
    assert 0 < sum(meta["shares"]) <= 1 + 1e-6
    found, _ = unpack(metrics_work({"model": "next", "text": TEXT}))
    assert found["metrics"] == answer(QUESTION)[0]["grids"][0]["metrics"]
    assert len(found["metrics"]["entropy"]) == 8
    assert found["metrics"]["next"] == [None] * 8  # which the mask forbids
    cross, _ = unpack(metrics_work({"model": "both", "text": "", "source": TEXT, "attention": "decoder.cross"}))
    assert set(cross["metrics"]) == {"entropy"}


def test_the_plainest_head_is_the_one_to_begin_with() -> None:
    previous = head_metrics(trace(QUESTION))["previous"]
    assert previous[plain(QUESTION, State())] == previous.max()
    assert plain(replace(QUESTION, edits=("nowhere=set:0",)), State()) == (0, 0), "whoever shows it says what is wrong"


def test_nobody_waits_for_a_head_to_begin_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.services.attention_payload.MEASURED", 8)
    assert plain(QUESTION, State()) == (0, 0)
