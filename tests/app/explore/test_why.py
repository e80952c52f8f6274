"""Why a head looks there: the answers of the server agree with the analysis, and add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headlight.errors import HeadlightError
from tests.app.asking import ask_worker

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
