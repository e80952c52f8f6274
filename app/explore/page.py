"""Explore: a sentence, every head, the chosen head, and what the model predicts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from time import sleep
from typing import Any

import numpy as np
import streamlit as st

from app.explore.head_view import SHOWN, head_view
from app.explore.quantities import QUANTITIES, quantity_json
from app.explore.tabs import ANALYSES, TABS, analysis_section, tabs_json
from app.services.attention_payload import Prediction, predictions
from app.services.examples import opening_examples
from app.services.head_selection import find_default_head, selected_attention, selected_heads
from app.services.images import shipped_image_names
from app.services.resolved_question import ResolvedQuestion, resolve
from app.services.source_code import code_sections
from app.state.session import EXPLORE_COMPONENT, is_component_run, on_component_change, report_serial, with_default_head
from app.state.state import MAX_ADDRESS_LENGTH, Question, State
from app.ui import charts
from app.ui.component import Component, api_address, read
from model.attention_groups import attention_groups
from model.checkpoints import CatalogEntry
from model.errors import HeadlightError
from model.nn.attention_functions import ATTENTION_FUNCTIONS
from model.nn.hook_points import HOOK_POINTS, HookPoint
from model.rendering.html import PANELS_PLACEHOLDER, choices_json, tab_panel
from model.tracing.interventions import EDIT_OPERATIONS

TITLE, ICON, PATH = "Explore", ":material/flare:", "explore"
# Seconds in which the component asks and paints before the charts take the interpreter and the browser, so that a
# change in the sidebar is seen sooner (`python -m tests.bench page`). What it reported itself it has painted.
PAINT_SECONDS = 0.12
SIDEBAR_FIELDS = ("model", "device")  # of the sidebar alone; all else the component reports
MARKDOWN_CHARACTERS = re.compile(r"[^\w\s]", re.ASCII)  # what Markdown might take for more than a sign
CHART_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}

FRONTEND, DRAWING = "app/explore/frontend", "model/rendering/static"
INSTRUMENT = Component(
    EXPLORE_COMPONENT,
    module=f"{FRONTEND}/main.js",
    html=f"{FRONTEND}/explore.html",
    styles=(
        *(f"{DRAWING}/{name}.css" for name in ("base", "heads/heads_tab")),
        *(f"{FRONTEND}/{name}.css" for name in ("image_gallery", "tabs", "edits/edits", "export/export_menu")),
        "app/ui/frontend/presenter.css",
    ),
    parts=(
        ("<!-- the export menu -->", read(f"{FRONTEND}/export/export_menu.html")),
        (PANELS_PLACEHOLDER, "".join(tab_panel(name, read(tab.html)) for name, tab in TABS.items())),
        (
            "<!-- one section for each analysis -->",
            "".join(analysis_section(name, row, read(row.html)) for name, row in ANALYSES.items()),
        ),
    ),
)


def show(state: State, entry: CatalogEntry) -> None:
    """The page."""
    state = _with_known_names(state)
    example = opening_examples(entry, state.device)[0]
    question = state.question(example.text, example.source)
    state = with_default_head(state, lambda: find_default_head(question, state))
    INSTRUMENT.mount(
        _component_data(state, entry, question), partial(on_component_change, example.text, example.source)
    )
    if state.embedded:
        return
    if not is_component_run():
        sleep(PAINT_SECONDS)
    if state.too_long:
        st.info(
            f"This text is longer than {MAX_ADDRESS_LENGTH:,} characters, too long for an address: "
            f"a copied link carries "
            "everything but the text, and reloading loses it. Save state, in the menu Export, keeps all in a file.",
            icon=":material/link_off:",
        )
    if state.presenter:
        return
    try:
        resolved = resolve(question)
        _draw_charts(state, resolved)
    except HeadlightError:
        return  # the component shows the error
    _source_code(resolved)


def _with_known_names(state: State) -> State:
    """The state; a tab, quantity or analysis that this version does not know counts as not chosen."""
    registries: dict[str, Mapping[str, object]] = {"tab": TABS, "quantity": QUANTITIES, "analysis": ANALYSES}
    default = State()
    unknown = [name for name, registry in registries.items() if getattr(state, name) not in registry]
    return state.change(**{name: getattr(default, name) for name in unknown})


def _component_data(state: State, entry: CatalogEntry, question: Question) -> dict[str, Any]:
    """What the component needs to know from Streamlit."""
    sidebar = {name: getattr(question, name) for name in SIDEBAR_FIELDS}
    choice = {name: item for name, item in asdict(state).items() if name not in SIDEBAR_FIELDS}
    choice |= {"text": question.text, "source": question.source}
    return {
        "api": api_address(),
        "state": choice,
        "settings": sidebar,
        "examples": [asdict(example) for example in opening_examples(entry, state.device)],
        "has_source": entry.config.has_cross_attention,
        "images": list(shipped_image_names()) if entry.config.image.channels else None,
        "quantities": [quantity_json(name) for name in QUANTITIES],
        "tabs": tabs_json(TABS),
        "analyses": tabs_json(ANALYSES),
        "attention_functions": [
            {"name": name, "has_temperature": row.has_temperature} for name, row in ATTENTION_FUNCTIONS.items()
        ],
        **choices_json(bool(entry.config.image.channels)),
        "operations": [
            {
                "name": name,
                "title": operation.title,
                "description": operation.description,
                "takes_number": operation.takes_number,
                "hook_points": operation.hook_points,
            }
            for name, operation in EDIT_OPERATIONS.items()
        ],
        "hook_points": {name: _hook_point_json(row) for name, row in HOOK_POINTS.items()},
        "serial": report_serial(),
    }


def _hook_point_json(row: HookPoint) -> dict[str, Any]:
    """What edits of it need: the formula is long, and stands in answers that show it."""
    return {name: value for name, value in asdict(row).items() if name != "formula"}


def _draw_charts(state: State, resolved: ResolvedQuestion) -> None:
    """The chosen heads and the predictions once more as charts, with exact numbers."""
    shown_predictions = predictions(resolved, state.query)
    left, right = st.columns([3, 2], gap="large")
    if attention_groups(resolved.config):
        with left:
            _head_chart(state, resolved)
    if shown_predictions:
        with right:
            _prediction_charts(shown_predictions, resolved.is_changed)


def _head_chart(state: State, resolved: ResolvedQuestion) -> None:
    try:
        view = head_view(resolved, state)
    except HeadlightError:
        return  # as above
    title = _heads_title(state, resolved)
    st.subheader(f"{title} in numbers")
    queries, keys = (
        charts.numbered_labels(axis.labels, [tokens[0] for tokens in axis.tokens]) for axis in (view.rows, view.columns)
    )
    figure = charts.attention_heatmap(
        np.where(view.cell_states == SHOWN, view.values, np.nan),
        queries,
        keys,
        view.quantity.title.lower(),
        limits=view.colour_limits,
        signed=view.quantity.signed,
        square_root_scale=view.quantity.scale != "linear",
    )
    chart = st.container()
    camera_options = {"format": _camera_format(), "filename": re.sub(r"\W+", "-", title.lower())}
    chart.plotly_chart(figure, key="head_chart", config=CHART_CONFIG | {"toImageButtonOptions": camera_options})
    if view.rules[1:] or state.quantity != "weights":
        st.caption(MARKDOWN_CHARACTERS.sub(r"\\\g<0>", " · ".join(view.rules)))


def _camera_format() -> str:
    """What the camera above the chart saves."""
    return st.segmented_control(
        "The chart's camera saves", ("png", "svg"), default="png", key="camera", required=True, format_func=str.upper
    )


def _heads_title(state: State, resolved: ResolvedQuestion) -> str:
    heads = selected_heads(state, selected_attention(resolved.config, state))
    return f"Layer {heads[0][0]}, head {heads[0][1]}" if len(heads) == 1 else f"{len(heads)} heads"


def _prediction_charts(shown_predictions: tuple[Prediction, ...], differs: bool) -> None:
    st.subheader("Predictions in numbers")
    for prediction in shown_predictions[:4]:
        if len(shown_predictions) > 1:
            st.caption(f"Token at position {prediction.position}")
        candidates = prediction.candidates
        figure = charts.prediction_bars(
            [item.text for item in candidates],
            [item.before for item in candidates],
            [item.after for item in candidates],
            differs,
        )
        st.plotly_chart(figure, key=f"prediction_chart_{prediction.position}", config=CHART_CONFIG)
    st.caption("Probabilities are over the whole vocabulary.")


def _source_code(resolved: ResolvedQuestion) -> None:
    with st.expander("The code that computed this", icon=":material/code:"):
        sections = code_sections(resolved.config)
        for tab, section in zip(st.tabs([part.title for part in sections]), sections, strict=True):
            with tab:
                if section.formula:
                    st.latex(section.formula)
                st.code(section.code, language="python")
