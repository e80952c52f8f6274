"""Every page opens with a model that suits it: where the chosen one does not, the first that does takes its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

import streamlit as st

from headlight_app.contract.state import OPENING, State
from headlight_app.engine.models import AvailableModel
from headlight_app.state.requirement import ANY_MODEL, Requirement
from headlight_app.state.session import current_state, replace_state, reported_state, return_to
from headlight_app.state.url import encode_state

LAST_SHOWN, REPLACED, KEPT = "_last_shown", "_replaced_model", "_kept_states"


def chosen_entry(state: State, entries: Sequence[AvailableModel]) -> AvailableModel:
    """The model that the state names, or the first of all."""
    return next((entry for entry in entries if entry.name == state.model), entries[0])


def requirement(page: ModuleType, state: State) -> Requirement:
    """The requirement of a page on its model; most pages show any."""
    required: Requirement = page.required(state) if hasattr(page, "required") else ANY_MODEL
    return required


def with_suitable_model(page: ModuleType, state: State, entries: Sequence[AvailableModel]) -> State:
    """The same state with a model that the page can show; as it is where there is none."""
    required = requirement(page, state)
    if not entries or required.suits(chosen_entry(state, entries).config):
        return state
    other = required.first_of(entries)
    return state.change(model=other.name, **OPENING) if other else state


def state_on_return(page: ModuleType, open_page: ModuleType, state: State, entries: Sequence[AvailableModel]) -> State:
    """The state to which a link to a page leads.

    A page that needs a certain model opens with one of its own. The model and the text that another page was left with
    are there on return.
    """
    suited = with_suitable_model(page, state, entries)
    kept: State | None = st.session_state.get(KEPT, {}).get(page.PATH)
    needs_another = suited != state or requirement(open_page, state) is not ANY_MODEL
    if kept is None or not needs_another or kept.model == state.model:
        return suited
    if with_suitable_model(page, kept, entries) != kept or kept.model not in {"", *(entry.name for entry in entries)}:
        return suited
    return kept.change(presenter=state.presenter, device=state.device)


def resume_state(page: ModuleType, pages: Iterable[ModuleType], entries: Sequence[AvailableModel]) -> None:
    """The state with which a page was left is that of this run, where a link of the sidebar led back to it."""
    last_path, _ = st.session_state.get(LAST_SHOWN, (page.PATH, ""))
    left = reported_state()
    if left is None or last_path == page.PATH:
        return
    st.session_state[KEPT] = {**st.session_state.get(KEPT, {}), last_path: left}
    last_page = next(other for other in pages if last_path == other.PATH)
    resumed = state_on_return(page, last_page, left, entries)
    if encode_state(resumed) == st.query_params.to_dict():
        return_to(resumed)


def suitable_state(page: ModuleType, state: State, entries: Sequence[AvailableModel]) -> tuple[State, str]:
    """The state of this run, with a model that the page can show, and what to say where that is another than before.

    The links of the sidebar lead to such a state already; an address written by hand may name any model.
    """
    last_path, left = st.session_state.get(LAST_SHOWN, (page.PATH, ""))
    suited = with_suitable_model(page, state, entries)
    if suited != state:
        left = state.model
        # A text that came without the name of a model was written for this page, whichever model suits it.
        replace_state(model=suited.model, **(OPENING if left else {}))
        state = current_state()
    elif last_path == page.PATH:
        left = ""
    st.session_state[LAST_SHOWN] = (page.PATH, state.model)
    if left not in ("", state.model):
        st.session_state[REPLACED] = (page.PATH, state.model, _replacement(page, state, left, entries))
    path, model, words = st.session_state.get(REPLACED, ("", "", ""))
    return state, words if (path, model) == (page.PATH, state.model) else ""


def _replacement(page: ModuleType, state: State, left: str, entries: Sequence[AvailableModel]) -> str:
    """Why another model is open than the one that was left; nothing where that one would have done as well."""
    required = requirement(page, state)
    unsuited = [entry for entry in entries if entry.name == left and not required.suits(entry.config)]
    if not unsuited:
        return ""
    return (
        f"This page needs a model that {required.words}. {unsuited[0].title} does not, so "
        f"{chosen_entry(state, entries).title} is open."
    )
