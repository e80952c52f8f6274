"""A page opens with a suitable model and reports if that is not the chosen one."""

from collections.abc import Callable

import streamlit as st

from headlight_app.engine.models import available_models
from headlight_app.explore import page as explore
from headlight_app.frame.suitable_model import suitable_state, with_suitable_model
from headlight_app.generate import page as generate
from headlight_app.state.session import address_script, current_state
from headlight_app.tasks import page as tasks
from tests.app.pages import scripted


def written(page: Callable[[], None], **query: str) -> list[str]:
    """The text of a page in its second run: the message stays while page and model do."""
    at = scripted(page, **query)
    assert not at.exception
    return [text.value for text in at.run().text]


def show_generate() -> None:
    """Show the model with which Generate opens, and the message about it."""
    state, words = suitable_state(generate, current_state(), available_models())
    st.text(state.model)
    st.text(words)


def test_a_model_that_suits_stays_and_another_gives_way_to_the_first_that_does() -> None:
    assert written(show_generate, model="next", text="the dog") == ["next", ""]
    assert written(show_generate) == ["", ""], "the default model suits the page"
    model, words = written(show_generate, model="mood", edits="encoder.1.self.weights[2]=set:0")
    assert model == "stories-causal"
    assert words == "This page needs a model that writes. mood does not, so stories-causal is open."


def test_a_text_that_names_no_model_is_read_by_the_one_that_suits() -> None:
    def visit() -> None:
        state, words = suitable_state(tasks, current_state(), available_models())
        assert not words, "the unsuitable model was not chosen by the visitor"
        st.text(state.model)
        st.text(state.text)

    at = scripted(visit, task="classify", text="a dull film")
    assert [text.value for text in at.text] == ["sentiment", "a dull film"]


def test_the_sidebar_leads_to_a_model_that_suits_and_the_page_says_why() -> None:
    def visit() -> None:
        entries, state = available_models(), current_state()
        suitable_state(explore, state, entries)
        linked = with_suitable_model(generate, state, entries)
        assert linked.text is None, "the model opens with its own example"
        _, words = suitable_state(generate, linked, entries)
        st.text(words)

    assert "mood does not, so stories-causal is open" in scripted(visit, model="mood", text="the dog").text[0].value


def test_the_address_gives_way_without_an_entry_in_the_history() -> None:
    def visit() -> None:
        suitable_state(generate, current_state(), available_models())
        st.text(address_script())
        current_state()
        st.text(st.query_params["model"])

    script, address = (text.value for text in scripted(visit, model="mood").text)
    assert script == '<script>history.replaceState(history.state, "", "?model=stories-causal");</script>'
    assert address == "mood", "setting it in Streamlit would add a history entry"
