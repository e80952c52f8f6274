"""Each page, run by Streamlit. The browser side is tested in tests/browser."""

import json
import os
import shutil
from base64 import b64decode
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Toggle

from headlight.checkpoints.catalog import MODELS_VARIABLE
from headlight.errors import CheckpointError
from headlight_app.contract.parts import Candidate, Prediction
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.models import listed_models
from headlight_app.explore.page import prediction_bars
from headlight_app.frame import sidebar
from headlight_app.frame.sidebar import _on_variant_change
from headlight_app.server.launch import SCRIPT
from headlight_app.server.lifespan import on_script_error
from headlight_app.state.session import apply_reports, change_state, current_state, replace_state, report_serial
from headlight_app.worker import serve
from headlight_app.worker.serve import answer
from tests.app.pages import component_data, open_app, scripted, unfolded


def address(at: AppTest) -> dict[str, str]:
    """The query parameters of the address; AppTest returns those set by the test as lists."""
    return {name: value if isinstance(value, str) else value[0] for name, value in at.query_params.items()}


@pytest.mark.parametrize("model", ["next", "masked", "both", "mood"])
def test_every_kind_of_model_opens(model: str) -> None:
    at = open_app(model=model)
    assert not at.exception
    assert component_data(at.main)["settings"]["model"] == model
    unfolded(at, "numbers", "source_code")
    assert not at.exception
    assert at.get("plotly_chart") and at.code


def test_the_address_decides_what_is_shown() -> None:
    query = {"text": "the dog", "layer": "1", "head": "2", "edits": "decoder.1.self.weights[2]=set:0"}
    at = unfolded(open_app(model="next", **query), "numbers")
    assert not at.exception
    choice = component_data(at.main)["state"]
    assert (choice["text"], choice["layer"], choice["head"]) == ("the dog", 1, 2)
    assert choice["edits"] == ["decoder.1.self.weights[2]=set:0"]
    assert "Layer 1, head 2 in numbers" in [title.value for title in at.subheader]


def test_the_chart_shows_what_the_instrument_shows() -> None:
    query = {"text": "the *dog* $x$", "heads": "0.1;1.2", "hide": "first", "quantity": "gradient"}
    at = unfolded(open_app(model="next", **query), "numbers")
    assert not at.exception
    assert "2 heads in numbers" in [title.value for title in at.subheader]
    captions = [caption.value.replace("\\", "") for caption in at.caption]
    (rules,) = [caption for caption in captions if "gradient" in caption]
    assert "mean of 2 heads" in rules and "first token hidden" in rules
    ((heatmap,), _) = traces(at, 0)
    assert heatmap["zmin"] == -heatmap["zmax"]
    assert len(heatmap["x"]) == len(heatmap["y"])
    assert not any(name.startswith("0 ") for name in heatmap["x"])


