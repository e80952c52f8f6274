"""Selects a suitable model for each page: an unsuitable one is replaced by the first suitable one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

import streamlit as st

from headlight_app.contract.state import OPENING, State
from headlight_app.engine.models import AvailableModel
from headlight_app.state.requirement import ANY_MODEL, Requirement
from headlight_app.state.session import (
    current_state,
    replace_state,
    reported_state,
    return_to,
    without_opening_head,
)
from headlight_app.state.url import encode_state

SAME_HEAD = ("model", "text", "source", "attention")  # if they are the same, a page has the same head again
LAST_SHOWN, REPLACED, KEPT = "_last_shown", "_replaced_model", "_kept_states"


def chosen_entry(state: State, entries: Sequence[AvailableModel]) -> AvailableModel:
    """The model of the state, or the first one."""
    return next((entry for entry in entries if entry.name == state.model), entries[0])


def requirement(page: ModuleType, state: State) -> Requirement:
    """The requirement of a page on its model; most pages accept any."""
    required: Requirement = page.required(state) if hasattr(page, "required") else ANY_MODEL
    return required


def with_suitable_model(page: ModuleType, state: State, entries: Sequence[AvailableModel]) -> State:
    """The same state with a model that the page can show; unchanged if there is none."""
    required = requirement(page, state)
    if not entries or required.suits(chosen_entry(state, entries).config):
        return state
    other = required.first_of(entries)
    return state.change(model=other.name, **OPENING) if other else state


def state_on_return(page: ModuleType, open_page: ModuleType, state: State, entries: Sequence[AvailableModel]) -> State:
    """The state of the sidebar's link to a page.

    A page that needs another model opens with a suitable one. On return to the earlier page, its model and text are
    restored.
    """
    kept: State | None = st.session_state.get(KEPT, {}).get(page.PATH)
    state = _taken_along(page, open_page, state, kept)
    suited = with_suitable_model(page, state, entries)
    needs_another = suited != state or requirement(open_page, state) is not ANY_MODEL
    if kept is None or not needs_another or kept.model == state.model:
        return suited
    if with_suitable_model(page, kept, entries) != kept or kept.model not in {"", *(entry.name for entry in entries)}:
        return suited
    return kept.change(presenter=state.presenter, device=state.device)


def _taken_along(page: ModuleType, open_page: ModuleType, state: State, kept: State | None) -> State:
    """What a page gets from another one: neither a teacher's notes nor a student's work.

    Compare begins with a head of its own unless one was chosen, and gives back the one that `kept` has.
    """
    if page is open_page:
        return state
    state = state.change(notes="", lesson_work="")
    if getattr(page, "CHOOSES_HEAD", False):
        return without_opening_head(state)
    is_same = kept is not None and all(getattr(kept, name) == getattr(state, name) for name in SAME_HEAD)
    return (
        state.change(layer=kept.layer, head=kept.head)
        if kept and is_same and max(state.layer, state.head) < 0
        else state
    )


def resume_state(page: ModuleType, pages: Iterable[ModuleType], entries: Sequence[AvailableModel]) -> None:
    """If a sidebar link led back to a page, restore the state with which the visitor left it."""
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
    """The state of this run with a model that the page can show, and a sentence if the model was replaced.

    Sidebar links contain a suitable model already; a hand-written URL may name any model.
    """
    last_path, left = st.session_state.get(LAST_SHOWN, (page.PATH, ""))
    suited = with_suitable_model(page, state, entries)
    if suited != state:
        left = state.model
        # A text in a URL without a model is meant for this page, so it is kept.
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
    """Why another model is open than before; empty if the previous one suits the page too."""
    required = requirement(page, state)
    unsuited = [entry for entry in entries if entry.name == left and not required.suits(entry.config)]
    if not unsuited:
        return ""
    return (
        f"This page needs a model that {required.words}. {unsuited[0].title} does not, so "
        f"{chosen_entry(state, entries).title} is open."
    )
