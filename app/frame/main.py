"""The frame: brand, pages, the widgets that write State, and the chosen page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import ModuleType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.access.uploads import GONE, PREFIX, guests
from app.access.visitor import visitor
from app.compare import page as compare
from app.explore import page as explore
from app.frame import sidebar
from app.generate import page as generate
from app.models import page as checkpoints
from app.models.cards import account
from app.positions import page as positions
from app.services import traces
from app.services.model_listing import look_once
from app.services.traces import devices, models, own_cards
from app.state import session
from app.state.session import current
from app.state.state import State
from app.ui.markdown import lines, literal
from model.checkpoints import Entry
from model.errors import HeadlightError

STATIC = Path(__file__).parent / "static"
PAGES = (explore, compare, generate, positions, checkpoints)
HEALTH = "_health"


def main() -> None:
    """One run of the page."""
    look_once()
    state = current()
    icon = str(STATIC / "icon.png")
    st.set_page_config("Headlight", icon, "wide", initial_sidebar_state="collapsed" if state.presenter else "auto")
    st.html(_style(state))
    _here()
    entries = models()
    pages = {page: st.Page(partial(_show, page), title=page.TITLE, url_path=page.PATH) for page in PAGES}
    chosen = st.navigation(list(pages.values()), position="hidden")
    if session.leaving():
        st.switch_page(pages[explore], query_params=state.to_query())
    weights = st.empty() if state.bare else _side(state, entries, pages)
    health = st.empty()
    if entries and chosen != pages[checkpoints]:
        entry = _entry(state, entries)
        _warn(health, st.session_state.get(HEALTH, {}).get(entry.name, ""))
        chosen.run()
        if not state.bare:
            _tell(weights, health, state, entry)  # once the page is painted: looking at each weight takes its time
    else:
        chosen.run()


def _style(state: State) -> str:
    """The frame's look, and what changes it: a projector, or a frame within somebody else's page."""
    names = ("frame", *(name for name in ("presenter", "bare") if getattr(state, name)))
    return f"<style>{''.join((STATIC / f'{name}.css').read_text(encoding='utf-8') for name in names)}</style>"


def _side(state: State, entries: tuple[Entry, ...], pages: Mapping[ModuleType, Page]) -> DeltaGenerator:
    """The sidebar; gives the place for what is only known once the page is drawn."""
    with st.sidebar:
        st.html((STATIC / "brand.html").read_text(encoding="utf-8"), unsafe_allow_javascript=True)
        for page, link in pages.items():
            st.page_link(link, label=page.TITLE, icon=page.ICON, query_params=state.to_query())
        weights = _sidebar(state, entries) if entries else st.empty()
        sidebar.presenter(state)
    return weights


def _here() -> None:
    """Whoever brought a checkpoint is still here."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        guests().seen(visitor(), context.session_id)


def _entry(state: State, entries: tuple[Entry, ...]) -> Entry:
    return next((entry for entry in entries if entry.name == state.model), entries[0])


def _show(page: ModuleType) -> None:
    state, entries = current(), models()
    if not entries:
        checkpoints.show(state)  # where one may bring one's own
        return
    known = not state.model or state.model in {entry.name for entry in entries}
    if not known:
        missing = GONE if state.model.startswith(PREFIX) else "The model that this link names is not here."
        st.warning(f"{missing} Another one is shown.")
    entry = _entry(state, entries)
    page.show(state.change(model=entry.name).fitted(entry.config), entry)


def _sidebar(state: State, entries: tuple[Entry, ...]) -> DeltaGenerator:
    """The widgets; gives the place for what is only known once the page is drawn."""
    titles = {card.name: f"{card.title} (yours)" for card in own_cards()}
    sidebar.model(state, entries, titles)
    entry = _entry(state, entries)
    st.caption(_facts(entry))
    weights = st.empty()
    sidebar.wiring(state.fitted(entry.config), entry.config)
    sidebar.device(state, devices())
    return weights


def _tell(weights: DeltaGenerator, health: DeltaGenerator, state: State, entry: Entry) -> None:
    """How each weight of the open model was used, and which are no numbers; nothing where it could not be opened."""
    try:
        told, ill = account(entry.name, state.device), traces.health(entry.name, state.device)
    except HeadlightError:
        return
    if not state.bare:
        with weights.expander("Its weights"):
            st.caption(lines(told))
    st.session_state[HEALTH] = {entry.name: ill}
    _warn(health, ill)


def _warn(place: DeltaGenerator, told: str) -> None:
    if told:
        place.warning(literal(told))


def _facts(entry: Entry) -> str:
    config = entry.config
    layers = f"{config.encoder_layers} + {config.layers}" if config.has_cross else f"{config.layers}"
    kind = config.architecture.capitalize()
    patches = f"{config.picture.rows} × {config.picture.columns} patches"
    read = patches if config.picture.channels else f"{config.context} tokens"
    return f"{kind} · {layers} layers × {config.heads} heads · {read}"
