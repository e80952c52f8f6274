"""Components of our own, where Plotly is too slow or too stiff; they ask the server directly.

HTML and style sheets go to Streamlit as text; the script is a module of `headlight_app.ui.modules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from headlight_app.ui.modules import ROOT, base_path, folder

# The network may fail while a component is opened. Where a module did not come, some browsers remember it by its
# address, so each attempt has addresses of its own. Streamlit takes a script of one line for a file's path.
SCRIPT = """
const PAUSES = [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000]; // milliseconds
const load = (attempt) =>
  import(new URL(`{folder}${{attempt ? `-${{attempt}}` : ""}}/{module}`, document.baseURI)).catch(async (error) => {{
    if (attempt === PAUSES.length) throw error;
    await new Promise((resolve) => setTimeout(resolve, PAUSES[attempt]));
    return load(attempt + 1);
  }});
const component = await load(0);
export default component.default;
"""

LAST_STYLES = ("ui/frontend/styles/touch.css", "ui/frontend/styles/forced_colours.css")  # of every component

Data = dict[str, Any]  # Streamlit carries it between a page and its component, and checks it nowhere


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

    def reported(self) -> Data:
        """Its last report."""
        return reported(self.key)


def shared_styles(own: str) -> tuple[str, ...]:
    """The style sheets of a component with one of its own."""
    return "ui/frontend/styles/base.css", "ui/frontend/styles/shared.css", own, "ui/frontend/styles/presenter.css"


def reported(key: str) -> Data:
    """The last report of the component with this key; empty before the first, and where it is none of its own."""
    settled = (st.session_state.get(key) or {}).get("settled")
    return dict(settled) if isinstance(settled, Mapping) else {}


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
        css="\n".join(map(read, (*component.styles, *LAST_STYLES))),
        js=SCRIPT.format(folder=folder(), module=component.module),
    )
