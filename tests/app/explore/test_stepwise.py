"""Analyses that run step by step: heads switched off in turn, patches from another text, a search of heads."""

import json
import re
from typing import Any

import numpy as np
import pytest

from headlight.analysis.ablation import AblatedHead, AnswerLead, HeadSearch
from headlight.errors import HeadlightError
from headlight_app.explore.answers.analyses import stepwise
from headlight_app.explore.answers.analyses.head_search import outcome_words
from headlight_app.explore.answers.exchanged_word import example_to_patch_from
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_steps, ask_views, ask_worker, make_question
from tests.model import toys

TEXT = "the cat sat on the mat"
OTHER = "the dog sat on a mat"
OFF = "decoder.1.self.weights[3]=set:0"


def one_step(analysis: str, progress: object = "", **fields: Any) -> dict[str, Any]:
    """A step from a progress that a page sends."""
    text = progress if isinstance(progress, str) else json.dumps(progress)
    return ask_worker("analysis_step", analysis=analysis, model="next", text=TEXT, progress=text, **fields)[0]


@pytest.mark.parametrize("model", ["next", "masked", "mood"])
def test_heads_taken_away_change_what_the_edit_changes(model: str) -> None:
    stack = "decoder" if model == "next" else "encoder"
    views, _ = ask_steps("head_ablation", model=model, text=TEXT, query=3)
    table, ranked = views["matrix"], views["changes"]
    before = resolve(make_question(model, TEXT)).logits(3).astype(float)
    token = int(before.argmax())
    for head in range(4):
        edit = f"{stack}.1.self.weights[{head}]=set:0"
        row = resolve(make_question(model, TEXT, edits=(edit,))).logits(3).astype(float)
        change = [(each[token] - np.log(np.exp(each).sum())) / np.log(2) for each in (row, before)]
        assert table["values"][1][head] == pytest.approx(change[0] - change[1], abs=1e-4)
    assert table["picks"][1][2] == {"attention": f"{stack}.self", "layer": 1, "head": 2}
    assert re.fullmatch(r"[+−]?[\d.]+(·10⁻.)? bits, from [\d.]+ % to [\d.]+ %", table["details"][1][2])
    sizes = [abs(value) for _, value in ranked["parts"]]
    assert len(sizes) == 8 and sizes == sorted(sizes, reverse=True)


def test_the_head_of_an_attention_is_of_the_chosen_one() -> None:
    fields = {"model": "both", "text": TEXT, "source": "the dog", "query": 3}
    ours, theirs = (ask_steps("head_ablation", **fields, attention=name)[0]["matrix"] for name in ("", "decoder.cross"))
    assert ours["picks"][0][0]["attention"] == "decoder.self" and theirs["picks"][0][0]["attention"] == "decoder.cross"
    assert ours["values"] != theirs["values"]


def test_a_map_hands_back_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, _ = ask_steps("head_ablation", model="next", text=TEXT)
    monkeypatch.setattr(stepwise, "STEP_SECONDS", 0)
    monkeypatch.setattr("headlight.analysis.ablation.heads_per_batch", lambda trace: 3)
    slowly, answers = ask_steps("head_ablation", model="next", text=TEXT)
    assert [answer["done"] for answer in answers] == [3 / 8, 4 / 8, 7 / 8, 1]
    assert answers[0]["words"].startswith("3 of 8 heads; with all of them ")
    (row,) = answers[0]["rows"]
    assert row["views"][0]["values"][1] == ["NaN"] * 4 and row["views"][0]["details"][1] == [""] * 4
    np.testing.assert_allclose(slowly["matrix"]["values"], at_once["matrix"]["values"], atol=1e-6)


