"""Numbers are written in one way in what analyses, explanations, tasks and Positions show."""

from typing import Any

import pytest

from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.worker.table import ANALYSIS
from tests.app.asking import ask_page, ask_steps, ask_views
from tests.shown_numbers import odd_numbers

TEXT = "the cat sat on the mat"
TASKS = {"classify": "mood", "tag": "tags", "sort": "sort", "translate": "both", "similar": "masked"}
ASKED: dict[str, dict[str, Any]] = {
    **{name: {"model": "next", "text": TEXT, "layer": 1, "head": 2} for name in ANALYSES if name != "experts"},
    "why": {"model": "next", "text": TEXT},
    "ledger": {"model": "next", "text": TEXT, "layer": 1, "head": 2, "pinned": [4], "key": 1},
    **{task: {"model": model, "text": TEXT, "source": TEXT} for task, model in TASKS.items()},
    "sort": {"model": "sort", "text": "17 4 99 4"},
    "patching": {"model": "next", "text": TEXT, "choice": {"patch_from": "the dog sat on a mat", "target_token": 7}},
}


@pytest.mark.parametrize("name", ASKED)
def test_an_analysis(name: str) -> None:
    shown: list[Any] = ask_views(name, **ASKED[name])
    if ANALYSIS.row(name).step:
        shown += ask_steps(name, **ASKED[name])
    assert shown and odd_numbers(shown) == []


def test_positions() -> None:
    shown = ask_page("positions", model="stories-causal")
    assert shown and odd_numbers(shown) == []
