"""Why a head looks at a token: the server's answers agree with the analysis and add up."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from headlight.analysis.faithfulness.rankings import RANKINGS, Faithfulness
from headlight.analysis.head_removal import HeadRemoval
from headlight.cli.why import sinks
from headlight.rendering.html import choices_json
from headlight.views.words import quoted
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.head_removal import removal_words
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.answers.analyses.token_rankings import faithful
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_views, ask_worker, make_question

TEXT = "the cat sat on the mat"


def ask(route: str, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = ask_worker(route, model="next", text=TEXT, **body)
    return meta, np.frombuffer(numbers, "<f4")


def test_the_parts_of_a_removal_make_the_whole_change() -> None:
    said, shown = ask_views("head_removal", model="next", text=TEXT, layer=0, head=2)
    assert said["text"].startswith("Without layer 0, head 2 the logit of ")
    parts = dict(shown["parts"])
    direct, *others, norms = parts
    assert (direct, norms) == ("Layer 0, head 2: direct effect", "Norms")
    assert all(not name.startswith("Layer 0, head") for name in others), "the heads beside it cannot respond"
    assert shown["start"][1] + sum(parts.values()) == pytest.approx(shown["end"][1], abs=1e-4)
    picks = dict(zip(parts, shown["picks"], strict=False))
    assert picks["Layer 1, head 1"] == {
        **{"tab": "heads", "attention": "decoder.self", "layer": 1, "head": 1, "heads": []},
    }
    assert picks["Layer 1, feed-forward"]["neuron"] == "1" and picks[direct] == {}
    (saved,) = shown["tables"].values()
    numbers = dict(zip(saved["axes"]["part"], np.array(saved["values"])[:, 0], strict=True))
    whole = numbers.pop("whole change")
    assert sum(numbers.values()) == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize(
    ("direct", "response", "norms", "said"),
    [
        (-1.0, 0.5, 0.0, "no longer adds +1; self-repair: the rest undoes 50.0 % of that."),
        (-1.0, 1.5, 0.0, "no longer adds +1; self-repair: the rest undoes all of that and more."),
        (-1.0, 0.2, 0.0, "no longer adds +1; the rest undoes 20.0 % of that, too little to call it self-repair."),
        (-1.0, -0.5, 0.0, "no longer adds +1; the rest adds 50.0 % to that."),
        (-0.1, -1.0, 0.0, "no longer adds +0.1; the rest adds 10 times as much."),
        (-1.0, 0.0, 0.0, "no longer adds +1; nothing else changes."),
        (1.0, 0.0, -0.0, "no longer adds −1; nothing else changes."),
        (1e-4, 0.0, 0.0, "no longer adds −1.00·10⁻⁴; that is too little to say which share of it the rest undoes."),
        (0.02, -1.1, 0.1, "no longer adds −0.02; the largest part of the change is that of layer 1, head 3 (−1.1)."),
        (0.0, 0.1, -1.1, "added nothing to it; the largest part of the change is that of the norms (−1.1)."),
        (0.0, 0.0, 0.0, "added nothing to it; nor does any later part respond."),
    ],
)
def test_a_removal_says_what_carried_the_change(direct: float, response: float, norms: float, said: str) -> None:
    """No share is taken of a direct effect below a tenth of the largest part: here it would be 5,000 %."""
    after = 3.0 + direct + response + norms
    found = HeadRemoval(3.0, after, direct, {"decoder.1.self[3]": response}, norms)
    words = removal_words(found, "decoder.1.self[2]", ("decoder",), " girl")
    assert words.startswith(f"Without layer 1, head 2 the logit of {quoted(' girl')} goes from 3 to {after:.3g} (")
    assert words.endswith(f"The head itself {said}")


def test_a_feed_forward_that_carries_the_change_is_named_as_in_a_sentence() -> None:
    found = HeadRemoval(3.0, 2.02, 0.02, {"decoder.1.feed_forward": -1.0}, 0.0)
    for stacks, name in (
        (("decoder",), "the feed-forward of layer 1"),
        (("encoder", "decoder"), "the feed-forward of layer 1 of the decoder"),
    ):
        assert removal_words(found, "decoder.0.self[2]", stacks, " girl").endswith(f"is that of {name} (−1).")


def test_a_removal_names_the_stack_where_there_are_two() -> None:
    said, shown = ask_views(
        "head_removal", model="both", text="the cat", source=TEXT, attention="encoder.self", layer=0
    )
    assert said["text"].startswith("Without layer 0, head 0 of the encoder the logit of ")
    assert "adds nothing to it, as the answer is read from the decoder; the largest part" in said["text"]
    first, *others, _norms = dict(shown["parts"])
    assert first == "Layer 0, head 0 of the encoder: direct effect"
    assert all(name.endswith((" of the decoder", " other responses")) for name in others)


def test_definitions_that_differ_from_a_papers_are_said_to_differ() -> None:
    said = {row["name"]: row["elsewhere"] for row in choices_json()["metrics"]}
    for name, paper in (("first", "Gu"), ("same-word", "Wang"), ("induction", "Olsson"), ("entropy", "Clark")):
        assert re.search(rf"{paper} et al. \(20\d\d\)", said[name])
    assert "Rushing and Nanda (2024)" in ANALYSES["head_removal"].lesson
    assert "Petsiuk et al. (2018)" in ANALYSES["token_rankings"].lesson
    assert "log-probability" in RANKINGS["gradient-times-input"].source and "divide" in RANKINGS["deletion"].source
    assert "Gu et al. (2025)" in (sinks.run.__doc__ or "")


def test_rankings_come_with_the_curves_that_test_them() -> None:
    said, scores, *lines = ask_views("token_rankings", model="next", text=TEXT)
    assert scores["rows"][-1] == "Random order" and set(scores["values"][-1]) == {"NaN"}
    deletion, insertion = (np.array(list(each["series"].values())) for each in lines)
    assert list(lines[0]["series"]) == scores["rows"] and lines[0]["broken"] == ["Random order"]
    assert np.ptp(deletion[:, 0]) < 1e-6 and np.allclose(deletion[:, 0], insertion[:, -1], atol=1e-6)
    steps = np.array(lines[0]["x"]) / lines[0]["x"][-1]
    areas = scores["row_numbers"]
    assert areas["deletion"] == pytest.approx(np.trapezoid(deletion, steps).tolist())
    assert areas["insertion"] == pytest.approx(np.trapezoid(insertion, steps).tolist())
    saved = scores["tables"]["Areas under the curves"]
    assert np.array(saved["values"]).T.tolist() == list(areas.values()) and "stand on?" in said["text"]


def test_the_most_faithful_rankings_are_named_and_those_that_random_order_beats() -> None:
    def tested(deletion: float, insertion: float) -> Faithfulness:
        steps = np.array([0, 1])
        return Faithfulness(np.zeros(1), steps, steps, np.full(2, deletion), np.full(2, insertion))

    random, useless = tested(0.5, 0.4), tested(0.6, 0.3)
    best = tested(0.2, 0.8)
    assert faithful({"weight": best, "random": random}) == "Most faithful here: Attention weight."
    assert faithful({"weight": useless, "random": random}).startswith("No ranking beats random order here. In deletion")
    both = faithful({"weight": tested(0.2, 0.3), "rollout": tested(0.6, 0.9), "random": random})
    assert both.startswith("Most faithful in deletion: Attention weight; in insertion: Rollout. In deletion,")
    assert both.endswith("no better than random order: Attention weight, Rollout.")
    one = faithful({"weight": tested(0.2, 0.3), "random": random})
    assert "in deletion: Attention weight; in insertion: random order." in one


def test_programs_and_commands_explain_what_is_open() -> None:
    resolved = resolve(make_question("next", TEXT))
    layers = State(model="next", text=TEXT, tab="layers", layer=1, head=2)
    removal, rankings = (layers.change(analysis=name) for name in ("head_removal", "token_rankings"))
    cell = State(model="next", text=TEXT, layer=1, head=2, pinned=(4,), key=1)
    assert 'remove_head(model, trace, "decoder.1.self", 2, 6' in python_code(resolved, removal)
    assert "headlight without '--head=decoder.1.self[2]' --position=6" in shell_code(resolved, removal)
    assert "compare_rankings(model, trace, 6, " in python_code(resolved, rankings)
    assert "headlight rankings --position=6" in shell_code(resolved, rankings)
    assert 'cell_ledger(model, trace, "decoder.1.self[2,4,1]")' in python_code(resolved, cell)
    assert "headlight ledger '--cell=decoder.1.self[2,4,1]'" in shell_code(resolved, cell)
    assert "remove_head" not in python_code(resolved, cell)
