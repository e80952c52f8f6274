"""The widgets that write State. Each shows what the state says and, when changed, changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from app.components.workbench import mounted, reported
from app.services.labels import PARTS
from app.state.session import change, serial
from app.state.state import AFRESH, TRAINED, State, own_parts
from model.checkpoints import Entry
from model.config import Config

WIDTH = 4  # tokens, of a window that somebody has just chosen
MATRIX = "100/110/111"


def model(state: State, entries: Sequence[Entry], titles: Mapping[str, str]) -> None:
    """Which model; another one starts without the edits made to this one. `titles` of those whose name is no title."""
    names = [entry.name for entry in entries]

    def take() -> None:
        change(model=st.session_state.model, **AFRESH)

    st.session_state.model = state.model if state.model in names else names[0]
    st.selectbox("Model", names, key="model", on_change=take, format_func=lambda name: titles.get(name, name))


def wiring(state: State, trained: Config) -> None:
    """Mask, positions, kernel and scale, each as trained until somebody chooses otherwise.

    A component, so that the instrument hears of a choice in the browser and repaints without waiting for a run.
    """
    own = own_parts(trained)
    data = {
        "parts": [
            {"field": field, "title": title, "options": _options(own[field], names)}
            for field, (title, names) in PARTS.items()
        ],
        "scaled": trained.scale,
        "choice": {field: getattr(state, field) for field in (*PARTS, "scale")},
        "width": WIDTH,
        "matrix": MATRIX,
        "serial": serial(),
        "turn": reported("wiring").get("turn", 0),
    }
    mounted("wiring", data, _rewired)


def _options(own: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The part that a model was trained with, then all others."""
    return [(TRAINED, f"{names.get(own, own)} · as trained"), *((name, names[name]) for name in names if name != own)]


def _rewired() -> None:
    told = reported("wiring")
    change(**{field: str(told[field]) for field in (*PARTS, "scale")})


def device(state: State, devices: Sequence[str]) -> None:
    """Where to compute."""
    st.session_state.device = state.device if state.device in devices else devices[0]
    st.selectbox("Device", devices, key="device", on_change=_taking("device"))


def presenter(state: State) -> None:
    """Large type and fewer controls."""

    def take() -> None:
        change(presenter="1" if st.session_state.presenter else "")

    st.session_state.presenter = state.presenter == "1"
    st.toggle("Presenter mode", key="presenter", on_change=take, help="Large type for a projector. On Explore also: p")


def _taking(field: str) -> Callable[[], None]:
    return lambda: change(**{field: st.session_state[field]})
