"""Custom components, for what Plotly draws too slowly or cannot draw; they send requests to the server directly.

Streamlit receives HTML and style sheets as text; the script is that of `headlight_app.ui.modules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from headlight_app.ui.modules import ROOT, folder
from headlight_app.ui.modules import SCRIPT as PAGE

# The network may fail while a component is opened. Some browsers cache a failed module by its address, so each
# attempt uses new addresses. Streamlit would treat a script of one line as the path of a file.
SCRIPT = """
const PAUSES = [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000]; // milliseconds
const load = (attempt) =>
  import(new URL(`{folder}${{attempt ? `-${{attempt}}` : ""}}/{script}`, document.baseURI)).catch(async (error) => {{
    if (attempt === PAUSES.length) throw error;
    await new Promise((resolve) => setTimeout(resolve, PAUSES[attempt]));
    return load(attempt + 1);
  }});
const page = await load(0);
export default page.{key};
"""

API = "api"  # the address of the server's API, relative to every page
PAGES = "./"  # the folder of all pages, likewise
VIEW_STYLES = ("ui/frontend/views/views.css", "ui/frontend/model_diagram/model_diagram.css")  # where views are shown
LAST_STYLES = ("ui/frontend/styles/touch.css", "ui/frontend/styles/forced_colours.css")  # of every component

Data = dict[str, Any]  # passed between a page and its component by Streamlit, without checks


@dataclass(frozen=True)
class Component:
    """One component: its key in the session, and its HTML and style sheets by their paths from ROOT.

    Its key is also the name of its export in `frame/frontend/page.ts`. Each pair in `parts` is a comment in the HTML
    and its replacement.
    """

    key: str
    html: str
    styles: tuple[str, ...]
    parts: tuple[tuple[str, str], ...] = ()

    def mount(self, data: Mapping[str, Any], on_settled: Callable[[], None] = lambda: None) -> None:
        """Draw it; once choices have settled, a run begins with `on_settled`, and `reported` returns them."""
        # In a list: in a dictionary, Streamlit checks whether each part is a table, and imports pandas for that.
        _registered(self)(key=self.key, data=[dict(data)], on_settled_change=on_settled)

    @property
    def markup(self) -> str:
        """Its HTML, with its parts."""
        html = read(self.html)
        for comment, part in self.parts:
            html = html.replace(comment, part)
        return html

    @property
    def stylesheet(self) -> str:
        """Its style sheets as one."""
        return "\n".join(map(read, (*self.styles, *LAST_STYLES)))

    def reported(self) -> Data:
        """Its last report."""
        return reported(self.key)


def shared_styles(own: str) -> tuple[str, ...]:
    """The style sheets of a component: the shared ones and its own."""
    return "ui/frontend/styles/base.css", "ui/frontend/styles/shared.css", own, "ui/frontend/styles/presenter.css"


def reported(key: str) -> Data:
    """The last report of the component with this key; empty before the first, or if it is not a mapping."""
    settled = (st.session_state.get(key) or {}).get("settled")
    return dict(settled) if isinstance(settled, Mapping) else {}


def read(path: str) -> str:
    """The text of a file by its path from ROOT."""
    return (ROOT / path).read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def _registered(component: Component) -> Callable[..., Any]:
    return st.components.v2.component(
        f"headlight_{component.key}",
        html=component.markup,
        css=component.stylesheet,
        js=SCRIPT.format(folder=folder(), script=PAGE, key=component.key),
    )
