"""The frame: brand, pages, the widgets that write State, and the chosen page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import get_script_run_ctx

from headlight.errors import HeadlightError
from headlight_app.access.page_turns import page_turn
from headlight_app.access.presence import presence
from headlight_app.access.uploads import UPLOAD_GONE, is_upload
from headlight_app.access.visitor import current_queue, current_visitor
from headlight_app.compare import page as compare
from headlight_app.contract.state import State
from headlight_app.course import page as course
from headlight_app.engine.client import ask_shared
from headlight_app.engine.models import (
    AvailableModel,
    available_models,
    listed_models,
    own_models,
    own_titles,
    trained_with,
)
from headlight_app.explore import page as explore
from headlight_app.frame import sidebar
from headlight_app.frame.suitable_model import (
    chosen_entry,
    requirement,
    resume_state,
    state_on_return,
    suitable_state,
)
from headlight_app.generate import page as generate
from headlight_app.lesson import page as lesson
from headlight_app.models import page as checkpoints
from headlight_app.models.contract import WeightReportAnswer, WeightReportRequest
from headlight_app.positions import page as positions
from headlight_app.state import session
from headlight_app.state.session import current_state
from headlight_app.state.url import encode_state
from headlight_app.state.variants import normalized_state
from headlight_app.tasks import page as tasks
from headlight_app.ui.markdown import escape_markdown, escaped_lines
from headlight_app.ui.model_summary import describe_heads

STATIC = Path(__file__).parent / "static"
PAGES = (
    explore,
    tasks,
    compare,
    generate,
    positions,
    course,
    lesson,
    checkpoints,
)
TITLES = {page.PATH: page.TITLE for page in PAGES}
WEIGHT_REPORT = "_weight_report"  # of the model that is open


def main() -> None:
    """One page run, after waiting for its turn."""
    _mark_visitor_present()
    with page_turn(current_queue()):
        _run()


def _run() -> None:
    pages = {page: st.Page(partial(_show_page, page), title=page.TITLE, url_path=page.PATH) for page in PAGES}
    chosen = st.navigation(list(pages.values()), position="hidden")
    page = next(module for module, link in pages.items() if link == chosen)
    entries = available_models()
    resume_state(page, PAGES, entries)
    state = current_state()
    _configure(state)
    state, replaced = suitable_state(page, state, entries)
    _tell_browser(page.TITLE)
    if session.should_open_explore():
        st.switch_page(pages[explore], query_params=encode_state(state))
    weights_slot = st.empty()
    if page is not explore:
        session.forget_opening()
    if not state.embedded:
        sidebar.presenter_mode(state)
    body = st.container()
    if not state.embedded:
        _draw_class(state)
        weights_slot = _draw_sidebar(state, entries, pages, page)
    with body:
        if replaced:
            st.info(escape_markdown(replaced), icon=":material/swap_horiz:")
        _draw_body(page, chosen, state, entries, weights_slot)


def _draw_body(
    page: ModuleType,
    chosen: Page,
    state: State,
    entries: tuple[AvailableModel, ...],
    weights_slot: DeltaGenerator,
) -> None:
    """The page, and what is wrong with its model's weights."""
    warning_slot = st.empty()
    if not entries or page is checkpoints or chooses_own_models(page):
        chosen.run()
        return
    entry = chosen_entry(state, entries)
    if known := _known_report(entry):
        _show_warning(warning_slot, known.warning)
    chosen.run()
    if not state.embedded:
        _report_weights(
            weights_slot, warning_slot, state, entry
        )  # after the page is painted: checking every weight takes time


def _draw_class(state: State) -> None:
    """The room and scenes: above the page on the screen, behind it for the keyboard, whose first stop is its text."""
    with st.container(key="class"):
        sidebar.room(state, TITLES)
        sidebar.scenes(state, TITLES)


def _configure(state: State) -> None:
    st.set_page_config("Headlight", None, "wide", initial_sidebar_state="collapsed" if state.presenter else "auto")
    st.html(_stylesheet(*(name for name in ("presenter", "embedded") if getattr(state, name))))


def _tell_browser(title: str) -> None:
    """Set the page's title, and replace the browser's URL if its model was unsuitable."""
    st.set_page_config(f"{title} · Headlight")
    st.html(f'<style>:root {{ --page: "{title}"; }}</style>')
    slot = st.empty()  # always present, so that nothing shifts
    if script := session.address_script():
        slot.html(script, unsafe_allow_javascript=True)


@cache
def _stylesheet(*changes: str) -> str:
    """The frame's stylesheet, with the `changes` for presenter mode and embedding."""
    styles = ((STATIC / f"{name}.css").read_text(encoding="utf-8") for name in ("frame", *changes))
    return f"<style>{''.join(styles)}</style>"


@cache
def _static(name: str) -> str:
    return (STATIC / f"{name}.html").read_text(encoding="utf-8")


