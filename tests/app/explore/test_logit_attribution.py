"""The analysis of logits as views: the table of all parts, the largest of them, and the neurons of one network."""

from typing import Any

import numpy as np
import pytest

from headlight.analysis.residual_stream import Component, components_of
from headlight.errors import HeadlightError
from headlight_app.explore.answers.analyses.logit_attribution import LISTED, part_table
from headlight_app.explore.answers.analyses.neurons import LISTED as LISTED_NEURONS
from headlight_app.explore.answers.analyses.parts import part_of, part_pick, part_title
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_views, ask_worker, make_question
from tests.model import toys

TEXT = "the cat sat on the mat"
Views = dict[str, Any]


def attribution(model: str = "next", **fields: Any) -> Views:
    """The views by title; those without one by kind."""
    return {
        view["title"] or view["kind"]: view for view in ask_views("logit_attribution", model=model, text=TEXT, **fields)
    }


def numbers_of(view: Views) -> np.ndarray:
    """The numbers of a matrix, NaN where a cell has none."""
    return np.array(view["values"], dtype=float)


@pytest.mark.parametrize(
    ("model", "more"), [("next", {}), ("masked", {"masked_positions": [3]}), ("both", {"source": "the dog"})]
)
def test_the_table_and_the_bars_add_up_to_the_logit(model: str, more: dict[str, Any]) -> None:
    asked, added = ask_worker("logit_attribution", model=model, text=TEXT, query=3, **more)
    views = attribution(model, query=3, **more)
    assert np.nansum(numbers_of(views["All components"])) == pytest.approx(asked["logit"], abs=1e-3)
    bars = views["The largest"]
    assert sum(value for _, value in bars["parts"]) == pytest.approx(bars["end"][1], abs=1e-4)
    assert bars["end"][1] == pytest.approx(asked["logit"], abs=1e-3)
    sizes = [abs(value) for _, value in bars["parts"][:LISTED]]
    assert sizes == sorted(sizes, reverse=True)
    (saved,) = views["All components"]["tables"].values()
    np.testing.assert_allclose(np.array(saved["values"])[:, 0], np.frombuffer(added, "<f4"), atol=1e-6)
    assert len(set(saved["axes"]["part"])) == len(asked["components"])


def test_a_click_on_a_cell_chooses_its_head_or_opens_its_network() -> None:
    table = attribution(query=3, neuron="1.3")["All components"]
    layer_1 = table["rows"].index("L1")
    assert table["picks"][layer_1][2] == {"attention": "decoder.self", "layer": 1, "head": 2}
    network = table["columns"].index("FF")
    assert table["picks"][layer_1][network] == {"neuron": "1"}
    assert table["titles"][layer_1][network] == "Layer 1, feed-forward"
    assert table["marked"] == [[layer_1, network]]
    assert table["picks"][0] == [{}] * len(table["columns"]), "no part outside the layers can be opened"


def test_rows_are_layers_and_other_rows_appear_only_if_they_add_something() -> None:
    config = toys.decoder(layers=1, heads=2).config
    parts = components_of(config)
    added = np.array([part.head + 1.0 if part.kind in ("self", "feed_forward") else 0.0 for part in parts])
    added[parts.index(Component("bias"))] = 0.5
    columns, rows = part_table(config, parts, added)
    assert (columns, list(rows)) == (("0", "1", "FF"), ["token", "L0", "answer"])
    assert rows["L0"] == (Component("self", 0, 0), Component("self", 0, 1), Component("feed_forward", 0))
    added[parts.index(Component("bias", 0))] = 1.0
    assert part_table(config, parts, added)[0] == ("0", "1", "FF", "bias")


def test_each_part_has_a_title_and_is_found_by_its_path() -> None:
    for config in (toys.both().config, toys.decoder(positional_encoding="learned").config):
        parts = components_of(config)
        titles = [part_title(part) for part in parts]
        assert len({*titles}) == len(parts)
        assert [part_of(part.path("decoder")) for part in parts] == list(parts)
        assert all(
            bool(part_pick(part, "decoder")) == (part.head >= 0 or part.kind == "feed_forward") for part in parts
        )


def test_what_a_network_promotes_stands_before_what_it_suppresses() -> None:
    table = attribution(query=3)["What each feed-forward promotes and suppresses here"]
    assert table["columns"] == ["", "Promoted", "Suppressed"]
    assert [row[0] for row in table["rows"]] == ["Layer 0", "Layer 1"] and table["picks"][1] == {"neuron": "1"}


