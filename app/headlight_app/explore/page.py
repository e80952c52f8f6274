"""The Explore page: a text, all heads, the chosen head, and the model's predictions."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from msgspec import to_builtins

from headlight.errors import HeadlightError
from headlight.views.kinds import BarsView, HeatMapView
from headlight.views.words import in_line
from headlight_app.contract.parts import Prediction
from headlight_app.contract.question import Question
from headlight_app.contract.state import DEFAULT_STATE, MAX_ADDRESS_LENGTH, HeadChoice, State
from headlight_app.engine.client import ask, ask_shared
from headlight_app.engine.models import AvailableModel, available_models, trained_with
from headlight_app.explore.contract import (
    ChartAxis,
    ExploreChartsAnswer,
    ExploreChartsRequest,
    ExplorePageAnswer,
    ExplorePageRequest,
    HeadChart,
    SourceCodeRequest,
)
from headlight_app.explore.tabs import TABS, tab_panel, tabs_json
from headlight_app.export.page import shared_page
from headlight_app.state.session import (
    apply_reports,
    current_state,
    report_serial,
    was_just_opened,
)
from headlight_app.state.variants import IN_SIGHT, variant_parts
from headlight_app.ui import export_menu, signal_gallery
from headlight_app.ui.component import API, VIEW_STYLES, Component, Data, read
from headlight_app.ui.first_tasks import first_tasks_json
from headlight_app.ui.terms import terms_json

if TYPE_CHECKING:
    import plotly.graph_objects as go

TITLE, ICON, PATH = "Explore", ":material/flare:", "explore"
SHOWN_PARTS = IN_SIGHT  # of the model's variant, which the sidebar leaves out
SIDEBAR_FIELDS = ("model", "device", "measure")  # set only in the sidebar; the component reports all others
MARKDOWN_CHARACTERS = re.compile(r"[^\w\s]", re.ASCII)  # characters with a possible meaning in Markdown
# Milliseconds after the last change before Streamlit is notified: its run redraws the page while the visitor types.
LONG_PAUSE, CHARTS_PAUSE = 3_000, 600  # CHARTS_PAUSE if the charts are open
MAX_PREDICTIONS = 4  # prediction charts
TRANSPARENT = "rgba(0,0,0,0)"
# No camera button: its pictures lack the provenance, which the menu Export adds.
CHART_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["toImage", "select2d", "lasso2d"]}

FRONTEND, DRAWING = "explore/frontend", "ui/frontend"


def instrument(
    key: str, title: str, styles: tuple[str, ...] = (), parts: tuple[tuple[str, str], ...] = ()
) -> Component:
    """The Explore instrument as a component of the page `title`, which can add its own style sheets and HTML."""
    shared = (
        *(f"{DRAWING}/{name}.css" for name in ("styles/base", "heads/heads_tab")),
        *(f"{FRONTEND}/{name}.css" for name in ("tabs", "mask/mask", "edits/edits")),
        *VIEW_STYLES,
        signal_gallery.STYLE,
        f"{FRONTEND}/picture/picture.css",
        export_menu.STYLE,
        "ui/frontend/styles/presenter.css",
    )
    export_parts = (read(f"{FRONTEND}/export/{name}.html") for name in ("numbers", "pages", "shell"))
    panels = "".join(tab_panel(name, read(tab.html)) for name, tab in TABS.items())
    return Component(
        key,
        html=f"{FRONTEND}/explore.html",
        styles=(*shared, *styles),
        parts=(
            ("<!-- the page -->", title),
            signal_gallery.signal_gallery(),
            export_menu.export_menu(*export_parts),
            ("<!-- one panel for each tab -->", panels),
            *parts,
            ("<!-- an analysis -->", read(f"{FRONTEND}/analysis/analysis.html")),
        ),
    )


INSTRUMENT = instrument("explore", TITLE)


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    request = ExplorePageRequest(model=state.model, device=state.device, source=state.source)
    show_instrument(INSTRUMENT, state, entry, ask_shared(request).answer)


def show_instrument(
    component: Component, state: State, entry: AvailableModel, known: ExplorePageAnswer, **more: Any
) -> None:
    """The instrument and the sections below it; `more` is additional data for another page's component."""
    state, opening = _with_known_names(state, known), known.opening
    state = state if known.reads_pair else state.change(text_pair="")
    state = state if known.reads_chat else state.change(chat="")
    question = state.question(opening.text, opening.source)
    state = state.with_default_head(known.opening_head if state.shows_opening else known.default_head)
    state = state.change(attention=state.attention or known.default_attention)
    apply_reports(
        component.key,
        opening.text,
        opening.source,
        default_head=known.default_head,
        opening_head=known.opening_head,
    )
    known_data = told(known) | {"variants": _parts_in_sight(state, entry, known)}
    component.mount(_component_data(component.key, state, question, known.writes_target) | known_data | more)
    if state.embedded:
        return
    if state.too_long:
        st.info(
            f"This text is longer than {MAX_ADDRESS_LENGTH:,} characters, too long for an address: a copied link "
            "contains everything except the text, and reloading loses it. To keep everything in a file, use Save state "
            "in the menu Export.",
            icon=":material/link_off:",
        )
    if not state.presenter:
        _numbers(state, question)
        _source_code(question)