@pytest.mark.parametrize("model", ["next", "mood"])
@pytest.mark.parametrize(("patch", "path"), [("heads", "self.weighted_values"), ("residual", "residual")])
def test_a_patched_value_restores_what_the_edit_restores(model: str, patch: str, path: str) -> None:
    stack = "decoder" if model == "next" else "encoder"
    token = {"next": 7, "mood": 1}[model]  # not the answer of the other text
    choice = {"patch_from": OTHER, "patch": patch, "target_token": token, "query": 3}
    views, steps = ask_steps("patching", model=model, text=TEXT, choice=choice)
    table = views["matrix"]
    (edit,) = table["picks"][1][2]["toggle_edits"]
    assert edit == f"{stack}.1.{path}[2]=from:B"
    runs = (
        make_question(model, TEXT),
        make_question(model, OTHER),
        make_question(model, TEXT, edits=(edit,), patch_from=OTHER),
    )
    here, there, patched = (resolve(question).logits(3).astype(float) for question in runs)
    best = int(there.argmax())
    before, after, found = (each[best] - each[token] for each in (here, there, patched))
    assert table["values"][1][2] == pytest.approx((found - before) / (after - before), abs=1e-3)
    assert "in the other text" in steps[-1]["words"]


def test_patches_into_a_head_are_of_the_heads_before_it() -> None:
    choice = {"patch_from": OTHER, "patch": "k", "target_token": 7, "layer": 1, "head": 2}
    views, _ = ask_steps("patching", model="next", text=TEXT, choice=choice)
    assert "keys of layer 1, head 2" in views["matrix"]["title"] and len(views["matrix"]["values"]) == 1
    assert views["matrix"]["picks"][0][3] == {"attention": "decoder.self", "layer": 0, "head": 3}


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"patch_from": " "}, "another text with equally many tokens"),
        ({"patch_from": "a", "target_token": 7}, "have 7 and 2 tokens"),
        ({"patch_from": "the dog", "patch": "q", "layer": 0, "head": 3}, "layer 0 reads no earlier"),
    ],
)
def test_a_patch_that_cannot_be_made_gets_a_sentence(choice: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadlightError, match=said):
        one_step("patching", choice=choice)


def test_the_controls_of_patching_are_there_before_it_starts() -> None:
    kind, typed = ask_views("patching", model="next", text=TEXT, choice={"patch_from": OTHER, "layer": 1, "head": 2})
    assert kind["picks"][0] == {"patch": "heads"} and "queries of layer 1, head 2" in kind["options"][2]
    assert (typed["field"], typed["text"]) == ("patch_from", OTHER)


@pytest.mark.parametrize(
    ("model", "body"),
    [
        ("stories-masked", {"text": "The boy was tired, so [MASK] went to bed.", "query": 7}),
        ("sentiment", {"text": "brilliant actors, a dull script and far too long."}),
        ("translate", {"text": "Le chat noir dort.", "source": "The black cat sleeps.", "query": 1}),
    ],
)
def test_an_example_to_patch_from_exchanges_one_word_and_changes_the_answer(model: str, body: dict[str, Any]) -> None:
    views = ask_views("patching", model=model, **body)
    (text,) = (view["picks"][0]["patch_from"] for view in views if view["kind"] == "choice" and "Try" in str(view))
    position = body.pop("query", -1)
    asked = resolve(make_question(model, **body))
    other = asked.of_other_text(text)
    before, after = (each.trace.source or each.trace.text for each in (asked, other))
    assert sum(one != two for one, two in zip(before.ids, after.ids, strict=True)) == 1
    assert asked.logits(position).argmax() != other.logits(position).argmax()


def test_the_example_for_a_story_is_another_word_that_the_model_expects_there() -> None:
    found = [
        example_to_patch_from(resolve(make_question("stories-causal", text)), -1, -1)
        for text in ("A little boy named", "named")
    ]
    assert found == ["A little girl named", ""]


@pytest.mark.parametrize(
    ("model", "body"),
    [("next", {"query": 3}), ("next", {"edits": [OFF]}), ("masked", {"masked_positions": [3], "query": 3}),
     ("both", {"source": "the dog"}), ("mood", {})],
)  # fmt: skip
def test_the_heads_that_a_search_finds_are_edits_that_change_the_answer(model: str, body: dict[str, Any]) -> None:
    views, steps = ask_steps("head_search", model=model, text=TEXT, **body)
    found = json.loads(steps[-1]["progress"])
    made, position = body.pop("edits", []), body.pop("query", -1)
    body = {name: tuple(item) if isinstance(item, list) else item for name, item in body.items()}
    heads = [f"{head['path']}.weights[{head['head']}]=set:0" for head in found["heads"]]
    before, after = (
        resolve(make_question(model, TEXT, edits=tuple(edits), **body)).logits(position).astype(float)
        for edits in (made, [*made, *heads])
    )
    is_changed = before.argmax() != after.argmax()
    assert ("and no longer" in views["verdict"]["text"]) == is_changed
    if is_changed and heads:
        assert [*views["choice"]["picks"][0]["toggle_edits"]] == heads
    shares = views["bars"]["series"]["probability of the answer"]
    for logits, share in ((before, shares[0]), (after, shares[-1])):
        assert share == pytest.approx((np.exp(logits) / np.exp(logits).sum())[before.argmax()], abs=1e-4)
    assert len(views["bars"]["labels"]) == len(shares) == len(views["bars"]["picks"])


