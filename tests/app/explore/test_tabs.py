"""Requests of the tabs "Steps" and "Layers": numbers of the trace, or a message if there are none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight.errors import HeadlightError
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.views.words import three_digits
from headlight_app.explore.answers.step_code import attention_step_code, prediction_step_code
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_views, ask_worker, make_question
from tests.sampling import each_once

SOURCES = Path(__file__).parents[3] / "model"
TEXT = "the cat sat on the mat"
OFF = "decoder.1.self.weights[3]=set:0"


def ask(route: str, model: str = "next", text: str = TEXT, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = ask_worker(route, model=model, text=text, **body)
    return meta, np.frombuffer(numbers, "<f4")


def split(meta: dict[str, Any], numbers: np.ndarray) -> dict[str, list[np.ndarray]]:
    """The values of each step, split as in the browser."""
    found, start = {}, 0
    for step in meta["steps"]:
        counts = [value["count"] for value in step["values"]]
        found[step["name"]] = [
            numbers[start + sum(counts[:i]) : start + sum(counts[: i + 1])] for i in range(len(counts))
        ]
        start += sum(counts)
    assert start == len(numbers)
    return found


def test_the_steps_of_a_head_are_those_of_the_trace() -> None:
    meta, numbers = ask("walkthrough", attention="decoder.1.self", head=2, query=4, key=1)
    values = split(meta, numbers)
    weights = resolve(make_question("next", TEXT)).trace["decoder.1.self.weights"]
    assert values["weights"][-1] == pytest.approx(weights[2, 4])
    assert values["weighted-sum"][0] == pytest.approx(weights[2, 4, 1])
    shapes = {shape["hook_point"]: shape["sizes"] for step in meta["steps"] for shape in step["shapes"]}
    assert shapes["weights"] == list(weights.shape)
    assert "“on” asks (i), and “the” is looked at (j)" in meta["steps"][0]["explanation"]


@pytest.mark.parametrize("model", ["next", "both", "masked", "mood", "tags"])
def test_the_steps_end_in_the_predictions_of_the_page(model: str) -> None:
    text = {"masked": "the cat [MASK] on the mat"}.get(model, TEXT)
    question: dict[str, Any] = {"text": text} | ({"source": "the dog"} if model == "both" else {})
    stack = resolve(make_question(model, **question)).config.stacks[-1]
    (shown, *_) = ask("trace", model, **question)[0]["predictions"]
    meta, numbers = ask("walkthrough", model, **question, attention=f"{stack}.1.self", query=shown["position"])
    shares = split(meta, numbers)["probabilities"][-1]
    count = len(shown["candidates"])
    assert [each["id"] for each in meta["answers"]][:count] == [each["id"] for each in shown["candidates"]]
    assert [each["text"] for each in meta["answers"]][:count] == [each["text"] for each in shown["candidates"]]
    assert shares[:count] == pytest.approx([each["after"] for each in shown["candidates"]], abs=1e-6)
    code = ask("step_code", model, **question, attention=f"{stack}.1.self")[0]["code"]
    last = [step["name"] for step in meta["steps"] if step["part"] == "prediction"]
    assert last[0] == "last-layer" and all(code[name] for name in last)


def test_a_source_predicts_nothing_and_an_answer_that_does_not_exist_is_the_likeliest() -> None:
    meta, _ = ask("walkthrough", "both", source="the dog lay", attention="encoder.0.self", token=3)
    assert meta["answers"] == [] and meta["answer"] == -1
    assert {step["part"] for step in meta["steps"]} == {"head", "network"}
    assert ask("walkthrough", attention="decoder.0.self", token=10**6)[0]["answer"] == 0


def test_the_key_that_nobody_chose_is_the_one_looked_at_most() -> None:
    meta, _ = ask("walkthrough", attention="decoder.0.self", head=1)
    row = resolve(make_question("next", TEXT)).trace["decoder.0.self.weights"][1, -1]
    assert (meta["query"], meta["key"]) == (len(row) - 1, int(row.argmax()))


@pytest.mark.parametrize("attention", ["decoder.1.self", "decoder.1.cross", "encoder.0.self"])
def test_every_attention_of_an_encoder_decoder_has_steps(attention: str) -> None:
    meta, numbers = ask("walkthrough", "both", source="the dog lay on the rug", attention=attention, query=2, key=3)
    assert meta["steps"][0]["name"] == "input"
    assert np.isfinite(numbers[~np.isneginf(numbers)]).all()
    assert ask("step_code", "both", source="the dog", attention=attention)[0]["code"]["weights"]


@pytest.mark.parametrize(("kernel", "position"), each_once(ATTENTION_FUNCTIONS, POSITIONAL_ENCODINGS))
def test_each_step_shows_the_lines_that_run(kernel: str, position: str) -> None:
    model = resolve(make_question("next", TEXT, attention_function=kernel, positional_encoding=position)).model
    meta, _ = ask("walkthrough", attention_function=kernel, positional_encoding=position, attention="decoder.0.self")
    found = attention_step_code(model, "decoder.0.self") | prediction_step_code(model)
    for step in meta["steps"]:
        assert found[step["name"]], step["name"]
        assert step["explanation"]
    for mark, name in {'hook("q"': "project", "attention_function.score(": "sum", 'hook("scale"': "scale",
                       'hook("mask"': "mask", 'hook("weights"': "weights", "dropped @": "weighted-sum",
                       'hook("output"': "output"}.items():  # fmt: skip
        assert any(mark in piece.code for piece in found[name]), mark
    for listed in found.values():
        for piece in listed:
            file, _, line = piece.location.rpartition(" · ")[2].partition(", line ")
            with (SOURCES / file).open(encoding="utf-8") as source:
                assert source.read().splitlines()[int(line) - 1].strip() == piece.code.splitlines()[0].strip()


def test_each_token_goes_to_the_experts_with_the_largest_shares() -> None:
    (table,) = ask_views("experts", model="tags", text=TEXT)
    experts, shares = (np.array(saved["values"]) for saved in table["tables"].values())
    traced = resolve(make_question("tags", TEXT)).trace_of("*.router_weights")
    for layer, (chosen, told) in enumerate(zip(experts, shares, strict=True)):
        expected = traced[f"encoder.{layer}.feed_forward.router_weights"]
        assert np.take_along_axis(expected, chosen, 1) == pytest.approx(told)
        assert told.sum(1) == pytest.approx(1) and (np.diff(told) <= 0).all()
    assert table["texts"][1][2].startswith(" · ".join(map(str, experts[1, 2])))
    assert table["details"][1][2].startswith(f"expert {experts[1, 2, 0]} × {three_digits(shares[1, 2, 0])}, ")
    assert table["column_picks"][2] == {"query": 2}
    with pytest.raises(HeadlightError, match="has no experts"):
        ask_views("experts", model="next", text=TEXT)


def test_long_work_is_not_done_in_the_lane_of_keystrokes() -> None:
    for analysis, sentence in (("token_rankings", "no answer"), ("head_removal", "no answer"), ("no_such", "Known:")):
        with pytest.raises(HeadlightError, match=sentence):
            ask("analysis", analysis=analysis)


def test_a_long_text_has_all_of_it_without_kept_weights_or_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    edited: dict[str, Any] = {"edits": [OFF, "logits[3]=scale:2"]}
    bodies: dict[str, dict[str, Any]] = {
        "walkthrough": {"attention": "decoder.1.self", "query": 3},
        "logit_attribution": {"query": 3},
    }
    before = {route: ask(route, **edited, **body) for route, body in bodies.items()}
    monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", 0)
    kept = resolve(make_question("next", TEXT, edits=tuple(edited["edits"]))).trace
    assert kept.logits is None and "decoder.0.self.weights" not in kept.values
    for route, body in bodies.items():
        _, numbers = ask(route, **edited, **body)
        assert numbers == pytest.approx(before[route][1], abs=1e-5, nan_ok=True), route


@pytest.mark.parametrize(
    ("model", "more"),
    [("next", {}), ("masked", {"masked_positions": [3]}), ("both", {"source": "the dog"}), ("next", {"edits": [OFF]}),
     ("next", {"positional_encoding": "alibi", "attention_function": "linear"})],
)  # fmt: skip
def test_contributions_add_up_to_the_logit(model: str, more: dict[str, Any]) -> None:
    meta, numbers = ask("logit_attribution", model, query=3, **more)
    assert numbers.sum() == pytest.approx(meta["logit"], abs=1e-3)
    assert len(meta["components"]) == len(numbers)


def test_another_token_has_other_contributions() -> None:
    likeliest, first = ask("logit_attribution", query=3)
    other, second = ask("logit_attribution", query=3, token=7)
    assert other["token"] == 7 != likeliest["token"]
    assert not np.allclose(first, second)
    assert other["components"] == likeliest["components"]


@pytest.mark.parametrize(
    ("route", "model", "body", "said"),
    [
        ("logit_attribution", "mood", {}, "predicts at each token"),
        ("walkthrough", "next", {"attention": "decoder.9.self"}, "no attention"),
        ("walkthrough", "next", {"attention": "decoder.0.cross"}, "no attention"),
        ("walkthrough", "next", {"attention": "decoder.0.self", "head": 9}, "no head 9"),
        ("walkthrough", "next", {"attention": "decoder.0.self", "key": 99}, "no token 99"),
        ("step_code", "next", {}, "no attention"),
        ("logit_attribution", "next", {"token": 10**6}, "no answer"),
    ],
)
def test_what_cannot_be_answered_gets_a_sentence(route: str, model: str, body: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadlightError, match=said):
        ask(route, model, **body)
