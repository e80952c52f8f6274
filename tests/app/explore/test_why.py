"""Why a head looks at a token: the server's answers agree with the analysis and add up."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from headlight.analysis.faithfulness.rankings import RANKINGS
from headlight.cli.why import sinks
from headlight.errors import HeadlightError
from headlight.rendering.html import choices_json
from headlight_app.contract.state import State
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.tabs import ANALYSES
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat"


def ask(route: str, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    meta, numbers = ask_worker(route, model="next", text=TEXT, **body)
    return meta, np.frombuffer(numbers, "<f4")


def test_the_ledger_of_a_cell_adds_up_to_its_score() -> None:
    cell = {"attention": "decoder.1.self", "head": 3, "query": 5, "key": 2}
    meta, parts = ask("cell_ledger", **cell)
    assert len(parts) == len(meta["query_writers"]) * len(meta["key_writers"])
    terms = sum(term["value"] for term in meta["terms"])
    assert meta["cell"] == "decoder.1.self[3,5,2]"
    assert parts.sum(dtype=np.float64) + terms == pytest.approx(meta["score"], abs=1e-3)
    edited, _ = ask("cell_ledger", **cell, edits=["decoder.0.self.weights[1]=set:0"])
    assert "decoder.0.self[1]" in meta["key_writers"] and "decoder.0.self[1]" not in edited["key_writers"]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ({"attention": "decoder.1.self", "query": 1, "key": 4}, "mask forbids"),
        ({"attention": "decoder.9.self"}, "no attention"),
        ({"attention": "decoder.1.self", "head": 99}, "no head 99"),
    ],
)
def test_a_cell_that_cannot_be_gets_a_sentence(cell: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HeadlightError, match=sentence):
        ask("cell_ledger", **cell)


def test_a_cell_says_what_its_weight_carries() -> None:
    meta, _ = ask("cell_ledger", attention="decoder.1.self", head=3, query=0, key=0)
    shown = meta["weight"], meta["length_share"], meta["direction_share"]
    assert shown == pytest.approx((1, 1, 1), abs=1e-5)  # the first token can look only at itself


def test_the_parts_of_a_removal_make_the_whole_change() -> None:
    meta, _ = ask("head_removal", attention="decoder.0.self", head=2)
    responses = sum(response["value"] for response in meta["responses"])
    assert meta["before"] + meta["direct"] + responses + meta["norms"] == pytest.approx(meta["after"], abs=1e-4)
    assert all(not response["name"].startswith("decoder.0.self") for response in meta["responses"])
    with pytest.raises(HeadlightError, match="no head 99"):
        ask("head_removal", attention="decoder.0.self", head=99)


def test_definitions_that_differ_from_a_papers_are_said_to_differ() -> None:
    said = {row["name"]: row["elsewhere"] for row in choices_json()["metrics"]}
    for name, paper in (("first", "Gu"), ("same-word", "Wang"), ("induction", "Olsson"), ("entropy", "Clark")):
        assert re.search(rf"{paper} et al. \(20\d\d\)", said[name])
    assert "Rushing and Nanda (2024)" in ANALYSES["head_removal"].lesson
    assert "Petsiuk et al. (2018)" in ANALYSES["token_rankings"].lesson
    assert "log-probability" in RANKINGS["gradient-times-input"].source and "divide" in RANKINGS["deletion"].source
    assert "Gu et al. (2025)" in (sinks.run.__doc__ or "")


def test_rankings_come_with_the_curves_that_test_them() -> None:
    meta, numbers = ask("token_rankings")
    names, steps = [row["name"] for row in meta["rankings"]], meta["steps"]
    table = numbers.reshape(len(names), -1)
    tokens = table.shape[1] - 2 * len(steps)
    deletion, insertion = table[:, tokens : tokens + len(steps)], table[:, tokens + len(steps) :]
    assert names[-1] == "random" and np.isnan(table[-1, :tokens]).all()
    assert np.ptp(deletion[:, 0]) < 1e-6 and np.allclose(deletion[:, 0], insertion[:, -1], atol=1e-6)
    areas = {row["name"]: row["deletion_area"] for row in meta["rankings"]}
    for name in meta["best_deletion"] or ["random"]:
        assert areas[name] == pytest.approx(min(areas.values()), abs=1e-6)


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
