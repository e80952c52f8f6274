"""The views of the logit lens: the table of a window of tokens, the norms, the losses and the surprisal."""

from typing import Any

import numpy as np
import pytest

from headlight.views.kinds import four_digits
from headlight.views.rows import as_rows
from headlight.views.words import in_line, quoted
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.logit_lens import WINDOW
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.answers.lens.surprisal import mean_words
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from tests.app.asking import ask_views, ask_worker, make_question

TEXT = "the cat sat on the mat"
OFF = "decoder.1.self.weights[3]=set:0"


def lens(model: str = "next", text: str = TEXT, **fields: Any) -> dict[str, dict[str, Any]]:
    """The views by their titles."""
    return {view["title"]: view for view in ask_views("logit_lens", model=model, text=text, **fields)}


def explanation(model: str, **fields: Any) -> str:
    """The text above the table."""
    meta, _ = ask_worker("analysis", analysis="logit_lens", model=model, text=TEXT, **fields)
    return str(next(row["text"] for row in meta["rows"] if any(view["kind"] == "matrix" for view in row["views"])))


def resolved(model: str = "next", text: str = TEXT, **fields: Any) -> ResolvedQuestion:
    return resolve(make_question(model, text, **fields))


def saved(view: dict[str, Any], title: str) -> np.ndarray:
    return np.array(view["tables"][title]["values"], float)


def bits_of(view: dict[str, Any]) -> np.ndarray:
    return saved(view, "Surprisal")[:, 0]


def test_the_last_row_is_the_prediction_and_the_true_tokens_stand_below() -> None:
    table = lens()["Logit lens"]
    question = resolved()
    probabilities = question.trace_of("logits").probabilities(-1)
    assert table["rows"] == ["Embedding", "After layer 0", "The answer", "True next token"]
    assert saved(table, "Logit lens: probability of the likeliest")[-1, -1] == pytest.approx(probabilities.max())
    best = question.tokenizer.token_text(int(probabilities.argmax()))
    assert table["texts"][2][-1] == in_line(best) and table["details"][2][-1].startswith(quoted(best))
    assert table["texts"][3] == [*map(in_line, question.trace.text.token_texts[1:]), "?"]
    assert table["note"] == f"The answer, {quoted(question.trace.text.token_texts[-1])}: {table['details'][2][-1]}"
    assert "the final norm and the language-model head" in explanation("next")


def test_the_rank_of_the_true_token_is_written_beside_the_answer() -> None:
    table, question = lens()["Logit lens"], resolved()
    probabilities = question.trace_of("logits").probabilities(2)
    true = question.trace.text.ids[3]
    rank = 1 + int((probabilities > probabilities[true]).sum())
    assert table["cell_notes"][2][2] == f"#{rank}" and table["cell_notes"][2][-1] == ""
    assert table["details"][2][2].endswith(f" · true: {quoted(question.tokenizer.token_text(true))}, rank {rank}")
    assert saved(table, "Logit lens: rank of the true token")[2, 2] == rank


@pytest.mark.parametrize(("model", "masked"), [("stories-causal", False), ("stories-masked", True)])
def test_what_lenses_lose_is_said_to_be_of_masked_tokens(model: str, masked: bool) -> None:
    losses = lens(model, "The cat sat.")["What each lens loses"]
    assert ("masked tokens alone" in losses["note"]) == masked
    logit, tuned = saved(losses, "What the lenses lose").T
    assert (tuned < logit).all() and [row[0] for row in losses["rows"]][:2] == ["embedding", "after layer 0"]


def test_the_tuned_lens_is_chosen_where_there_is_one() -> None:
    tuned = lens("stories-causal", lens="tuned")["Tuned lens"]
    plain = lens("stories-causal")["Logit lens"]
    assert tuned["texts"][-2:] == plain["texts"][-2:], "the last depth is the model's own"
    assert tuned["values"][1] != plain["values"][1]
    assert explanation("stories-causal", lens="tuned").startswith("Tuned: an affine map")
    assert "Logit lens" in lens(lens="tuned"), "a model without a tuned lens has the other"


def test_a_classifier_has_a_column_for_the_whole_text() -> None:
    views = lens("mood")
    table = views["Logit lens"]
    assert list(views) == ["Logit lens", "Residual norm"], "labels have no surprisal"
    shares = np.exp(resolved("mood").logits(0).astype(float))
    shares /= shares.sum()
    assert table["columns"][0] == "whole text" and table["column_picks"][:2] == [{}, {"query": 0}]
    assert table["values"][-1][0] == pytest.approx(shares.max(), abs=1e-4)
    assert {part.split("”")[0][-4:].lstrip("“") for part in table["details"][-1][0].split(", ")} == {"glad", "sad"}
    assert {tuple(cell) for cell in table["marked"]} == {(depth, 0) for depth in range(3)}
    assert table["note"].startswith("The answer, whole text: ")
    assert "The head reads the first token" in explanation("mood") and "“whole text”" in explanation("mood")


