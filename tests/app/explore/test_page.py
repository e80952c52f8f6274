"""Explore as Streamlit runs it."""

from tests.app.pages import alone, component_data


def test_a_tab_or_quantity_that_nobody_knows_counts_as_not_chosen() -> None:
    data = component_data(alone("explore", model="next", tab="attic", quantity="all").main)
    assert (data["state"]["tab"], data["state"]["quantity"]) == ("heads", "weights")


def test_the_browser_is_told_each_tab_with_the_module_that_draws_it() -> None:
    data = component_data(alone("explore", model="next").main)
    assert [tab["name"] for tab in data["tabs"]] == ["heads", "walkthrough", "layers", "model"]
    assert all(tab["module"].endswith(f"{tab['name']}_tab.js") for tab in data["tabs"])