def traces(at: AppTest, place: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The traces of a chart and its layout."""
    chart = json.loads(at.get("plotly_chart")[place].proto.spec)
    return chart["data"], chart["layout"]


def test_weights_have_the_range_of_the_page_and_five_decimal_places() -> None:
    at = unfolded(open_app(model="next", text="the dog", colour_range="largest"), "numbers")
    ((heatmap,), _) = traces(at, 0)
    numbers = np.frombuffer(b64decode(heatmap["z"]["bdata"]), "<f4")
    assert (heatmap["zmin"], heatmap["zmax"]) == (0, np.nanmax(numbers)) and np.isnan(numbers).any()
    assert heatmap["colorbar"]["title"]["text"] == "weights" and "<br>weights %{z:.5f}<" in heatmap["hovertemplate"]
    assert heatmap["x"] == heatmap["y"] and heatmap["x"][-1].endswith(" dog")


def test_predictions_as_trained_stand_beside_those_of_a_changed_model() -> None:
    ((bars,), layout) = traces(unfolded(open_app(model="next", text="the dog"), "numbers"), 1)
    assert bars["name"] == "probability" and bars["y"][0].startswith("1 ") and ".5f" in bars["hovertemplate"]
    assert (layout["xaxis"]["range"], layout["xaxis"]["tickformat"]) == ([0, 1], ".0%")
    edited = open_app(model="next", text="the dog", edits="decoder.1.self.weights[2]=set:0")
    (changed, layout) = traces(unfolded(edited, "numbers"), 1)
    assert [each["name"] for each in changed] == ["with your changes", "as trained"] and layout["showlegend"]
    candidate = Candidate(id=0, text=" stars", before=-2.5, after=-3.0)
    scores = Prediction(
        position=0, title="", preposition="", token_text=None, candidates=(candidate,), problem_type="regression"
    )
    view = prediction_bars(scores, changed=False)
    assert (view.labels, view.series, view.high) == (("1 stars",), {"score": (-3.0,)}, None) and not view.as_percent


def test_a_picture_that_cannot_be_leaves_the_rest_of_the_page() -> None:
    at = unfolded(open_app(model="next", text="the dog", quantity="minus_trained"), "numbers")
    assert not at.exception
    assert "Predictions in numbers" in [title.value for title in at.subheader]
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.parametrize(("model", "answers"), [("next", "the whole vocabulary"), ("mood", "all labels")])
def test_the_charts_say_what_probabilities_are_over(model: str, answers: str) -> None:
    at = unfolded(open_app(model=model, text="the dog"), "numbers")
    assert f"Probabilities are over {answers}." in [caption.value for caption in at.caption]


def test_what_nobody_unfolds_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def note(request: EngineRequest) -> bytes:
        asked.append(request.route)
        return answer(request)

    monkeypatch.setattr(serve, "answer", note)
    at = open_app(model="next")
    assert not at.exception and not at.get("plotly_chart") and not at.code
    assert "explore_page" in asked and {"explore_charts", "source_code"}.isdisjoint(asked)
    unfolded(at, "numbers", "source_code")
    assert {"explore_charts", "source_code"} <= set(asked)


def presenter_toggle(at: AppTest) -> Toggle:
    return next(toggle for toggle in at.toggle if toggle.label == "Presenter mode")


def test_a_widget_writes_the_address() -> None:
    at = presenter_toggle(open_app(model="next", text="the dog")).set_value(True).run()
    assert address(at) == {"model": "next", "text": "the dog", "presenter": "1"}
    assert presenter_toggle(at).value
    at = presenter_toggle(at).set_value(False).run()
    assert address(at) == {"model": "next", "text": "the dog"}
    assert not at.exception


def test_a_request_sent_before_the_browser_heard_of_presenter_mode_does_not_end_it() -> None:
    at = open_app(model="next", text="the dog")
    presenter_toggle(at).set_value(False)  # its current value
    sent_with = at._tree
    at.query_params["presenter"] = "1"
    assert presenter_toggle(at.run()).value
    at._tree = sent_with  # the widgets that the browser still has
    at.query_params["text"] = "the cat"
    assert presenter_toggle(at.run()).value
    assert address(at) == {"model": "next", "text": "the cat", "presenter": "1"}


def test_what_a_model_was_trained_with_is_offered_first_in_sight_or_in_the_sidebar() -> None:
    at = open_app(model="next", text="the dog", masks="causal+window:2", scale="off")
    data, in_sight = component_data(at.sidebar), component_data(at.main)["variants"]
    assert [part["title"] for part in in_sight["fields"]] == ["Mask", "Positions"]
    assert [part["title"] for part in data["fields"]] == ["Attention function"], "nothing is shown twice"
    masks, position, kernel = (part["options"] for part in (*in_sight["fields"], *data["fields"]))
    assert (masks[0], position[0], kernel[0]) == (
        ["", "Causal · as trained"],
        ["", "RoPE (rotary) · as trained"],
        ["", "Softmax · as trained"],
    )
    assert "causal" not in dict(masks) and "rope" not in dict(position)
    assert data["variant"] == {
        "masks": "causal+window:2",
        "positional_encoding": "",
        "attention_function": "",
        "scale": "off",
        "pooling": "",
    }
    assert in_sight["trained_masks"] == "causal"
    assert data["trained_scale"] is True


def test_what_was_trained_anyway_counts_as_not_chosen() -> None:
    data = component_data(open_app(model="next", masks="causal", positional_encoding="rope").sidebar)
    assert data["variant"]["masks"] == ""


def test_the_instrument_asks_with_what_the_address_exchanges() -> None:
    at = open_app(model="next", text="the dog", positional_encoding="alibi", scale="off")
    variant = component_data(at.main)["state"]["variant"]
    assert (variant["positional_encoding"], variant["scale"], variant["masks"]) == ("alibi", "off", "")


def test_where_no_instrument_hears_the_sidebar_writes_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        current_state()
        st.button("report", on_click=_on_variant_change)

    variant = {
        "masks": "custom:10/11",
        "positional_encoding": "alibi",
        "attention_function": "",
        "scale": "off",
        "pooling": "",
    }
    report: dict[str, Any] = {"variant": variant, "turn": 3}
    monkeypatch.setattr("headlight_app.ui.component.reported", lambda key: dict(report))
    at = scripted(page)
    at.button[0].click().run()
    assert address(at) == {"masks": "custom:10/11", "positional_encoding": "alibi", "scale": "off"}
    report = {"variant": variant | {"positional_encoding": ""}, "model": "the one trained with it", "turn": 4}
    at.button[0].click().run()
    assert address(at) == {"masks": "custom:10/11", "model": "the one trained with it", "scale": "off"}


def test_a_mask_that_only_a_link_can_name_is_shown_as_what_it_is() -> None:
    def masks(**query: str) -> list[list[str]]:
        field = component_data(open_app(model="next", **query).main)["variants"]["fields"][0]
        return [option for option in field["options"] if option[0] == "custom"]

    assert masks(masks="custom:10/11") == [["custom", "Custom matrix"]]
    assert masks() == masks(masks="window:4") == [], "it cannot be chosen from the list"


def test_what_the_instrument_reports_reaches_state_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        apply_reports("explore", "the opening", "")
        current_state()
        st.json(
            {
                "layer": current_state().layer,
                "text": current_state().text,
                "masked": current_state().masked_positions,
                "serial": report_serial(),
            }
        )

    reported = {"text": "the opening", "layer": 1, "masked_positions": [2, 3], "head": "none", "serial": 7}
    monkeypatch.setattr("headlight_app.state.session.reported", lambda key: dict(reported))
    at = scripted(page)
    assert json.loads(at.json[0].value) == {"layer": 1, "text": None, "masked": [2, 3], "serial": 7}
    assert address(at) == {"layer": "1", "masked_positions": "2;3"}
    reported["text"] = "the dog"
    assert "text" not in address(at.run()), "each report is applied once"
    reported["serial"] = 8
    assert address(at.run())["text"] == "the dog"


def test_a_request_with_an_older_address_takes_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        current_state()
        if st.button("report"):
            change_state(text="the dog")
        st.text(current_state().text)

    at = scripted(page)
    at.button[0].click().run()
    assert address(at) == {"text": "the dog"}
    at.query_params.clear()  # the address when the browser sent the next click
    at.run()
    assert at.text[0].value == "the dog"
    assert address(at) == {"text": "the dog"}, "the browser gets the current address again"
    at.query_params["text"] = "a link"
    assert at.run().text[0].value == "a link"
    monkeypatch.setattr("headlight_app.state.session._is_history_navigation", lambda: True)
    at.query_params["text"] = "the dog"
    assert at.run().text[0].value == "the dog", "Back restores an earlier address"


def test_back_to_an_address_whose_model_was_replaced_keeps_the_one_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def page() -> None:
        if current_state().model == "mood":
            replace_state(model="next")
        st.text(current_state().model)

    at = scripted(page, model="both")
    monkeypatch.setattr("headlight_app.state.session._is_history_navigation", lambda: True)
    at.query_params["model"] = "mood"
    assert at.run().text[0].value == "next"


def test_the_head_that_pages_begin_with_stays_unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        apply_reports("explore", "", "", default_head=(1, 0))
        shown = current_state().with_default_head((1, 0))
        st.json([shown.layer, shown.head])

    reported = {"text": "the dog", "layer": 1, "head": 0, "serial": 0}
    monkeypatch.setattr("headlight_app.state.session.reported", lambda key: dict(reported))
    at = scripted(page)
    reported["serial"] = 1
    at.run()
    assert address(at) == {"text": "the dog"}
    assert json.loads(at.json[0].value) == [1, 0]
    del reported["layer"]
    reported["head"] = 2
    reported["serial"] = 2
    at.run()
    assert address(at) == {"text": "the dog", "layer": "1", "head": "2"}, "another head of the layer shown"
    reported["head"] = 0
    reported["serial"] = 3
    at.run()
    assert address(at) == {"text": "the dog"}, "choosing the default head leaves the address unchanged"


def test_the_head_of_the_opening_is_said_once_something_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    heads: dict[str, tuple[int, int]] = {"default_head": (1, 0), "opening_head": (0, 2)}

    def page() -> None:
        apply_reports("explore", "the cat", "", **heads)  # type: ignore[arg-type]
        state = current_state()
        shown = state.with_default_head(heads["opening_head" if state.shows_opening else "default_head"])
        st.json([shown.layer, shown.head])

    reported: dict[str, Any] = {"text": "the cat", "serial": 0}
    monkeypatch.setattr("headlight_app.state.session.reported", lambda key: dict(reported))
    at = scripted(page)
    assert json.loads(at.json[0].value) == [0, 2]
    for serial, text, said in ((1, "the cat", {}), (2, "the cats", {"text": "the cats", "layer": "0", "head": "2"})):
        reported |= {"serial": serial, "text": text}
        at.run()
        assert address(at) == said
        assert json.loads(at.json[0].value) == [0, 2], "the same head stays on the screen"
    assert json.loads(scripted(page, **address(at)).json[0].value) == [0, 2], "and a link to it shows the same"
    assert json.loads(scripted(page, text="the cats").json[0].value) == [1, 0], "as a link without a head always did"


@pytest.mark.parametrize(("query", "shown"), [({"layer": "1"}, (1, 0)), ({"layer": "0", "head": "0"}, (0, 0))])
def test_a_link_to_any_head_is_followed(query: dict[str, str], shown: tuple[int, int]) -> None:
    choice = component_data(open_app(model="next", text="the dog", **query).main)["state"]
    assert (choice["layer"], choice["head"]) == shown


def test_another_model_starts_without_the_edits_of_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        if current_state().model == "next":
            sidebar._on_model_change()

    monkeypatch.setattr("headlight_app.ui.component.reported", lambda key: {"model": "masked", "turn": 1})
    edited = {"edits": "decoder.1.self.weights[2]=set:0", "positional_encoding": "alibi"}
    at = scripted(page, model="next", text="the dog", **edited)
    assert address(at) == {"model": "masked", "text": "the dog", "positional_encoding": "alibi"}
    assert not at.exception


def picked(at: AppTest) -> list[dict[str, Any]]:
    """The models in the sidebar's list."""
    (found,) = (each for each in at.sidebar.get("bidi_component") if "model_picker" in each.proto.component_name)
    return [model for group in json.loads(found.proto.json)[0]["groups"] for model in group["models"]]


def test_the_list_of_models_says_what_each_does() -> None:
    models = {model["name"]: model for model in picked(open_app())}
    assert models["sort"]["purpose"] == "Sorts numbers"
    assert models["mood"]["purpose"] == "Labels texts", "without a card, the purpose of its kind of model"
    assert all(model["enabled"] for model in models.values()), "Explore shows any model"


@pytest.mark.parametrize("text", ["", "   ", "cat " * 400, "</script>", "$x$ **b**", "\N{GRINNING FACE}", "שלום"])
def test_no_text_breaks_the_page(text: str) -> None:
    at = open_app(model="next", text=text)
    assert not at.exception
    assert component_data(at.main)["state"]["text"] == text


def test_an_unknown_model_is_said_to_be_missing() -> None:
    at = open_app(model="../../etc")
    assert not at.exception
    assert "not here" in at.warning[0].value


def test_a_model_that_is_refused_is_said_to_be_here(
    toys: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "models" / "broken"
    shutil.copytree(toys / "next", broken)
    (broken / "config.json").write_text('{"d_model": "wide"}')
    monkeypatch.setenv(MODELS_VARIABLE, f"{toys}{os.pathsep}{broken.parent}")
    listed_models(refresh=True)
    said = open_app(model="broken").warning[0].value
    assert "is here, but it cannot be opened" in said and "config" in said


def test_a_text_too_long_for_an_address_says_so() -> None:
    at = open_app(model="next", text="cat " * 400)
    assert "too long for an address" in at.info[0].value


def test_how_the_weights_were_used_stands_in_the_sidebar() -> None:
    at = open_app(model="next")
    assert any("All weights were loaded" in caption.value for caption in at.sidebar.caption)
    assert not at.sidebar.expander


def test_the_notes_on_the_weights_stay_while_the_page_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    at = open_app(model="next")
    monkeypatch.setattr("headlight_app.frame.main._report_weights", lambda *_: None)  # as long as it is not there
    at.run()
    assert any("All weights were loaded" in caption.value for caption in at.sidebar.caption)


def test_several_notes_on_the_weights_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = ("3 tensors were loaded.", "lm_head.bias is not used.")
    monkeypatch.setattr("headlight_app.models.answers.cards.open_checkpoint", lambda *_: SimpleNamespace(notes=notes))
    monkeypatch.setattr("headlight_app.models.answers.cards.nonfinite_warning", lambda name, device: "")
    (folded,) = open_app(model="next").sidebar.expander
    assert folded.label == "2 notes on its weights"
    told = folded.caption[0].value.replace("\\", "")  # Markdown characters are escaped
    assert all(note in told for note in notes)


def test_weights_that_are_no_numbers_are_told_above_the_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "headlight_app.models.answers.cards.nonfinite_warning",
        lambda name, device: "1 tensor holds NaN or infinite weights.",
    )
    at = open_app(model="next")
    assert "NaN or infinite" in at.warning[0].value
    assert at.run().warning[0].value == at.warning[0].value


def test_what_went_wrong_is_a_sentence_without_a_path_of_the_server() -> None:
    def page() -> None:
        assert on_script_error(FileNotFoundError("/secret/place"))
        assert on_script_error(CheckpointError("a_b_ has no weights."))

    said = [error.value for error in scripted(page).error]
    assert "FileNotFoundError" in said[0] and "secret" not in said[0]
    assert said[1].replace("\\", "") == "a_b_ has no weights."


def test_a_process_started_from_within_runs_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    monkeypatch.setattr("headlight_app.frame.main.main", lambda: runs.append("a page"))
    run_path(str(SCRIPT), run_name="__mp_main__")
    assert not runs
    run_path(str(SCRIPT), run_name="__main__")
    assert runs == ["a page"]
