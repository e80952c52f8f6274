"""Explore: a sentence, every head, the chosen head, and what the model predicts."""

from __future__ import annotations

import re
from dataclasses import asdict
from time import sleep
from typing import Any

import streamlit as st

from app.access.addresses import current_room_address
from app.engine.client import ask, ask_shared
from app.engine.models import AvailableModel
from app.explore.tabs import ANALYSES, TABS, analysis_section
from app.state.images import OWN_IMAGE_PREFIX
from app.state.session import (
    apply_reports,
    current_state,
    is_component_run,
    report_serial,
)
from app.state.state import MAX_ADDRESS_LENGTH, Question, State
from app.ui import charts, export_menu
from app.ui.component import Component, api_address, read
from app.ui.wire_format import NamedArrays, read_arrays
from model.errors import HeadlightError
from model.rendering.panels import PANELS_PLACEHOLDER, tab_panel

TITLE, ICON, PATH = "Explore", ":material/flare:", "explore"
# Seconds in which the component asks and paints before the charts take the interpreter and the browser, so that a
# change in the sidebar is seen sooner (`python -m tests.bench page`). What it reported itself it has painted.
PAINT_SECONDS = 0.12
PAGE_FIELDS = (
    "model",
    "device",
    "source",
    "tab",
    "quantity",
    "analysis",
    "task",
)  # that decide what the page shows at first
SIDEBAR_FIELDS = ("model", "device")  # of the sidebar alone; all else the component reports
MARKDOWN_CHARACTERS = re.compile(r"[^\w\s]", re.ASCII)  # what Markdown might take for more than a sign
# Milliseconds without a change before Streamlit hears of one: its run draws the page anew, beside whoever types on.
LONG_PAUSE, CHARTS_PAUSE = 3_000, 600  # where charts are open somebody waits for them
MAX_PREDICTIONS = 4  # charts of them

FRONTEND, DRAWING = "app/explore/frontend", "model/rendering/static"


def instrument(
    key: str, module: str, styles: tuple[str, ...] = (), parts: tuple[tuple[str, str], ...] = ()
) -> Component:
    """The instrument as a component, on this page or on one that shows more, with style sheets and HTML of its own."""
    shared = (
        *(f"{DRAWING}/{name}.css" for name in ("base", "heads/heads_tab")),
        *(f"{FRONTEND}/{name}.css" for name in ("image_gallery", "tabs", "edits/edits")),
        "app/ui/frontend/model_diagram/model_diagram.css",
        export_menu.STYLE,
        "app/ui/frontend/presenter.css",
    )
    export_parts = (read(f"{FRONTEND}/export/{name}.html") for name in ("numbers", "share", "programs", "subject"))
    panels = "".join(tab_panel(name, read(tab.html)) for name, tab in TABS.items())
    sections = "".join(analysis_section(name, row, read(row.html)) for name, row in ANALYSES.items())
    return Component(
        key,
        module,
        html=f"{FRONTEND}/explore.html",
        styles=(*shared, *styles),
        parts=(
            export_menu.export_menu(*export_parts),
            (PANELS_PLACEHOLDER, panels),
            ("<!-- one section for each analysis -->", sections),
            *parts,
        ),
    )


INSTRUMENT = instrument("explore", f"{FRONTEND}/main.js")


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    known, _ = ask_shared("explore_page", page_fields(state))
    show_instrument(INSTRUMENT, state, known)


def page_fields(state: State) -> dict[str, Any]:
    """What decides what the page shows at first."""
    return {name: getattr(state, name) for name in PAGE_FIELDS}


def show_instrument(component: Component, state: State, known: dict[str, Any]) -> None:
    """The instrument and what belongs below it, where this much is `known` before the first answer."""
    default = State()
    state = state.change(**{name: getattr(default, name) for name in known.pop("unknown_names")})
    opening = known["opening"]
    question = state.question(opening["text"], opening["source"])
    default_head = tuple(known["default_head"])
    attention = known.pop("default_attention", "")
    state = state.with_default_head(default_head).change(attention=state.attention or attention)
    apply_reports(component.key, opening["text"], opening["source"], default_head=default_head)
    component.mount(_component_data(state, question, known["writes_target"]) | known)
    if state.embedded:
        return
    if state.too_long:
        st.info(
            f"This text is longer than {MAX_ADDRESS_LENGTH:,} characters, too long for an address: a copied link "
            "carries everything but the text, and reloading loses it. Save state, in the menu Export, keeps all in a "
            "file.",
            icon=":material/link_off:",
        )
    if not state.presenter:
        _numbers(state, question)
        _source_code(question)


