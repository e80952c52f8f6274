"""The components beside the instrument: each a folder of its own, with what it shares with it in front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from model.rendering.html import read_static

FOLDER = Path(__file__).parent
# Plain scripts that share one module's scope; the last one exports the component, and has its name.
SCRIPTS = {
    "generate": (
        *(f"canvas/{name}" for name in ("parts", "packed", "palette", "map")),
        "instrument/backend",
        "shared/table",
        *(f"generate/{name}" for name in ("story", "page", "dice", "looks", "cache", "generate")),
    ),
    "compare": (
        *(f"canvas/{name}" for name in ("parts", "packed", "palette", "map")),
        "instrument/backend",
        "shared/table",
        *(f"compare/{name}" for name in ("sides", "controls", "heads", "maps", "answers", "compare")),
    ),
    "wiring": ("canvas/parts", "wiring/wiring"),
}
STYLES = ("canvas/instrument", "shared/shared")


@lru_cache(maxsize=4)
def _component(name: str) -> Callable[..., Any]:
    return st.components.v2.component(
        f"headlight_{name}",
        html=_read(f"{name}/{name}.html"),
        css="\n".join(_read(f"{style}.css") for style in (*STYLES, f"{name}/{name}", "instrument/presenter")),
        js="\n".join(_read(f"{script}.js") for script in SCRIPTS[name]),
    )


def _read(path: str) -> str:
    """A file of a component's own, or (`canvas/`) of those that a notebook gets as well."""
    return (
        read_static(path.removeprefix("canvas/")) if path.startswith("canvas/") else (FOLDER / path).read_text("utf-8")
    )


def mounted(name: str, data: Mapping[str, Any], on_settled: Callable[[], None]) -> None:
    """One of SCRIPTS, which asks the backend itself; once things have settled `on_settled` is called."""
    _component(name)(key=name, data=dict(data), on_settled_change=on_settled)


def reported(name: str) -> dict[str, Any]:
    """What a component last reported."""
    heard = st.session_state.get(name) or {}
    return dict(heard.get("settled") or {})
