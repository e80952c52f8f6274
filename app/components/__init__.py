"""What Plotly is too slow or too stiff for: components of our own, drawn on canvas in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).parent / "instrument"
# Plain scripts that share one module's scope; the last one exports the component.
SCRIPTS = ("palette", "backend", "tokens", "grid", "head", "lines", "predictions", "instrument")
KEY = "instrument"


@lru_cache(maxsize=1)
def _instrument() -> Callable[..., Any]:
    return st.components.v2.component(
        "headlight_instrument",
        html=(FOLDER / "instrument.html").read_text(encoding="utf-8"),
        css=(FOLDER / "instrument.css").read_text(encoding="utf-8"),
        js="\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
    )


def instrument(data: Mapping[str, Any], on_settled: Callable[[], None]) -> None:
    """Sentence, tokens, all heads, the chosen head and the predictions: asks the backend itself.

    Once nothing has changed for a moment, `on_settled` is called and `settled()` says what was chosen.
    """
    _instrument()(key=KEY, data=dict(data), on_settled_change=on_settled)


def settled() -> dict[str, Any]:
    """What the instrument last reported."""
    reported = st.session_state.get(KEY) or {}
    return dict(reported.get("settled") or {})
