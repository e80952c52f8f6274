"""The Explore page, run by Streamlit."""

import pytest

from headlight_app.export import page as export
from tests.app.pages import alone, component_data


def test_a_tab_or_quantity_that_nobody_knows_counts_as_not_chosen() -> None:
    data = component_data(alone("explore", model="next", tab="attic", quantity="all").main)
    assert (data["state"]["tab"], data["state"]["quantity"]) == ("heads", "weights")


def test_the_browser_is_told_which_model_only_this_visitor_can_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "own_titles", lambda: {"next": "next (your upload)"})
    assert component_data(alone("explore", model="next").main)["own_model"] == "next (your upload)"
    assert component_data(alone("explore", model="masked").main)["own_model"] == ""


def test_the_browser_is_told_each_tab() -> None:
    data = component_data(alone("explore", model="next").main)
    assert [tab["name"] for tab in data["tabs"]] == ["heads", "walkthrough", "layers", "tokens"]