def _parts_in_sight(state: State, entry: AvailableModel, known: ExplorePageAnswer) -> Data:
    """The lists of masks and positional encodings, beside the text."""
    models = trained_with(entry, available_models())
    return variant_parts(known.variants, state.variant, entry.config, models, SHOWN_PARTS)


def _with_known_names(state: State, known: ExplorePageAnswer) -> State:
    """The state with unknown names, as in a link to another version, replaced by the defaults."""
    rows: dict[str, Collection[str]] = {
        "tab": TABS,
        "analysis": {row.name for row in known.analyses},
        "quantity": {row.name for row in known.catalogue.quantities},
    }
    unknown = (name for name, registry in rows.items() if getattr(state, name) not in registry)
    return state.change(**{name: getattr(DEFAULT_STATE, name) for name in unknown})


def told(known: ExplorePageAnswer) -> Data:
    """The data known before the first answer, in the browser's format."""
    data: Data = to_builtins(known)
    return {
        **data,
        **data.pop("catalogue"),
        "tabs": tabs_json(TABS),
        "terms": terms_json(),
    }


def _component_data(path: str, state: State, question: Question, writes_target: bool) -> Data:
    """The component's data from Streamlit, in addition to the engine's."""
    return {
        **choice_data(state, question, writes_target),
        "api": API,
        "serial": report_serial(),
        "takes_focus": was_just_opened(question.model),
        "first_tasks": first_tasks_json({model.name for model in available_models()}),
        "link_settings": {name: getattr(current_state(), name) for name in SIDEBAR_FIELDS},
        **shared_page(path, question.model),
        "pause": CHARTS_PAUSE if st.session_state.get("numbers") else LONG_PAUSE,
    }


def choice_data(state: State, question: Question, writes_target: bool) -> Data:
    """The choices.

    A text of None stays None if the model writes it, so that it follows the source.
    """
    choice = {name: item for name, item in to_builtins(state).items() if name not in SIDEBAR_FIELDS}
    choice |= {"text": state.text if writes_target else question.text, "source": question.source}
    return {
        "state": choice,
        "settings": {name: getattr(question, name) for name in SIDEBAR_FIELDS},
    }


def _numbers(state: State, question: Question) -> None:
    """The chosen heads and the predictions as charts with exact numbers, computed when the visitor opens them."""
    part = st.expander("In numbers", icon=":material/bar_chart:", key="numbers", on_change="rerun")
    if not part.open:
        return
    try:
        shown = ask(ExploreChartsRequest(question=question, choice=_head_choice(state)))
    except HeadlightError:
        return  # the component shows the error
    with part:
        left, right = st.columns([3, 2], gap="large")
        if shown.answer.head:
            with left:
                _head_chart(shown.answer.head, shown.numbers)
        if shown.answer.predictions:
            with right:
                _prediction_charts(shown.answer)


