"""Synchronizes State and the URL. The session stores the state; the URL's query is written from it.

The query is read if it is new to the session (a link) or comes from Back or Forward; changes by widgets and components
are written to it. A request may carry an older query, if the browser sent it before receiving the newest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import msgspec
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from headlight.errors import HeadlightError
from headlight_app.contract.question import AS_TRAINED
from headlight_app.contract.state import PER_MODEL_DEFAULTS, State
from headlight_app.state.url import decode_state, encode_state
from headlight_app.ui.component import Data, reported

OPEN_EXPLORE, JUST_OPENED = "_open_explore", "_just_opened"


def select_model(name: str) -> None:
    """Select a model as trained, and open Explore in the next run."""
    change_state(model=name, variant=AS_TRAINED, **PER_MODEL_DEFAULTS, task="")
    st.session_state[OPEN_EXPLORE] = True


def should_open_explore() -> bool:
    """Whether another page just selected a model, so that Explore should open. Resets the flag: call once per run."""
    opens = bool(st.session_state.pop(OPEN_EXPLORE, False))
    if opens:
        st.session_state[JUST_OPENED] = current_state().model
    return opens


def was_just_opened(name: str) -> bool:
    """Whether another page just opened this model; its button had the keyboard focus and no longer exists."""
    return name == st.session_state.get(JUST_OPENED)


def forget_opening() -> None:
    """Clear the mark of `was_just_opened`, when a page other than Explore is shown."""
    st.session_state.pop(JUST_OPENED, None)


SESSION_KEY, REPORTS_KEY = "_session", "_reports"
MAX_LATE = 16  # queries remembered; no request carries an older one

Report = Data


@dataclass(frozen=True)
class _Session:
    """The values of a session, in one object because Streamlit may end a run at any access to the session."""

    state: State
    addresses: tuple[dict[str, str], ...]  # its recent queries, the current one last
    serial: int = 0  # of the last applied report
    replaced: dict[str, str] | None = None  # the query that the browser replaces by the newest


@dataclass(frozen=True)
class _Reports:
    """The component whose reports are applied, their reader, and the opening texts and heads omitted from the URL."""

    component: str
    read: Callable[[Report, State], Report]
    opening_text: str
    opening_source: str
    default_head: tuple[int, int] | None
    opening_head: tuple[int, int] | None

    def unsaid_head(self, state: State) -> tuple[int, int] | None:
        """The head that a page shows for a state without one."""
        return (state.shows_opening and self.opening_head) or self.default_head


def current_state() -> State:
    """The state of this run, read from the URL if its query is new."""
    address = st.query_params.to_dict()
    session = _with_new_report(_session() or _hold(decode_state(address), address))
    is_answered = address in (session.addresses[-1], session.replaced)
    if not is_answered and (_is_history_navigation() or address not in session.addresses):
        session = _hold(decode_state(address), address)
    elif not is_answered:
        st.query_params.from_dict(session.addresses[-1])
    return session.state


def reported_state() -> State | None:
    """The last state of this session, with its component's new report applied; None for a new session."""
    session = _session()
    return _with_new_report(session).state if session else None


def return_to(state: State) -> None:
    """Restore an earlier state of the session, whose query would otherwise be ignored as an old one."""
    _hold(state, encode_state(state))


def change_state(**choices: Any) -> None:
    """Change choices, and write the whole state to the URL."""
    query = _change(choices).addresses[-1]
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)


def replace_state(**choices: Any) -> None:
    """The same without a new entry in the browser's history: `address_script` replaces the last entry."""
    st.session_state[SESSION_KEY] = replace(_change(choices), replaced=st.query_params.to_dict())


def address_script() -> str:
    """HTML with a script that replaces the last history entry by the newest query; empty if nothing is to be replaced.

    Streamlit itself can only add history entries.
    """
    session = _session()
    if session is None or session.replaced != st.query_params.to_dict():
        return ""
    query = json.dumps(f"?{urlencode(session.addresses[-1])}")
    return f'<script>history.replaceState(history.state, "", {query});</script>'


def _change(choices: Data) -> _Session:
    # Starts from the session's state: the URL may be older than a component's last report.
    session, address = _session(), st.query_params.to_dict()
    state = (session.state if session else decode_state(address)).change(**choices)
    return _hold(state, address, encode_state(state))


def _session() -> _Session | None:
    session: _Session | None = st.session_state.get(SESSION_KEY)
    return session


def _hold(state: State, *addresses: dict[str, str], serial: int | None = None) -> _Session:
    before = _session() or _Session(state, ())
    others = (address for address in before.addresses if address not in addresses)
    session = _Session(state, (*others, *addresses)[-MAX_LATE:], before.serial if serial is None else serial)
    st.session_state[SESSION_KEY] = session
    return session


def _is_history_navigation() -> bool:
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def apply_reports(
    component: str,
    opening_text: str,
    opening_source: str,
    read: Callable[[Report, State], Report] = lambda report, state: report,
    default_head: tuple[int, int] | None = None,
    opening_head: tuple[int, int] | None = None,
) -> None:
    """From now on, each new report of this component is `read`, with the state then, and applied to it.

    This happens at the start of the next run. The state may be newer than the page that called this: a run that took
    over an address can have been ended before it reached its page.

    Not in a callback: if two requests follow each other closely, Streamlit ends the first one within its callbacks.
    An untouched opening text is omitted from the URL, and so is the head that the page shows without one: the
    `opening_head`, if there is one, until something is typed, and then the `default_head`.
    """
    st.session_state[REPORTS_KEY] = _Reports(component, read, opening_text, opening_source, default_head, opening_head)


def _with_new_report(session: _Session) -> _Session:
    """The session with a new report applied to its own state, regardless of the current URL."""
    reports: _Reports | None = st.session_state.get(REPORTS_KEY)
    report = reported(reports.component) if reports else {}
    serial = report.pop("serial", 0)
    if reports is None or not isinstance(serial, int) or serial <= session.serial:
        return session
    try:
        state = session.state.change(**_without_unsaid(reports.read(report, session.state), session.state, reports))
    except (HeadlightError, msgspec.ValidationError, UnicodeEncodeError):  # not sent by our component
        state = session.state
    return _hold(state, encode_state(state), serial=serial)


def _without_unsaid(report: Report, state: State, reports: _Reports) -> Report:
    for name, opening in (("text", reports.opening_text), ("source", reports.opening_source)):
        if getattr(state, name) is None and report.get(name) == opening:
            report.pop(name)
    unsaid = reports.unsaid_head(state)
    if unsaid and not {"layer", "head", "text", "source"}.isdisjoint(report):
        shown = state.with_default_head(unsaid)
        chosen = report.get("layer", shown.layer), report.get("head", shown.head)
        layer, head = (-1, -1) if chosen == reports.unsaid_head(state.change(**report)) else chosen
        report |= {"layer": layer, "head": head}
    return report


def without_opening_head(state: State) -> State:
    """The state for another page, without the head that this page opened with: nobody chose it."""
    reports: _Reports | None = st.session_state.get(REPORTS_KEY)
    is_unchosen = reports is not None and (state.layer, state.head) == reports.opening_head
    return state.change(layer=-1, head=-1) if is_unchosen else state


def report_serial() -> int:
    """The number of the last applied component report."""
    session = _session()
    return session.serial if session else 0