def _draw_sidebar(
    state: State, entries: tuple[AvailableModel, ...], pages: Mapping[ModuleType, Page], open_page: ModuleType
) -> DeltaGenerator:
    """Draw the sidebar. Returns the slot for the notes on weights, which are filled after the page is drawn."""
    with st.sidebar:
        st.html(_static("brand"), unsafe_allow_javascript=True)
        for page, link in pages.items():
            query = encode_state(state_on_return(page, open_page, state, entries))
            st.page_link(link, label=page.TITLE, icon=page.ICON, query_params=query)
        what = "Settings and help" if chooses_own_models(open_page) else "Model and variants"
        st.html(_static("rail").replace("{what}", what), unsafe_allow_javascript=True)
        weights_slot = _draw_controls(open_page, state, entries) if entries else st.empty()
        sidebar.presenter_toggle(state)
        sidebar.HELP.mount({})
    if state.presenter and entries and not chooses_own_models(open_page):
        with st.container(key="stage"), st.popover("Variants"):  # the sidebar is closed
            _draw_variants(open_page, state, chosen_entry(state, entries), entries)
    return weights_slot


def _draw_variants(page: ModuleType, state: State, entry: AvailableModel, entries: tuple[AvailableModel, ...]) -> None:
    shown, models = normalized_state(state, entry.config), trained_with(entry, entries)
    sidebar.variant_controls(shown, entry.config, models, getattr(page, "SHOWN_PARTS", ()))


def _mark_visitor_present() -> None:
    """Record that this visitor has the page open."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        presence().mark_seen(current_visitor(), context.session_id)


def _show_page(page: ModuleType) -> None:
    state, entries = current_state(), available_models()
    if not entries:
        checkpoints.show(state)  # there, visitors can open their own models
        return
    is_known = not state.model or state.model in {entry.name for entry in entries}
    if not is_known:
        st.warning(escape_markdown(f"{_absence(state.model)} Another one is shown."))
    entry = chosen_entry(state, entries)
    page.show(normalized_state(state.change(model=entry.name), entry.config), entry)


def _absence(name: str) -> str:
    """Why the model of a link cannot be opened."""
    for listed in (*listed_models(), *own_models()):
        if listed.name == name:
            return f"The model that this link names is here, but it cannot be opened. {listed.problem}"
    return UPLOAD_GONE if is_upload(name) else "The model that this link names is not here."


def chooses_own_models(page: ModuleType) -> bool:
    """Whether a page has its own model controls, so that those of the sidebar have no effect on it."""
    return bool(getattr(page, "CHOOSES_OWN_MODELS", False))


def _draw_controls(page: ModuleType, state: State, entries: tuple[AvailableModel, ...]) -> DeltaGenerator:
    """Draw the widgets. Returns the slot for the notes on weights, which are filled after the page is drawn."""
    if chooses_own_models(page):
        sidebar.device_selector(state, sidebar.offered().devices)
        return st.empty()
    entry = chosen_entry(state, entries)
    suits = requirement(page, state.change(task="")).suits
    sidebar.model_picker(entries, entry, suits, own_titles())
    st.caption(_model_summary(entry))
    weights_slot = st.empty()
    if known := _known_report(entry):  # at once, so that the controls below do not move
        _show_notes(weights_slot, known.notes)
    if not state.presenter:
        _draw_variants(page, state, entry, entries)
    sidebar.measure_toggle(state)
    sidebar.device_selector(state, sidebar.offered().devices)
    return weights_slot


def _report_weights(
    weights_slot: DeltaGenerator, warning_slot: DeltaGenerator, state: State, entry: AvailableModel
) -> None:
    """Show how the open model's weights are used and which are not finite; nothing if it cannot be opened."""
    try:
        report = ask_shared(WeightReportRequest(model=entry.name, device=state.device)).answer
    except HeadlightError:
        return
    if report != _known_report(entry):
        _show_notes(weights_slot, report.notes)
        _show_warning(warning_slot, report.warning)
    st.session_state[WEIGHT_REPORT] = {entry.name: report}


def _known_report(entry: AvailableModel) -> WeightReportAnswer | None:
    """What an earlier run of the page has found out about the model's weights."""
    found: WeightReportAnswer | None = st.session_state.get(WEIGHT_REPORT, {}).get(entry.name)
    return found


def _show_notes(slot: DeltaGenerator, notes: Sequence[str]) -> None:
    if len(notes) == 1:
        slot.caption(escaped_lines(notes))
    else:
        slot.expander(f"{len(notes)} notes on its weights").caption(escaped_lines(notes))


def _show_warning(slot: DeltaGenerator, message: str) -> None:
    if message:
        slot.warning(escape_markdown(message))
    else:
        slot.empty()


def _model_summary(entry: AvailableModel) -> str:
    config = entry.config
    kind = config.architecture.capitalize()
    patches = f"{config.image.patch_rows} × {config.image.patch_columns} patches"
    input_size = patches if config.reads_image else f"{config.context_length} tokens"
    if config.reads_sound:
        frames = 1_000 * config.sound.frame_seconds
        input_size = f"frames of {frames:.0f} ms" + (f" · {input_size}" if config.reads_text else "")
    return f"{kind} · {describe_heads(config)} · {input_size}"
