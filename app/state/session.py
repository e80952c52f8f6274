"""Keeps State and the address in step. The session holds the state; the address is written from it.

An address that nobody here wrote (a link, Back, reload) is read; a change by a widget or the instrument is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from app.components import settled
from app.state.state import AFRESH, TRAINED, State

LEAVING = "_leaving"


def choose(name: str) -> None:
    """Go to a model as it was trained, and see its heads."""
    change(model=name, masks=TRAINED, position=TRAINED, kernel=TRAINED, scale=TRAINED, **AFRESH)
    st.session_state[LEAVING] = True


def leaving() -> bool:
    """Whether somebody has just chosen a model elsewhere than on the page that shows it; asked once in a run."""
    return bool(st.session_state.pop(LEAVING, False))


STATE, WRITTEN, SERIAL, HEARD = "_state", "_address", "_serial", "_heard"
POINTED = "_pointed"  # the head that was pointed at, of which model


def current() -> State:
    """The state of this run, read from the address where that is not the one written last."""
    address = st.query_params.to_dict()
    if STATE not in st.session_state or address != st.session_state.get(WRITTEN):
        st.session_state[STATE] = State.from_query(address)
        st.session_state[WRITTEN] = address
    state: State = st.session_state[STATE]
    return state


def change(**choices: Any) -> None:
    """Make choices, and put the whole state into the address."""
    # Begins with the session's state: the address may be older than what the instrument reported a moment ago.
    before = st.session_state.get(STATE) or State.from_query(st.query_params.to_dict())
    state = before.change(**choices)
    query = state.to_query()
    st.session_state[STATE] = state
    st.session_state[WRITTEN] = query
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)


def pointed(state: State, find: Callable[[], tuple[int, int]]) -> State:
    """The same with a head to look at: where nobody has chosen one, the one that is found, once for each model."""
    if max(state.layer, state.head) >= 0:
        return state.change(layer=max(state.layer, 0), head=max(state.head, 0))
    if st.session_state.get(POINTED, {}).get("model") != state.model:
        layer, head = find()
        st.session_state[POINTED] = {"model": state.model, "layer": layer, "head": head}
    found = st.session_state[POINTED]
    return state.change(layer=found["layer"], head=found["head"])


def serial() -> int:
    """The number of the instrument's last report that has been taken over."""
    number: int = st.session_state.get(SERIAL, 0)
    return number


def heard() -> bool:
    """Whether this run is due to a report of the instrument, which has then painted already; asked once in a run."""
    return bool(st.session_state.pop(HEARD, False))


def listen(opening: str, opening_source: str) -> None:
    """Take over what the instrument reported; an opening sentence that nobody touched stays unsaid."""
    st.session_state[HEARD] = True
    take(settled(), opening, opening_source)


def take(reported: dict[str, Any], opening: str, opening_source: str) -> None:
    """Take over what a component reported; an opening sentence or head that nobody touched stays unsaid."""
    reported = {name: tuple(value) if isinstance(value, list) else value for name, value in reported.items()}
    st.session_state[SERIAL] = int(reported.pop("serial", 0))
    last: State = st.session_state[STATE]
    for name, unsaid in (("text", opening), ("source", opening_source)):
        if getattr(last, name) is None and reported.get(name) == unsaid:
            reported.pop(name)
    found = st.session_state.get(POINTED, {})
    if max(last.layer, last.head) < 0 and all(reported.get(name) == found.get(name) for name in ("layer", "head")):
        reported |= {"layer": -1, "head": -1}
    change(**reported)
