"""What the rooms "Steps" and "Layers" ask the backend: numbers of the trace, and a sentence where there are none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from app.explore.layer_analysis import MAX_LENS_TOKENS
from app.explore.walkthrough import step_code
from app.server.routes import HANDLERS
from app.services.traces import model_variant, position_logits, trace
from app.state.state import Question
from app.ui.wire_format import unpack
from model.errors import HeadlightError
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.positional_encodings import POSITIONAL_ENCODINGS

TEXT = "the cat sat on the mat"
OFF = "decoder.1.self.weights[3]=set:0"


def ask(route: str, model: str = "next", text: str = TEXT, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = unpack(HANDLERS[route]({"model": model, "text": text, **body}))
    return meta, np.frombuffer(numbers, "<f4")


def split(meta: dict[str, Any], numbers: np.ndarray) -> dict[str, list[np.ndarray]]:
    """The values of each step, as the browser cuts them."""
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
    meta, numbers = ask("steps", attention="decoder.1.self", head=2, query=4, key=1)
    values = split(meta, numbers)
    weights = trace(Question("next", TEXT))["decoder.1.self.weights"]
    assert values["weigh"][-1] == pytest.approx(weights[2, 4])
    assert values["mix"][0] == pytest.approx(weights[2, 4, 1])
    shapes = {shape["site"]: shape["sizes"] for step in meta["steps"] for shape in step["shapes"]}
    assert shapes["weights"] == list(weights.shape)


def test_the_key_that_nobody_chose_is_the_one_looked_at_most() -> None:
    meta, _ = ask("steps", attention="decoder.0.self", head=1)
    row = trace(Question("next", TEXT))["decoder.0.self.weights"][1, -1]
    assert (meta["query"], meta["key"]) == (len(row) - 1, int(row.argmax()))


@pytest.mark.parametrize("attention", ["decoder.1.self", "decoder.1.cross", "encoder.0.self"])
def test_every_attention_of_an_encoder_decoder_has_steps(attention: str) -> None:
    meta, numbers = ask("steps", "both", source="the dog lay on the rug", attention=attention, query=2, key=3)
    assert meta["steps"][0]["name"] == "read"
    assert np.isfinite(numbers[~np.isneginf(numbers)]).all()
    assert ask("code", "both", source="the dog", attention=attention)[0]["code"]["weigh"]


@pytest.mark.parametrize("kernel", ATTENTION_FUNCTIONS)
@pytest.mark.parametrize("position", POSITIONAL_ENCODINGS)
def test_each_step_shows_the_lines_that_run(kernel: str, position: str) -> None:
    model = model_variant(Question("next", TEXT, attention_function=kernel, positional_encoding=position))
    meta, _ = ask("steps", kernel=kernel, position=position, attention="decoder.0.self")
    found = step_code(model, "decoder.0.self")
    for step in meta["steps"]:
        assert found[step["name"]], step["name"]
        assert step["meaning"]
    for mark, name in {'tap("q"': "project", "kernel.score(": "sum", 'tap("scale"': "scale", 'tap("mask"': "mask",
                       'tap("weights"': "weigh", "kept @": "mix", 'tap("output"': "write"}.items():  # fmt: skip
        assert any(mark in piece.code for piece in found[name]), mark
    for listed in found.values():
        for piece in listed:
            file, _, line = piece.location.rpartition(" · ")[2].partition(", line ")
            with open(file, encoding="utf-8") as source:
                assert source.read().splitlines()[int(line) - 1].strip() == piece.code.splitlines()[0].strip()


def test_the_logit_lens_ends_with_the_prediction() -> None:
    meta, numbers = ask("depths")
    rows = numbers.reshape(meta["depths"], meta["count"], 2 * meta["shown"] + 2)
    last = rows[-1, -1]
    probabilities = trace(Question("next", TEXT), ("logits",)).probabilities(-1)
    assert last[5:10] == pytest.approx(np.sort(probabilities)[::-1][:5], abs=1e-5)
    assert int(last[0]) == int(probabilities.argmax())
    assert meta["truth"][:-1] == list(trace(Question("next", TEXT)).text.ids[1:])
    assert all(str(int(token)) in meta["pieces"] for token in rows[..., :5].ravel())
    assert rows[-1, -1, 10] == 0
    assert math.isnan(rows[-1, -1, 11])


def test_a_long_text_is_read_a_window_at_a_time() -> None:
    text = "the cat sat " * 13
    length = len(trace(Question("next", text)).text.ids)
    assert length > MAX_LENS_TOKENS
    meta, numbers = ask("depths", text=text, first=MAX_LENS_TOKENS)
    assert (meta["first"], meta["count"]) == (MAX_LENS_TOKENS, length - MAX_LENS_TOKENS)
    assert len(numbers) == meta["depths"] * meta["count"] * 12


def test_a_click_masks_a_token_whose_truth_is_still_known() -> None:
    plain, _ = ask("depths", "masked")
    meta, numbers = ask("depths", "masked", masked=[2])
    assert meta["truth"] == plain["truth"]
    assert meta["truth"][0] == meta["truth"][-1] == -1 < min(meta["truth"][1:-1])  # [CLS] and [SEP] are no words
    assert ask("depths", "masked", "the [MASK] sat")[0]["truth"][2] == -1
    surprise = ask("surprise", "masked", masked=[2])[1]
    assert surprise[2] == pytest.approx(numbers.reshape(meta["depths"], -1, 12)[-1, 2, -1])


def test_the_stream_has_a_length_at_each_depth() -> None:
    meta, numbers = ask("stream")
    rows = numbers.reshape(meta["depths"], meta["tokens"])
    assert meta["depths"] == 3
    assert (rows > 0).all()


def test_the_surprise_of_a_text_is_that_of_its_tokens() -> None:
    meta, numbers = ask("surprise")
    traced = trace(Question("next", TEXT), ("logits",))
    assert (meta["first"], meta["count"], meta["ahead"]) == (0, len(traced.text.ids), True)
    shares = [traced.probabilities(place)[token] for place, token in enumerate(traced.text.ids[1:])]
    assert numbers[:-1] == pytest.approx(-np.log(shares), abs=1e-4)
    assert math.isnan(numbers[-1])


def test_a_long_text_has_all_of_it_without_kept_weights_or_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    edited: dict[str, Any] = {"edits": [OFF, "logits[3]=scale:2"], "query": 3}
    asked: dict[str, dict[str, Any]] = {
        "steps": {"attention": "decoder.1.self"}, "depths": {}, "surprise": {}, "stream": {}, "contributions": {},
        "flow": {"threshold": 1e-4}, "ablation": {"attention": "decoder.0.self"},
    }  # fmt: skip
    before = {route: ask(route, **edited, **body) for route, body in asked.items()}
    monkeypatch.setattr("app.services.traces.LONG", 0)
    kept = trace(Question("next", TEXT, edits=tuple(edited["edits"])))
    assert kept.logits is None and "decoder.0.self.weights" not in kept.values
    for route, body in asked.items():
        _, numbers = ask(route, **edited, **body)
        assert numbers == pytest.approx(before[route][1], abs=1e-5, nan_ok=True), route


def test_where_logits_are_made_for_it_surprise_comes_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole_text = ask("surprise")
    monkeypatch.setattr("app.services.traces.LONG", 0)
    monkeypatch.setattr("app.explore.layer_analysis.MOMENT", 1)
    meta, numbers = ask("surprise", first=2)
    assert (meta["first"], meta["count"]) == (2, 1)
    assert numbers == pytest.approx(whole_text[2:3], abs=1e-5)


@pytest.mark.parametrize(
    ("model", "more"),
    [("next", {}), ("masked", {"masked": [3]}), ("both", {"source": "the dog"}), ("next", {"edits": [OFF]}),
     ("next", {"position": "alibi", "kernel": "linear"})],
)  # fmt: skip
def test_contributions_add_up_to_the_logit(model: str, more: dict[str, Any]) -> None:
    meta, numbers = ask("contributions", model, query=3, **more)
    assert numbers.sum() == pytest.approx(meta["logit"], abs=1e-3)
    assert len(meta["parts"]) == len(numbers)
    assert meta["conventions"]
    assert len(meta["promoted"]) == 2
    for layer in meta["promoted"]:
        ups, downs = ([each["logit"] for each in layer[name]] for name in ("up", "down"))
        assert ups == sorted(ups, reverse=True)
        assert downs == sorted(downs)
        assert ups[-1] >= downs[-1]


def test_another_token_has_other_contributions() -> None:
    likeliest, first = ask("contributions", query=3)
    other, second = ask("contributions", query=3, token=7)
    assert other["token"] == 7 != likeliest["token"]
    assert not np.allclose(first, second)


def test_the_flow_graph_comes_as_rows_of_numbers() -> None:
    meta, numbers = ask("flow", query=4, threshold=1e-4)
    edges = numbers.reshape(meta["edges"], meta["columns"])
    assert (edges[:, 2] <= 4).all()
    assert (edges[:, 4] >= 1e-4 - 1e-6).all()
    kinds = {meta["kinds"][int(kind)] for kind in edges[:, 1]}
    assert kinds == {"stream", "self", "feed_forward"}
    assert (edges[edges[:, 1] == 1][:, 5] >= 0).all()


@pytest.mark.parametrize("model", ["next", "masked", "mood"])
def test_heads_taken_away_change_what_the_edit_changes(model: str) -> None:
    stack = "decoder" if model == "next" else "encoder"
    meta, numbers = ask("ablation", model, attention=f"{stack}.1.self", query=3)
    assert (meta["first"], meta["count"], meta["heads"]) == (0, 4, 4)
    for head in range(4):
        row = position_logits(Question(model, TEXT, edits=(f"{stack}.1.self.weights[{head}]=set:0",)), 3).astype(float)
        share = row[meta["token"]] - np.log(np.exp(row).sum())
        assert numbers[head] == pytest.approx(share - meta["before"], abs=1e-4)


@pytest.mark.parametrize(
    ("route", "model", "body", "said"),
    [
        ("depths", "mood", {}, "language head"),
        ("contributions", "mood", {}, "answer at each token"),
        ("steps", "next", {"attention": "decoder.9.self"}, "no attention"),
        ("steps", "next", {"attention": "decoder.0.cross"}, "no attention"),
        ("steps", "next", {"attention": "decoder.0.self", "head": 9}, "no head 9"),
        ("steps", "next", {"attention": "decoder.0.self", "key": 99}, "no token 99"),
        ("code", "next", {}, "no attention"),
        ("flow", "next", {"threshold": 0}, "threshold"),
        ("flow", "next", {"threshold": "many"}, "threshold"),
        ("flow", "next", {"threshold": True}, "threshold"),
        ("contributions", "next", {"token": 10**6}, "no answer"),
        ("ablation", "next", {"attention": "decoder.0.self", "first": 4}, "no heads"),
        ("ablation", "next", {"attention": "decoder.0.self", "first": -1}, "no heads"),
        ("ablation", "next", {"attention": 3}, "no attention"),
    ],
)
def test_what_cannot_be_answered_gets_a_sentence(route: str, model: str, body: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadlightError, match=said):
        ask(route, model, **body)
