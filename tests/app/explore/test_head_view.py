"""The picture of the chosen heads and its description."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from msgspec import structs

from headlight.analysis.head_metrics import head_metrics
from headlight.analysis.weight_importance import weighted_value_norm
from headlight.checkpoints import save
from headlight.errors import CheckpointError, EditError, TextError
from headlight.nn.transformer import Transformer
from headlight.rendering.show import NOWHERE
from headlight_app.contract.question import Question
from headlight_app.contract.state import State
from headlight_app.explore.answers.head_view import FORBIDDEN, LEFT_OUT, SHOWN, head_view
from headlight_app.explore.answers.heads import trace_reply
from headlight_app.inference.attention_payload import notes
from headlight_app.inference.examples import opening_examples
from headlight_app.inference.head_selection import _plainest_head, default_head
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat"
QUESTION = make_question("next", TEXT)
PAIR = make_question("masked", "the cat sat [SEP] the dog lay")


def weights(question: Question, layer: int, head: int) -> np.ndarray:
    stack = "encoder" if question.model in ("masked", "mood") else "decoder"
    found: np.ndarray = resolve(question).value(f"{stack}.{layer}.self.weights")[head]
    return found


def test_one_head_is_its_weights() -> None:
    made = head_view(resolve(QUESTION), State(layer=1, head=2))
    shown = made.cell_states == SHOWN
    assert np.array_equal(shown, np.tril(np.ones_like(shown)))
    assert np.array_equal(made.values[shown], weights(QUESTION, 1, 2)[shown])
    assert np.isnan(made.values[made.cell_states == FORBIDDEN]).all()
    assert list(made.colour_limits) == [0, 1]
    assert made.rows.labels == resolve(QUESTION).trace.text.token_texts


@pytest.mark.parametrize("choice", [State(), State(unit="words"), State(hide="first")], ids=("all", "words", "hidden"))
def test_a_column_has_what_sinks_take(choice: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = resolve(QUESTION).checkpoint
    model = Transformer(known.model.config.replace(**{"attention.sinks": True}))
    for path, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, std=1 if path.endswith("sinks") else 0.1)
    save(tmp_path / "drain", model, known.tokenizer)
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    resolved = resolve(make_question("drain", TEXT))
    made = head_view(resolved, structs.replace(choice, layer=1, head=2))
    assert (made.columns.labels[-1], made.columns.tokens[-1]) == (NOWHERE, ())
    whole = resolved.value("decoder.1.self.weights")[2]
    first = whole[1:, 0] if choice.hide else 0
    assert np.nansum(made.values, -1) + first == pytest.approx(np.ones(len(made.rows.labels)), abs=1e-5)
    assert not np.allclose(made.values[:, -1], made.values[0, -1]) and (whole.sum(-1) < 0.99).all()
    assert any("sink" in note for note in notes(resolved))
    renormalized = head_view(resolved, State(hide="first", renormalize="1"))
    assert NOWHERE not in renormalized.columns.labels


def test_scores_show_what_the_mask_takes_away() -> None:
    before, after = (head_view(resolve(QUESTION), State(quantity=name)) for name in ("scores", "masked_scores"))
    assert (before.cell_states == SHOWN).all()
    allowed = after.cell_states == SHOWN
    assert not allowed.all()
    assert np.array_equal(before.values[allowed], after.values[allowed])
    assert before.colour_limits[1] == before.values.max()


@pytest.mark.parametrize("kind", ["value_norm", "rollout", "gradient", "minus_head"])
@pytest.mark.parametrize("model", ["next", "masked", "both"])
def test_every_kind_has_a_picture_of_every_self_attention(kind: str, model: str) -> None:
    question = make_question(model, TEXT, source=TEXT if model == "both" else "")
    made = head_view(resolve(question), State(quantity=kind, layer=1, head=3))
    assert np.isfinite(made.values[made.cell_states == SHOWN]).all()
    assert np.abs(made.values[made.cell_states == SHOWN]).max() > 0
    low, high = made.colour_limits
    assert (low == -high) == made.quantity.signed


def test_the_mean_and_the_largest_of_heads_are_said_and_shown() -> None:
    heads = ("0.1", "1.3", "1.3", "9.9", "x")
    both = np.stack([weights(QUESTION, 0, 1), weights(QUESTION, 1, 3)])
    made = head_view(resolve(QUESTION), State(heads=heads))
    assert made.per_head.shape[0] == 2
    assert "mean of 2 heads" in made.rules
    shown = made.cell_states == SHOWN
    assert made.values[shown] == pytest.approx(both.mean(0)[shown])
    assert head_view(resolve(QUESTION), State(heads=heads, head_reduction="max")).values[shown] == pytest.approx(
        both.max(0)[shown]
    )


def test_hidden_tokens_leave_the_picture_with_or_without_renormalising() -> None:
    plain, sums = (head_view(resolve(QUESTION), State(hide="first", renormalize=rest)) for rest in ("", "1"))
    count = len(resolve(QUESTION).trace.text.ids)
    assert plain.rows.tokens == tuple((place,) for place in range(1, count))
    assert np.nansum(plain.values, -1) == pytest.approx(1 - weights(QUESTION, 0, 0)[1:, 0], abs=1e-5)
    assert np.nansum(sums.values, -1) == pytest.approx(np.ones(count - 1), abs=1e-5)
    assert "first token hidden, rows not renormalised" in plain.rules
    assert "first token hidden, rows renormalised" in sums.rules


def test_special_tokens_are_hidden_but_a_mask_is_not() -> None:
    made = head_view(resolve(make_question("masked", "the cat [MASK] on")), State(hide="special"))
    assert [name.strip() for name in made.rows.labels] == ["the", "cat", "[MASK]", "on"]
    with pytest.raises(EditError, match="All tokens of this text are hidden"):
        head_view(resolve(make_question("masked", "[SEP]")), State(hide="special"))


def test_words_are_sums_over_keys_and_means_over_queries() -> None:
    question = make_question("masked", "the sheat sat")
    made = head_view(resolve(question), State(unit="words"))
    parts = made.rows.tokens
    assert any(len(part) > 1 for part in parts), "this tokenizer splits the long word"
    whole = weights(question, 0, 0)
    by_hand = [[whole[np.ix_(row, column)].sum(1).mean() for column in parts] for row in parts]
    assert made.values == pytest.approx(np.array(by_hand), abs=1e-6)
    assert np.array_equal(
        head_view(resolve(question), State(unit="words", quantity="scores")).rows.tokens,
        [(i,) for i in range(len(whole))],
    )


def test_the_value_weighted_length_of_a_word_is_that_of_the_sum_of_its_vectors() -> None:
    question = make_question("masked", "the sheat sat")
    resolved = resolve(question)
    made = head_view(resolved, State(unit="words", quantity="value_norm", hide="special"))
    trace, path = resolved.trace_of("encoder.0.self.weights", "encoder.0.self.v"), "encoder.0.self"
    lengths = weighted_value_norm(resolved.model, trace, path, made.columns.tokens)[0]
    by_hand = [lengths[list(row)].mean(0) for row in made.rows.tokens]
    assert made.values == pytest.approx(np.array(by_hand), abs=1e-6)
    (word,) = (column for column, tokens in enumerate(made.columns.tokens) if len(tokens) > 1)
    sums = head_view(resolved, State(quantity="value_norm", hide="special")).values[:, 1:3].sum(-1)
    assert (made.values[0, word] < sums[0]).all(), "vectors of different directions partly cancel"
    assert "words: length of the vectors' sum over keys, mean over queries" in made.rules


def test_only_the_largest_weights_are_shown_and_the_rest_is_left_out() -> None:
    made = head_view(resolve(QUESTION), State(top_mass=60))
    full = weights(QUESTION, 0, 0)
    kept = np.where(made.cell_states == SHOWN, full, 0).sum(-1)
    assert (kept >= 0.6 - 1e-6).all()
    assert (made.cell_states == LEFT_OUT).any()
    assert "the largest of each row that make 60 %" in made.rules
    assert np.isnan(made.per_head[0][made.cell_states == LEFT_OUT]).all()


def test_a_pair_of_sentences_can_be_looked_at_by_its_parts() -> None:
    meta, _ = ask_worker("trace", model="masked", text=PAIR.text)
    assert meta["attention_groups"][0]["has_segments"]
    assert not trace_reply(resolve(QUESTION)).answer.attention_groups[0].has_segments
    made = head_view(resolve(PAIR), State(segments="a-b"))
    assert [name.strip() for name in made.rows.labels] == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    assert [name.strip() for name in made.columns.labels] == ["the", "dog", "lay", "[SEP]"]
    assert made.values == pytest.approx(weights(PAIR, 0, 0)[:5, 5:])
    assert "only A → B" in made.rules
    assert (
        head_view(resolve(QUESTION), State(segments="a-b")).rows.labels
        == head_view(resolve(QUESTION), State()).rows.labels
    )


def test_differences_to_a_head_a_text_and_the_model_as_trained() -> None:
    shown = head_view(resolve(QUESTION), State()).cell_states == SHOWN
    here = weights(QUESTION, 0, 0)
    made = head_view(resolve(QUESTION), State(quantity="minus_head", other_head="1.2"))
    assert made.values[shown] == pytest.approx((here - weights(QUESTION, 1, 2))[shown])
    assert "layer 1, head 2" in made.rules[0]
    other = "the dog sat on the mat"
    made = head_view(resolve(QUESTION), State(quantity="minus_text", other_text=other))
    assert made.values[shown] == pytest.approx((here - weights(make_question("next", other), 0, 0))[shown])
    edited = make_question("next", TEXT, edits=("decoder.0.self.weights[0]=set:0",))
    made = head_view(resolve(edited), State(quantity="minus_trained"))
    assert made.values[shown] == pytest.approx(-here[shown])
    assert not head_view(resolve(edited), State(quantity="minus_trained", head=1)).values[shown].any()


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (State(quantity="minus_trained"), "Nothing is changed yet"),
        (State(quantity="minus_text"), "as many tokens"),
        (State(quantity="minus_text", other_text="the cat"), "equally many tokens: this one has"),
    ],
)
def test_what_cannot_be_shown_is_said(state: State, sentence: str) -> None:
    with pytest.raises(EditError, match=sentence):
        head_view(resolve(QUESTION), state)


def test_rollout_of_a_model_without_residual_connections_says_so() -> None:
    made = head_view(resolve(make_question("ladder-1-attention", "the cat")), State(quantity="rollout"))
    assert any("no residual connections" in rule for rule in made.rules)
    weights = head_view(resolve(make_question("ladder-1-attention", "the cat")), State())
    np.testing.assert_allclose(made.values, weights.values, atol=1e-5)


def test_rollout_follows_a_text_through_itself_alone() -> None:
    question = make_question("both", "the cat", source=TEXT)
    made = head_view(resolve(question), State(quantity="rollout", layer=1))
    assert "without what attention to the source brings" in made.rules
    assert np.nansum(made.values, -1) == pytest.approx(np.ones(len(made.rows.labels)), abs=1e-5)
    with pytest.raises(EditError, match="its own attention"):
        head_view(resolve(question), State(quantity="rollout", attention="decoder.cross"))


def test_the_gradient_is_of_the_chosen_candidate() -> None:
    best = trace_reply(resolve(QUESTION)).answer.predictions[0].candidates
    first, second = (
        head_view(resolve(QUESTION), State(quantity="gradient", target_token=one)) for one in (-1, best[1].id)
    )
    assert f"log p of “{best[0].text.strip()}” after “mat”" in first.rules[0]
    assert f"log p of “{best[1].text.strip()}” after “mat”" in second.rules[0]
    assert not np.array_equal(first.values, second.values, equal_nan=True)
    of_label = head_view(resolve(make_question("mood", TEXT)), State(quantity="gradient", query=2)).rules[0]
    assert of_label.endswith("of the whole text")


def test_the_numbers_reach_the_browser_row_after_row() -> None:
    body: dict[str, Any] = {"model": "next", "text": TEXT, "heads": ["0.0", "1.1"], "top_mass": 80}
    meta, raw = ask_worker("head_view", **body, per_head=True)
    rows, columns = len(meta["rows"]["labels"]), len(meta["columns"]["labels"])
    cells = rows * columns
    assert meta["per_head"] == 2
    assert len(raw) == 4 * 3 * cells + cells
    numbers = np.frombuffer(raw[: 12 * cells], "<f4").reshape(3, rows, columns)
    made = head_view(resolve(QUESTION), State(heads=("0.0", "1.1"), top_mass=80))
    assert np.array_equal(numbers[0], made.values.astype(np.float32), equal_nan=True)
    assert np.array_equal(numbers[1:], made.per_head.astype(np.float32), equal_nan=True)
    assert np.array_equal(np.frombuffer(raw[12 * cells :], np.uint8).reshape(rows, columns), made.cell_states)
    alone, raw = ask_worker("head_view", **body)
    assert alone["per_head"] == 0 and len(raw) == 5 * cells


def test_points_and_metrics_reach_the_browser() -> None:
    meta, raw = ask_worker("qk_projection", **{"model": "next", "text": TEXT, "layer": 1, "head": 3})
    assert len(raw) == 4 * 2 * 2 * meta["queries"]
    assert 0 < sum(meta["explained_variance"]) <= 1 + 1e-6
    found, _ = ask_worker("head_metrics", **{"model": "next", "text": TEXT})
    assert found["metrics"] == ask_worker("trace", model="next", text=TEXT)[0]["attention_groups"][0]["metrics"]
    assert len(found["metrics"]["entropy"]) == 8
    assert found["metrics"]["next"] == [None] * 8  # masked
    cross, _ = ask_worker("head_metrics", **{"model": "both", "text": "", "source": TEXT, "attention": "decoder.cross"})
    assert set(cross["metrics"]) == {"entropy"}


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize(
    ("model", "attention"), [("next", ""), ("both", "decoder.cross"), ("both", "encoder.self"), ("masked", "")]
)
def test_the_weight_of_one_pair_is_that_of_each_head(
    model: str, attention: str, is_long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"model": model, "text": TEXT, "source": "the dog lay on the rug", "attention": attention}
    trace = resolve(make_question(model, TEXT, source=body["source"])).trace
    stack, kind = (attention or ("decoder.self" if model == "next" else "encoder.self")).split(".")
    wanted = trace.attention(kind, stack)[:, :, 4, 3]
    if is_long:
        monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", 0)
    found = np.frombuffer(ask_worker("query_key_weights", **body, **{"query": 4, "key": 3})[1], "<f4")
    assert found.reshape(wanted.shape) == pytest.approx(wanted, abs=1e-6)
    assert np.ptp(found) > 0


def test_a_masked_pair_has_no_weight_and_a_missing_token_gets_a_sentence() -> None:
    body: dict[str, Any] = {"model": "next", "text": TEXT}
    found = np.frombuffer(ask_worker("query_key_weights", **body, **{"query": 2, "key": 3})[1], "<f4")
    assert np.isnan(found).all() and len(found) == 8
    places: tuple[dict[str, Any], ...] = (
        {"query": 99, "key": 0, "said": "no token"},
        {"query": 0, "key": -1, "said": "key is -1; expected a whole number from 0"},
    )
    for place in places:
        with pytest.raises(TextError, match=place.pop("said")):
            ask_worker("query_key_weights", **body, **place)


def test_the_plainest_head_is_the_one_to_begin_with_whatever_is_typed_and_changed() -> None:
    entry = find_model("next")
    previous = head_metrics(resolve(make_question("next", opening_examples(entry)[0].text)).trace)["previous"]
    layer, head = default_head(entry)
    assert previous[layer, head] == previous.max()
    for page in ("explore_page", "generate_page"):
        assert ask_worker(page, model="next")[0]["default_head"] == [layer, head]


def test_a_model_that_cannot_be_opened_begins_with_the_first_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "headlight_app.inference.head_selection.open_model", Mock(side_effect=CheckpointError("It is broken."))
    )
    assert default_head(find_model("next")) == (0, 0), "the error appears when the model is used"


def test_nobody_waits_for_a_head_to_begin_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight_app.inference.attention_payload.MAX_METRIC_CELLS", 8)
    _plainest_head.cache_clear()
    assert default_head(find_model("next")) == (0, 0)
    _plainest_head.cache_clear()
