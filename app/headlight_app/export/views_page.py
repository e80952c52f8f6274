"""A page of views: one component that asks for the views of the page, draws them and saves them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import to_builtins

from headlight_app.contract.question import Question
from headlight_app.contract.state import State
from headlight_app.export.page import shared_state
from headlight_app.state.session import apply_reports, report_serial
from headlight_app.ui import export_menu
from headlight_app.ui.component import API, VIEW_STYLES, Component, shared_styles

FOLDER = "ui/frontend/views/page"
COMPONENT = Component(
    "views_page",
    html=f"{FOLDER}/views_page.html",
    styles=(*VIEW_STYLES, *shared_styles(f"{FOLDER}/views_page.css"), export_menu.STYLE),
    parts=(export_menu.export_menu(),),
)


def show_views(path: str, state: State, question: Question, reads: Iterable[str]) -> None:
    """The views of the page `path` about a question; `reads` are the fields of the state that they read and change."""
    data = {
        "api": API,
        "page": path,
        "question": question,
        "state": {name: getattr(state, name) for name in reads},
        "serial": report_serial(),
        "presenter": state.presenter,
        "shared": shared_state(path, state),
    }
    apply_reports(COMPONENT.key, "", "")
    COMPONENT.mount(to_builtins(data))