@pytest.mark.parametrize(
    ("model", "more"), [("next", {}), ("masked", {"masked_positions": [3]}), ("both", {"source": "the dog"})]
)
def test_the_neurons_of_a_network_add_up_to_what_it_adds(model: str, more: dict[str, Any]) -> None:
    views = attribution(model, query=3, neuron="1", **more)
    table = views["All components"]
    network = numbers_of(table)[table["rows"].index("L1"), table["columns"].index("FF")]
    bars = neuron_bars(model, query=3, neuron="1", **more)
    assert bars["end"][1] == pytest.approx(network, abs=1e-5)
    assert sum(value for _, value in bars["parts"]) == pytest.approx(network, abs=1e-4)
    assert len(bars["picks"]) == LISTED_NEURONS and bars["marked"] == 0
    (saved,) = bars["tables"].values()
    activation, weight, contribution = np.array(saved["values"]).T
    np.testing.assert_allclose(activation * weight, contribution, atol=1e-5)
    edits = {name: tuple(value) if isinstance(value, list) else value for name, value in more.items()}
    stack = table["picks"][table["rows"].index("L1")][0]["attention"].split(".")[0]
    recorded = resolve(make_question(model, TEXT, **edits)).value(f"{stack}.1.feed_forward.neurons")
    np.testing.assert_allclose(activation, recorded[3], atol=1e-5)


def neuron_bars(model: str = "next", **fields: Any) -> Views:
    """The largest neurons."""
    views = ask_views("logit_attribution", model=model, text=TEXT, **fields)
    (found,) = (view for view in views if view["kind"] == "changes" and view["end"][0] == "Together: the feed-forward")
    return found


def test_a_neuron_tells_what_it_promotes_and_which_tokens_activate_it() -> None:
    first = neuron_bars(query=3, neuron="0")["picks"][0]["neuron"]
    views = attribution(query=3, neuron=first)
    tokens = views["Which tokens activate it"]
    number = int(first.partition(".")[2])
    recorded = resolve(make_question("next", TEXT)).value("decoder.0.feed_forward.neurons")[:, number]
    np.testing.assert_allclose(tokens["shades"], recorded / np.abs(recorded).max(), atol=1e-6)
    assert tokens["note"].startswith("Strongest at ")
    assert any(title.startswith("What its output vector writes") for title in views)


def switches(**fields: Any) -> list[dict[str, Any]]:
    """The picks of the buttons that switch a neuron off, or on again."""
    views = ask_views("logit_attribution", model="next", text=TEXT, **fields)
    return [pick for view in views if view["kind"] == "choice" for pick in view["picks"] if "toggle_edits" in pick]


def test_a_neuron_that_is_switched_off_is_silent_and_the_answer_another() -> None:
    chosen = neuron_bars(query=3, neuron="1")["picks"][0]["neuron"]
    before = attribution(query=3, neuron=chosen)
    (switch,) = switches(query=3, neuron=chosen)
    (edit,) = switch["toggle_edits"]
    assert before["Which tokens activate it"]["note"].startswith("Strongest")
    after = attribution(query=3, neuron=chosen, edits=[edit])
    assert not any(after["Which tokens activate it"]["shades"])
    assert after["Which tokens activate it"]["note"] == "It is 0 at every token."
    assert switches(query=3, neuron=chosen, edits=[edit]) == [switch]
    one, other = (resolve(make_question("next", TEXT, edits=edits)).logits(3) for edits in ((), (edit,)))
    assert not np.allclose(one, other)


@pytest.mark.parametrize(("neuron", "said"), [("9", "no layer 9"), ("0.1000000", "no neuron 1000000")])
def test_neurons_that_do_not_exist_leave_the_rest_of_the_analysis(neuron: str, said: str) -> None:
    views = ask_views("logit_attribution", model="next", text=TEXT, neuron=neuron)
    assert any(view["kind"] == "verdict" and said in view["text"] for view in views)
    assert any(view["title"] == "All components" for view in views)
    assert any(view["kind"] == "choice" and view["picks"][-1] == {"neuron": ""} for view in views)


def test_without_a_prediction_at_each_token_there_is_no_attribution() -> None:
    with pytest.raises(HeadlightError, match="predicts at each token"):
        attribution("mood")


def test_numbers_to_be_saved_are_sent_only_if_asked_for() -> None:
    asked = {"analysis": "logit_attribution", "model": "next", "text": TEXT}
    shown, saved = (ask_worker("analysis", **asked, with_tables=each)[0]["rows"] for each in (False, True))
    tables = [[view["tables"] for row in rows for view in row["views"]] for rows in (shown, saved)]
    assert set(map(str, tables[0])) == {"None"} and any(tables[1])