def test_a_search_hands_back_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    _, at_once = ask_steps("head_search", model="next", text=TEXT)
    monkeypatch.setattr(stepwise, "STEP_SECONDS", 0)
    _, slowly = ask_steps("head_search", model="next", text=TEXT)
    states = [json.loads(answer["progress"]) for answer in slowly]
    assert [(len(state["leads"]), state["tested"]) for state in states[:2]] == [(1, 0), (1, 4)]
    assert slowly[1]["words"] == "1st head: 4 of 8 tried" and slowly[1]["done"] == 0.5
    assert states[-1] == json.loads(at_once[-1]["progress"])


def test_a_label_that_is_not_true_any_more_is_not_replaced_by_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    question = resolve(make_question("mood", TEXT))
    lead = AnswerLead(log_probability=-1.0, margin=-0.1, likeliest=0)
    search = HeadSearch((AblatedHead("encoder.1.self", 2, -0.1),), (lead, lead))
    assert outcome_words(question, search, "sport").startswith("Without this head the answer is ")
    monkeypatch.setattr("headlight_app.explore.answers.analyses.head_search.problem_type_name", lambda _: "multi-label")
    said = "Without this head the label \u2068“sport”\u2069 has less than 50 %: the model no longer gives it."
    assert outcome_words(question, search, "sport") == said


@pytest.mark.parametrize("progress", ["no JSON", "{", "[" * 100_000, [1, "two"], {"a": 1}, [0.0] * 9])
@pytest.mark.parametrize("analysis", ["head_ablation", "head_search"])
def test_a_progress_that_was_never_sent_gets_a_sentence(analysis: str, progress: object) -> None:
    if analysis == "head_search" and progress == {"a": 1}:
        return  # unknown fields count as absent
    with pytest.raises(HeadlightError, match="Start it again"):
        one_step(analysis, progress)


LEAD = {"log_probability": -1, "margin": 1, "likeliest": 0}


@pytest.mark.parametrize(
    "state",
    [
        {"heads": [{"path": "", "head": 1, "margin": 0}], "leads": [LEAD]},
        {"heads": [{"path": "decoder.0.feed_forward", "head": 1, "margin": 0}], "leads": [LEAD]},
        {"best": {"path": "decoder.77.self", "head": 1, "margin": 0}},
        {"leads": [LEAD | {"likeliest": 10**9}]},
        {"leads": [LEAD | {"log_probability": 1e300}]},
        {"leads": [LEAD] * 3},
        {"tested": -3},
    ],
)
def test_the_state_of_a_search_that_cannot_be_gets_a_sentence(state: dict[str, Any]) -> None:
    with pytest.raises(HeadlightError, match="Start it again"):
        one_step("head_search", state)


def test_numbers_beyond_any_change_of_an_answer_are_shown_as_they_are() -> None:
    for number in (5_000, -5_000, float("inf"), float("nan")):
        answer = one_step("head_ablation", [number])
        assert answer["done"] == 1 and "%" in answer["words"]


def test_without_heads_or_answers_nothing_can_be_started() -> None:
    for config, said in (
        (toys.encoder(output_head="none").config, "no answer that its heads could change"),
        (toys.decoder(layers=0).config, "no heads to turn off"),
    ):
        with pytest.raises(HeadlightError, match=said):
            stepwise.require_heads(config)


def test_an_analysis_answers_only_at_its_own_routes() -> None:
    with pytest.raises(HeadlightError, match="no answer at the route analysis_step"):
        one_step("experts")