def test_a_long_text_is_read_a_window_at_a_time() -> None:
    text = "the cat sat " * 13
    length = len(resolved(text=text).trace.text.ids)
    assert length > WINDOW
    first, last = lens(text=text, query=3), lens(text=text)
    assert [len(views["Logit lens"]["columns"]) for views in (first, last)] == [WINDOW, length - WINDOW]
    assert first[""]["picks"] == [{}, {"query": WINDOW}] and last[""]["picks"] == [{"query": WINDOW - 1}, {}]
    assert last["Logit lens"]["column_picks"][0] == {"query": WINDOW}
    (file_names, *_) = last["Logit lens"]["tables"].values()
    assert file_names["axes"]["token"][0] == f"{WINDOW} {resolved(text=text).trace.text.token_texts[WINDOW]}"
    assert len(last["Residual norm"]["series"]) == length - WINDOW + 1, "and the first token of the text"


def test_the_norm_of_the_asked_token_is_drawn_strong_and_last() -> None:
    norm, trace = lens(query=2)["Residual norm"], resolved().trace_of("decoder.1.residual")
    (strong,) = norm["strong"]
    assert strong == f"2 {trace.text.token_texts[2]}" and [*norm["series"]][-1] == strong
    assert norm["x_labels"] == ["emb.", "L0", "L1"]
    expected = float(np.linalg.norm(trace["decoder.1.residual"][2]))
    assert norm["series"][strong][1] == pytest.approx(expected, rel=1e-3)
    assert saved(norm, "Norms of the residual stream")[1, 2] == pytest.approx(expected)
    assert norm["note"].startswith(quoted(trace.text.token_texts[2]))


def test_a_click_masks_a_token_whose_truth_is_still_known() -> None:
    plain, views = lens("masked")["Logit lens"], lens("masked", masked_positions=[2])
    masked = views["Logit lens"]
    assert masked["rows"][-1] == "Original token" and masked["texts"][-1] == plain["texts"][-1]
    assert masked["texts"][-1][0] == masked["texts"][-1][-1] == "?", "[CLS] and [SEP] are no words"
    assert lens("masked", "the [MASK] sat")["Logit lens"]["texts"][-1][2] == "?"
    surprisal = views["How surprising each token was"]
    assert surprisal["note"].startswith("On average a masked token had a surprisal of ")
    question = resolved("masked")
    true = question.trace.text.ids[2]
    share = resolved("masked", masked_positions=(2,)).trace_of("logits").probabilities(2)[true]
    assert bits_of(surprisal)[2] == pytest.approx(-np.log2(share), abs=1e-4)
    assert "Unmasked tokens do not count" in surprisal["note"]
    assert lens("masked")["How surprising each token was"]["note"].startswith("Mask a token to see")


def test_the_surprisal_of_a_token_is_that_of_the_prediction_before_it() -> None:
    surprisal = lens()["How surprising each token was"]
    traced = resolved().trace_of("logits")
    shares = [traced.probabilities(place)[token] for place, token in enumerate(traced.text.ids[1:])]
    bits = bits_of(surprisal)
    assert np.isnan(bits[0]) and bits[1:] == pytest.approx(-np.log2(shares), abs=1e-4)
    assert surprisal["details"][0] == "its probability is unknown"
    assert surprisal["shades"][0] == 0 and surprisal["shades"][1] == pytest.approx(bits[1] / np.log2(1000), abs=1e-3)
    mean = (
        f"{bits[1:].mean():.3g} bits; the geometric mean of the probabilities is {100 * 2 ** -bits[1:].mean():.1f} %."
    )
    assert mean in surprisal["note"]


def test_the_surprisal_of_a_long_text_comes_later() -> None:
    text = "the cat sat " * 13
    row = ANALYSES["logit_lens"]
    assert row.compute and row.compute_long
    question = resolved(text=text)
    at_once = [view.title for each in as_rows(row.compute(question, State(query=3))) for view in each.views]
    assert "How surprising each token was" not in at_once
    (late,) = as_rows(row.compute_long(question, State()))
    assert late.views[0].title == "How surprising each token was"
    assert row.compute_long(resolved(), State()) == ()


def test_a_small_score_is_not_nothing() -> None:
    assert four_digits(np.array([3.00001e-5, -0.0123456])).tolist() == [3e-5, -0.01235]


def test_where_no_surprisal_is_known_there_is_no_mean() -> None:
    assert mean_words(resolved(), np.array([np.nan])) == ""


def test_a_long_text_has_all_of_it_without_kept_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = [OFF, "logits[3]=scale:2"]
    before = lens(edits=edits)
    monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", 0)
    monkeypatch.setattr("headlight_app.explore.answers.lens.surprisal.MAX_MULTIPLICATIONS", 1)
    assert resolved(edits=tuple(edits)).trace.logits is None
    after = lens(edits=edits)
    for title, name in (
        ("How surprising each token was", "Surprisal"),
        ("Logit lens", "Logit lens: probability of the likeliest"),
    ):
        assert saved(after[title], name) == pytest.approx(saved(before[title], name), abs=1e-5, nan_ok=True)
