"""The frame: brand, pages, the widgets that write State, and the chosen page."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import ModuleType

import streamlit as st

from app import controls
from app.cached import devices, models
from app.pages import explore, positions
from app.session import current
from app.state import State
from model.checkpoint import Entry

STATIC = Path(__file__).parent / "static"
PAGES = (explore, positions)


def main() -> None:
    """One run of the page."""
    st.set_page_config("Headlight", str(STATIC / "icon.png"), layout="wide")
    st.html(STATIC / "frame.css")
    state, entries = current(), models()
    pages = {page: st.Page(partial(_show, page), title=page.TITLE, url_path=page.PATH) for page in PAGES}
    chosen = st.navigation(list(pages.values()), position="hidden")
    with st.sidebar:
        st.html((STATIC / "brand.html").read_text(encoding="utf-8"))
        for page, link in pages.items():
            st.page_link(link, label=page.TITLE, icon=page.ICON, query_params=state.to_query())
        if entries:
            _sidebar(state, entries)
    chosen.run()


def _show(page: ModuleType) -> None:
    state, entries = current(), models()
    if not entries:
        st.title("No model yet")
        st.write("Start with `headlight --models FOLDER`, a folder that holds trained models, or train one.")
        return
    named = {entry.name: entry for entry in entries}
    if state.model and state.model not in named:
        st.warning("The model that this link names is not here; another one is shown.")
    entry = named.get(state.model, entries[0])
    page.show(state.change(model=entry.name).fitted(entry.config), entry)


def _sidebar(state: State, entries: tuple[Entry, ...]) -> None:
    controls.model(state, entries)
    entry = next((entry for entry in entries if entry.name == state.model), entries[0])
    st.caption(_facts(entry))
    controls.wiring(state.fitted(entry.config), entry.config)
    controls.device(state, devices())


def _facts(entry: Entry) -> str:
    config = entry.config
    layers = f"{config.encoder_layers} + {config.layers}" if config.has_cross else f"{config.layers}"
    kind = config.architecture.capitalize()
    return f"{kind} · {layers} layers × {config.heads} heads · {config.context} tokens"
