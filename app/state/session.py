"""Keeps State and the address in step. The session holds the state; the address is written from it.

An address that nobody here wrote (a link, Back, reload) is read; a change by a widget or a component is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.state.state import AS_TRAINED, PER_MODEL_DEFAULTS, State
from app.ui.component import reported

OPEN_EXPLORE = "_open_explore"

EXPLORE_COMPONENT = "explore"  # the key of the component on Explore


def select_model(name: str) -> None:
    """Go to a model as it was trained, and see its heads."""
    change_state(model=name, **AS_TRAINED, **PER_MODEL_DEFAULTS)
    st.session_state[OPEN_EXPLORE] = True


def should_open_explore() -> bool:
    """Whether somebody has just chosen a model elsewhere than on the page that shows it; asked once in a run."""
    return bool(st.session_state.pop(OPEN_EXPLORE, False))


STATE_KEY, ADDRESS_KEY, SERIAL_KEY, COMPONENT_RUN_KEY = "_state", "_address", "_serial", "_component_run"
DEFAULT_HEAD_KEY = "_default_head"  # the head that was pointed at, of which model


def current_state() -> State:
    """The state of this run, read from the address where that is not the one written last."""
    address = st.query_params.to_dict()
    if STATE_KEY not in st.session_state or address != st.session_state.get(ADDRESS_KEY):
        st.session_state[STATE_KEY] = State.from_query(address)
        st.session_state[ADDRESS_KEY] = address
    state: State = st.session_state[STATE_KEY]
    return state


def change_state(**choices: Any) -> None:
    """Make choices, and put the whole state into the address."""
    # Begins with the session's state: the address may be older than what a component reported a moment ago.
    before = st.session_state.get(STATE_KEY) or State.from_query(st.query_params.to_dict())
    state = before.change(**choices)
    query = state.to_query()
    st.session_state[STATE_KEY] = state
    st.session_state[ADDRESS_KEY] = query
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)


def known_default_head(state: State) -> list[int] | None:
    """The head that was found for this model before; a session does not change its mind."""
    known = st.session_state.get(DEFAULT_HEAD_KEY, {})
    return [known["layer"], known["head"]] if known.get("model") == state.model else None


def with_default_head(state: State, default_head: Sequence[int] | None) -> State:
    """The same with a head to look at: where nobody has chosen one, the one that was found."""
    if max(state.layer, state.head) >= 0 or default_head is None:
        return state.change(layer=max(state.layer, 0), head=max(state.head, 0))
    layer, head = default_head
    st.session_state[DEFAULT_HEAD_KEY] = {"model": state.model, "layer": layer, "head": head}
    return state.change(layer=layer, head=head)


def report_serial() -> int:
    """The number of the last component report that has been applied."""
    number: int = st.session_state.get(SERIAL_KEY, 0)
    return number


def is_component_run() -> bool:
    """Whether a component's report caused this run: it has painted already. Asked once in a run."""
    return bool(st.session_state.pop(COMPONENT_RUN_KEY, False))


def on_component_change(opening_text: str, opening_source: str) -> None:
    """Apply what Explore's component reported; an untouched opening sentence stays out of the state."""
    st.session_state[COMPONENT_RUN_KEY] = True
    apply_report(reported(EXPLORE_COMPONENT), opening_text, opening_source)


def apply_report(report: dict[str, Any], opening_text: str, opening_source: str) -> None:
    """Take over what a component reported; an opening sentence or head that nobody touched stays unsaid."""
    st.session_state[SERIAL_KEY] = int(report.pop("serial", 0))
    state: State = st.session_state[STATE_KEY]
    for name, opening in (("text", opening_text), ("source", opening_source)):
        if getattr(state, name) is None and report.get(name) == opening:
            report.pop(name)
    default_head = st.session_state.get(DEFAULT_HEAD_KEY, {})
    if max(state.layer, state.head) < 0 and all(
        report.get(name) == default_head.get(name) for name in ("layer", "head")
    ):
        report |= {"layer": -1, "head": -1}
    change_state(**report)
