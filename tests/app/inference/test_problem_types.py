"""The page gets probabilities of each label by itself, or scores, and the word for what it gets."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight.problem_types import PROBLEM_TYPES
from headlight.views.words import digits, three_digits
from headlight_app.explore.answers.export.worksheet import worksheet
from headlight_app.explore.answers.layer_analysis import answer_number
from headlight_app.explore.contract import ExportWorksheetRequest
from headlight_app.inference.resolved_question import resolve
from headlight_app.tasks.answers.classify import label_effects
from headlight_app.tasks.answers.labels import LabelShares, label_shares, likeliest
from headlight_app.tasks.answers.tag import NONE, below
from tests.app.asking import ask_steps, ask_views, ask_worker, make_question, make_request
from tests.app.conftest import PROBLEMS, save_toys

TEXT, OFF = "the cat sat on the mat", "encoder.1.self.weights[2]=set:0"
MEANINGS = {name: toy.problem_type if len(toy.labels) > 1 else "multi-label" for name, toy in PROBLEMS.items()}
MEANINGS["rating"] = "regression"


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toys(tmp_path_factory.mktemp("problems"), PROBLEMS)


@pytest.fixture(autouse=True)
def known_too(known: None, problems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_MODELS", os.pathsep.join([os.environ["HEADLIGHT_MODELS"], str(problems)]))


def ask(route: str, model: str, **fields: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = ask_worker(route, model=model, **{"text": TEXT, **fields})
    return meta, np.frombuffer(numbers, "<f4") if len(numbers) % 4 == 0 else np.zeros(0)


def logits(model: str, position: int = 0, **fields: Any) -> np.ndarray:
    return resolve(make_question(model, TEXT, **fields)).logits(position).astype(np.float64)


def value(meaning: str, logit: np.ndarray) -> np.ndarray:
    return logit if meaning == "regression" else 1 / (1 + np.exp(-logit))


@pytest.mark.parametrize(("model", "meaning"), MEANINGS.items())
def test_a_prediction_has_the_numbers_of_its_meaning_before_and_after(model: str, meaning: str) -> None:
    meta, _ = ask("trace", model, edits=[OFF], query=0)
    (prediction,) = meta["predictions"]
    assert (prediction["problem_type"], prediction["lesson"]) == (meaning, PROBLEM_TYPES[meaning].lesson)
    before, after = logits(model), logits(model, edits=(OFF,))
    for each in prediction["candidates"]:
        assert each["before"] == pytest.approx(value(meaning, before[each["id"]]), abs=1e-5)
        assert each["after"] == pytest.approx(value(meaning, after[each["id"]]), abs=1e-5)
        assert each.get("score") == (None if meaning == "regression" else pytest.approx(after[each["id"]], abs=1e-5))


def test_labels_that_exclude_each_other_and_tokens_are_sent_as_before() -> None:
    for model in ("mood", "next"):
        (prediction,) = ask("trace", model)[0]["predictions"]
        assert prediction.get("problem_type", "single-label") == "single-label" and not prediction.get("lesson")
        assert all(each.get("score") is None for each in prediction["candidates"])


@pytest.mark.parametrize(("model", "meaning"), MEANINGS.items())
def test_the_last_row_of_the_lens_is_the_answer(model: str, meaning: str) -> None:
    table, *_ = ask_views("logit_lens", model=model, text=TEXT)
    expected = value(meaning, logits(model))
    (numbers,) = table["tables"].values()
    assert numbers["values"][-1][0] == pytest.approx(expected.max(), abs=1e-5)
    assert table["colours"] == ("signed" if meaning == "regression" else "shares")
    config = resolve(make_question(model, TEXT)).config
    assert all(answer_number(config, float(number)) in table["details"][-1][0] for number in expected)


@pytest.mark.parametrize(("model", "meaning"), MEANINGS.items())
def test_a_head_off_changes_a_score_or_a_log_probability(model: str, meaning: str) -> None:
    views, steps = ask_steps("head_ablation", model=model, text=TEXT, target_token=0, query=0)
    change = views["matrix"]["values"][1][2]
    before, after = logits(model)[0], logits(model, edits=(OFF,))[0]
    if meaning == "multi-label":
        before, after = (-np.logaddexp(0, -each) / np.log(2) for each in (before, after))
    assert change == pytest.approx(after - before, abs=1e-5)
    assert ("bits" in views["matrix"]["title"], "%" in steps[-1]["words"]) == (2 * (meaning != "regression",))


@pytest.mark.parametrize(("model", "last"), [("stars", "logits"), ("topics", "sigmoid"), ("replaced", "sigmoid")])
def test_the_steps_end_with_the_numbers_of_the_answer(model: str, last: str) -> None:
    meta, numbers = ask("walkthrough", model, attention="encoder.1.self", head=0, query=0)
    assert meta["steps"][-1]["name"] == last
    (prediction,) = ask("trace", model, query=0)[0]["predictions"]
    shown = {each["id"]: each["after"] for each in prediction["candidates"]}
    found = numbers[-len(meta["answers"]) :]
    assert found.tolist() == pytest.approx([shown[each["id"]] for each in meta["answers"]], abs=1e-4)


@pytest.mark.parametrize(("model", "meaning"), [(name, each) for name, each in MEANINGS.items() if name != "replaced"])
def test_rankings_and_effects_are_of_the_answers_own_numbers(model: str, meaning: str) -> None:
    _, _, deletion, _ = ask_views("token_rankings", model=model, text=TEXT, target_token=0)
    expected = value(meaning, logits(model)[0])
    assert [curve[0] for curve in deletion["series"].values()] == pytest.approx([expected] * 5, abs=1e-4)
    assert deletion["y_title"].startswith("score of" if meaning == "regression" else "probability of")
    effects = label_effects(resolve(make_question(model, TEXT)), 0)
    assert effects.all == pytest.approx(logits(model)[0], abs=1e-4)
    shown = ask_views("classify", model=model, text=TEXT, target_token=0)[0]
    assert shown["as_percent"] == (meaning != "regression")
    assert shown["series"]["now"][shown["marked"]] == pytest.approx(expected, abs=1e-4)


def test_a_token_without_a_label_is_said_to_have_none() -> None:
    resolved = resolve(make_question("replaced", TEXT))
    shares = label_shares(resolved)
    numbers = [logits("replaced", position)[0] for position in range(len(shares.after))]
    assert min(numbers) < 0 < max(numbers), "some tokens are replaced, some are not"
    assert [likeliest(resolved, row) for row in shares.before] == [
        "replaced" if number >= 0 else "" for number in numbers
    ]
    assert shares.after[:, 0] == pytest.approx(value("multi-label", np.array(numbers)), abs=1e-5)


def test_a_label_that_excludes_no_other_is_named_if_it_is_likelier_than_not() -> None:
    def shown(after: float, before: float) -> tuple[str, str]:
        resolved = resolve(make_question("replaced", TEXT))
        shares = LabelShares(np.array([[before]], "<f4"), np.array([[after]], "<f4"))
        return likeliest(resolved, shares.after[0]) or NONE, below(resolved, shares, 0)

    assert shown(0.7, 0.8) == ("replaced", "70.0 %")
    assert shown(0.2, 0.1) == (NONE, "replaced 20.0 %")
    assert shown(0.2, 0.7) == (NONE, "was replaced")
    assert shown(0.7, 0.2) == ("replaced", "was –")


def test_two_models_are_compared_without_a_distance_between_scores() -> None:
    sides = [{"model": name, "text": TEXT} for name in ("stars", "rating")]
    meta, _ = ask_worker("compare", sides=sides)
    (row,) = meta["rows"]
    (view,) = row["views"]
    assert "distance" not in row["text"] and view["note"] == "Scores." and not view["as_percent"]
    shown = dict(zip(view["labels"], zip(*view["series"].values(), strict=True), strict=True))
    assert shown["stars"] == (pytest.approx(logits("stars")[0], abs=1e-5), "NaN")
    assert shown["rating"] == ("NaN", pytest.approx(logits("rating")[0], abs=1e-5))


def test_a_score_beside_a_probability_has_no_bar() -> None:
    meta, _ = ask_worker("compare", sides=[{"model": name, "text": TEXT} for name in ("stars", "mood")])
    ((view,),) = (row["views"] for row in meta["rows"])
    assert view["kind"] == "table" and view["columns"] == ["answer", "A", "B"]
    assert view["note"] == "A: scores · B: probabilities"
    cells = {name: numbers for name, *numbers in view["rows"]}
    assert cells["stars"] == [digits(logits("stars")[0], 4), "cannot"]
    assert cells["glad"][0] == "cannot" and cells["glad"][1].endswith(" %")


def test_a_search_of_heads_says_why_scores_have_none() -> None:
    with pytest.raises(Exception, match="scores, which do not take each other's place"):
        ask_steps("head_search", model="stars", text=TEXT)


def test_a_worksheet_calls_a_score_a_score() -> None:
    fields = {
        "model": "rating",
        "text": TEXT,
        "figure": "<svg/>",
        "link": "https://example.org/",
        "omitted": "",
        "line": "",
    }
    request = make_request("export_worksheet", **fields)
    assert isinstance(request, ExportWorksheetRequest)
    html = worksheet(resolve(make_question("rating", TEXT)), request)
    assert f"The model&#x27;s highest scores (label): “rating” {three_digits(logits('rating')[0])}." in html