def _head_choice(state: State) -> HeadChoice:
    """The head choice of a state."""
    return HeadChoice(**{name: getattr(state, name) for name in HeadChoice.__struct_fields__})


def _head_chart(chart: HeadChart, numbers: bytes) -> None:
    st.subheader(f"{chart.title} in numbers")
    rows, columns = _names(chart.rows), _names(chart.columns)
    view = HeatMapView(
        "",
        np.frombuffer(numbers, "<f4").reshape(len(rows), len(columns)),
        rows=rows,
        columns=columns,
        row_axis="query",
        column_axis="key",
        colours="signed" if chart.signed else "sequential",
    )
    name, (low, high) = chart.quantity.lower(), chart.limits
    figure = view.figure().update_traces(colorbar_title_text=name, zmin=low, zmax=high)
    if chart.square_root_scale and not chart.signed:
        from headlight.views.plotly_figures import square_root_scale  # Plotly is imported once a chart is opened

        figure.update_traces(colorscale=square_root_scale())
    _draw(figure, "head_chart", f"query %{{y}}<br>key %{{x}}<br>{name} %{{z:.5f}}<extra></extra>")
    if chart.rules:
        st.caption(MARKDOWN_CHARACTERS.sub(r"\\\g<0>", " · ".join(chart.rules)))


def _names(axis: ChartAxis) -> tuple[str, ...]:
    """The labels with their positions, so that equal tokens differ."""
    return tuple(f"{place} {in_line(label)}" for place, label in zip(axis.positions, axis.labels, strict=True))


def _prediction_charts(answer: ExploreChartsAnswer) -> None:
    st.subheader("Predictions in numbers")
    for prediction in answer.predictions[:MAX_PREDICTIONS]:
        if len(answer.predictions) > 1:
            st.caption(f"Token at position {prediction.position}")
        figure = prediction_bars(prediction, answer.changed).figure()
        _draw(figure, f"prediction_chart_{prediction.position}", "%{y}<br>%{x:.5f}<extra>%{fullData.name}</extra>")
    st.caption(answer.predictions[0].lesson or f"Probabilities are over {answer.answers}.")


def prediction_bars(prediction: Prediction, changed: bool) -> BarsView:
    """The candidates, the likeliest on top; if the model is changed, with bars of the trained model beside them."""
    candidates, are_scores = prediction.candidates, prediction.problem_type == "regression"
    before, after = (tuple(getattr(one, name) for one in candidates) for name in ("before", "after"))
    alone = "score" if are_scores else "probability"
    return BarsView(
        labels=tuple(f"{rank} {in_line(one.text)}" for rank, one in enumerate(candidates, start=1)),
        series={"with your changes": after, "as trained": before} if changed else {alone: after},
        compared="as trained",
        high=None if are_scores else 1.0,
        as_percent=not are_scores,
    )


def _draw(figure: go.Figure, key: str, hover: str) -> None:
    """A figure on the ground of the page; `hover` are the words under the pointer, with five decimal places."""
    figure.update_traces(hovertemplate=hover).update_layout(paper_bgcolor=TRANSPARENT, plot_bgcolor=TRANSPARENT)
    st.plotly_chart(figure, key=key, config=CHART_CONFIG)


def _source_code(question: Question) -> None:
    part = st.expander("The code that computed this", icon=":material/code:", key="source_code", on_change="rerun")
    if not part.open:
        return
    try:
        sections = ask(SourceCodeRequest(question=question)).answer.sections
    except HeadlightError:
        return  # the component shows the error
    for tab, section in zip(part.tabs([one.title for one in sections]), sections, strict=True):
        with tab:
            if section.formula:
                st.latex(section.formula)
            st.code(section.code, language="python")
