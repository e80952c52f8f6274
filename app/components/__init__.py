"""What Plotly is too slow or too stiff for: components of our own, drawn on canvas in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from model.rendering.html import HEAD_SCRIPTS, PANELS_PLACEHOLDER, STYLESHEETS, read_static, tab_panel

FOLDER = Path(__file__).parent / "instrument"
# Each with an HTML file of its name; the table of the same name in rooms.js draws them.
ROOMS = ("heads", "steps", "layers")
# Plain scripts that share one module's scope; the last one exports the component. HEADS are a notebook's as well.
SCRIPTS = (
    *HEAD_SCRIPTS,
    "backend",
    "gallery",
    *("wording", "making", "changing", "edits"),
    *("steps", "lens", "contributions", "flow", "ablate", "layers", "rooms"),
    *("figure", "print", "takeaway", "presenter"),
    "instrument",
)
STYLES = (*STYLESHEETS, "gallery", "rooms", "edits", "takeaway", "presenter")
TAKEAWAY = "<!-- what can be taken away -->"  # where instrument.html has it
KEY = "instrument"


@lru_cache(maxsize=1)
def _instrument() -> Callable[..., Any]:
    return st.components.v2.component(
        "headlight_instrument",
        html=_html(),
        css="\n".join(_read(f"{name}.css") for name in STYLES),
        js="\n".join(_read(f"{name}.js") for name in SCRIPTS),
    )


def _html() -> str:
    whole = _read("instrument.html").replace(TAKEAWAY, _read("takeaway.html"))
    return whole.replace(PANELS_PLACEHOLDER, "".join(tab_panel(room, _read(f"{room}.html")) for room in ROOMS))


def _read(name: str) -> str:
    """A file of the instrument's own, or of those that it shares."""
    own = FOLDER / name
    return own.read_text(encoding="utf-8") if own.exists() else read_static(name)


def instrument(data: Mapping[str, Any], on_settled: Callable[[], None]) -> None:
    """Sentence, tokens, all heads, the chosen head and the predictions: asks the backend itself.

    Once nothing has changed for a moment, `on_settled` is called and `settled()` says what was chosen.
    """
    _instrument()(key=KEY, data=dict(data), on_settled_change=on_settled)


def settled() -> dict[str, Any]:
    """What the instrument last reported."""
    reported = st.session_state.get(KEY) or {}
    return dict(reported.get("settled") or {})