def _component_data(state: State, question: Question, writes_target: bool) -> dict[str, Any]:
    """What the component needs to know from Streamlit besides what the engine knows.

    A text that is None stays so where the model writes it, so that it follows the source.
    """
    settings = {name: getattr(question, name) for name in SIDEBAR_FIELDS}
    choice = {name: item for name, item in asdict(state).items() if name not in SIDEBAR_FIELDS}
    choice |= {"text": state.text if writes_target else question.text, "source": question.source}
    return {
        "api": api_address(),
        "state": choice,
        "settings": settings,
        "serial": report_serial(),
        "link_settings": {name: getattr(current_state(), name) for name in SIDEBAR_FIELDS},
        "link_defaults": asdict(State()),
        "longest_link": MAX_ADDRESS_LENGTH,
        "room_address": current_room_address(),
        "own_image_prefix": OWN_IMAGE_PREFIX,
        "pause": CHARTS_PAUSE if st.session_state.get("numbers") else LONG_PAUSE,
    }


def _numbers(state: State, question: Question) -> None:
    """The chosen heads and the predictions once more as charts, with exact numbers; made when somebody opens them."""
    part = st.expander("In numbers", icon=":material/bar_chart:", key="numbers", on_change="rerun")
    if not part.open:
        return
    if not is_component_run():
        sleep(PAINT_SECONDS)
    try:
        shown = read_arrays(*ask("explore_charts", asdict(state) | asdict(question)))
    except HeadlightError:
        return  # the component shows the error
    with part:
        left, right = st.columns([3, 2], gap="large")
        if "values" in shown.arrays:
            with left:
                _head_chart(shown)
        if shown.meta["predictions"]:
            with right:
                _prediction_charts(shown.meta)


def _head_chart(shown: NamedArrays) -> None:
    meta = shown.meta
    st.subheader(f"{meta['title']} in numbers")
    rows, columns = (
        charts.numbered_labels(axis["labels"], axis["positions"]) for axis in (meta["rows"], meta["columns"])
    )
    figure = charts.attention_heatmap(
        shown.arrays["values"],
        rows,
        columns,
        meta["quantity"].lower(),
        limits=tuple(meta["limits"]),
        signed=meta["signed"],
        square_root_scale=meta["square_root_scale"],
    )
    charts.show(figure, "head_chart")
    if meta["rules"]:
        st.caption(MARKDOWN_CHARACTERS.sub(r"\\\g<0>", " · ".join(meta["rules"])))


def _prediction_charts(meta: dict[str, Any]) -> None:
    predictions = meta["predictions"]
    st.subheader("Predictions in numbers")
    for prediction in predictions[:MAX_PREDICTIONS]:
        if len(predictions) > 1:
            st.caption(f"Token at position {prediction['position']}")
        texts, before, after = (
            [item[name] for item in prediction["candidates"]] for name in ("text", "before", "after")
        )
        figure = charts.prediction_bars(texts, before, after, meta["changed"])
        charts.show(figure, f"prediction_chart_{prediction['position']}")
    st.caption(f"Probabilities are over {meta['answers']}.")


def _source_code(question: Question) -> None:
    part = st.expander("The code that computed this", icon=":material/code:", key="source_code", on_change="rerun")
    if not part.open:
        return
    try:
        sections = ask("source_code", asdict(question))[0]["sections"]
    except HeadlightError:
        return  # the component shows the error
    for tab, section in zip(part.tabs([one["title"] for one in sections]), sections, strict=True):
        with tab:
            if section["formula"]:
                st.latex(section["formula"])
            st.code(section["code"], language="python")
