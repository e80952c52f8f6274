"""What Plotly is too slow or too stiff for: components of our own, which ask the server directly.

HTML and style sheets go to Streamlit as text; the script is a module of `app.ui.modules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from app.ui.modules import ROOT, address, base_path

# Streamlit takes a script of one line for a file's path.
SCRIPT = 'const component = await import(new URL("{address}", document.baseURI));\nexport default component.default;\n'


@dataclass(frozen=True)
class Component:
    """One component: its key in the session, its module, and its HTML and style sheets by their paths from ROOT.

    Each of `parts` takes the place of a comment in the HTML.
    """

    key: str
    module: str
    html: str
    styles: tuple[str, ...]
    parts: tuple[tuple[str, str], ...] = ()

    def mount(self, data: Mapping[str, Any], on_settled: Callable[[], None] = lambda: None) -> None:
        """Draw it; once choices have settled a run begins with `on_settled`, and `reported` says what they are."""
        # In a list: of a dictionary Streamlit asks each part whether it is a table, and imports pandas to know.
        _registered(self)(key=self.key, data=[dict(data)], on_settled_change=on_settled)

    def reported(self) -> dict[str, Any]:
        """What it last reported."""
        return reported(self.key)


def shared_styles(own: str) -> tuple[str, ...]:
    """The style sheets of a component with one of its own."""
    return "model/rendering/static/base.css", "app/ui/frontend/shared.css", own, "app/ui/frontend/presenter.css"


def reported(key: str) -> dict[str, Any]:
    """What the component of a key last reported."""
    state = st.session_state.get(key) or {}
    return dict(state.get("settled") or {})


def api_address() -> str:
    """The address under which the server answers components."""
    return f"{base_path()}/api"


def read(path: str) -> str:
    """A file by its path from ROOT."""
    return (ROOT / path).read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def _registered(component: Component) -> Callable[..., Any]:
    html = read(component.html)
    for comment, part in component.parts:
        html = html.replace(comment, part)
    return st.components.v2.component(
        f"headlight_{component.key}",
        html=html,
        css="\n".join(map(read, component.styles)),
        js=SCRIPT.format(address=address(component.module)),
    )
