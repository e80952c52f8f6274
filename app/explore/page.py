"""Explore: a sentence, every head, the chosen head, and what the model predicts."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import partial
from time import sleep
from typing import Any

import numpy as np
import streamlit as st

from app.components import instrument
from app.explore.head_view import SHOWN
from app.explore.long_text import picture
from app.explore.quantities import KINDS
from app.explore.source_code import parts
from app.services.attention_payload import Prediction, changed, predictions
from app.services.examples import openings
from app.services.head_selection import chosen_grid, chosen_heads, plain
from app.services.images import names
from app.services.traces import trace
from app.state.session import heard, listen, pointed, serial
from app.state.state import LONGEST_ADDRESS, Question, State
from app.ui import charts
from model.analysis.head_metrics import metrics_of
from model.attention_groups import grids
from model.checkpoints import Entry
from model.errors import HeadlightError
from model.nn.sites import SITES
from model.tracing.trace import Trace

TITLE, ICON, PATH = "Explore", ":material/flare:", "explore"
# Seconds in which the instrument asks and paints before the charts take the interpreter and the browser, so that a
# change in the sidebar is seen sooner (`python -m tests.bench page`). What it reported itself it has painted.
HEAD_START = 0.12
SETTINGS = ("model", "device")  # of the sidebar alone; all else the instrument reports
MARKUP = re.compile(r"[^\w\s]", re.ASCII)  # what Markdown might take for more than a sign
TOOLS = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}


def show(state: State, entry: Entry) -> None:
    """The page."""
    opening = openings(entry, state.device)[0]
    question = state.question(opening.text, opening.source)
    state = pointed(state, lambda: plain(question, state))
    instrument(_data(state, entry, question), partial(listen, opening.text, opening.source))
    if state.bare:
        return
    if not heard():
        sleep(HEAD_START)
    if state.too_long:
        st.info(
            f"This text is longer than {LONGEST_ADDRESS:,} characters, too long for an address: a copied link carries "
            "everything but the text, and reloading loses it. Save state, in the menu Take away, keeps all in a file.",
            icon=":material/link_off:",
        )
    if state.presenter:
        return
    try:
        traced = trace(question)
        _numbers(state, question, traced)
    except HeadlightError:
        return  # the instrument says it, beside the sentence
    _code(traced)


def _data(state: State, entry: Entry, question: Question) -> dict[str, Any]:
    """What the instrument needs to know from Streamlit."""
    settings = {name: getattr(question, name) for name in SETTINGS}
    choice = {name: item for name, item in asdict(state).items() if name not in SETTINGS}
    choice |= {"text": question.text, "source": question.source}
    base = st.get_option("server.baseUrlPath").strip("/")
    return {
        "api": f"/{base}/api" if base else "/api",
        "choice": {name: list(item) if isinstance(item, tuple) else item for name, item in choice.items()},
        "settings": settings,
        "examples": [asdict(example) for example in openings(entry, state.device)],
        "sourced": entry.config.has_cross,
        "pictures": list(names()) if entry.config.picture.channels else None,
        "kinds": [
            {"name": name, "title": kind.title, "about": kind.about, "scale": kind.scale, "additive": kind.additive}
            for name, kind in KINDS.items()
        ],
        "metrics": [
            {"name": name, "short": metric.name, "title": metric.title, "unit": metric.unit}
            for name, metric in metrics_of(bool(entry.config.picture.channels)).items()
        ],
        "sites": {name: {"axes": site.axes, "title": site.title} for name, site in SITES.items()},
        "serial": serial(),
    }


def _numbers(state: State, question: Question, traced: Trace) -> None:
    """The chosen heads and the predictions once more as charts, with exact numbers."""
    said = predictions(question, state.query)
    left, right = st.columns([3, 2], gap="large")
    if grids(traced.config):
        with left:
            _head(state, question)
    if said:
        with right:
            _bars(said, changed(question))


def _head(state: State, question: Question) -> None:
    try:
        made = picture(question, state)
    except HeadlightError:
        return  # as above
    title = _titled(state, question)
    st.subheader(f"{title} in numbers")
    queries, keys = (
        charts.numbered(axis.names, [tokens[0] for tokens in axis.tokens]) for axis in (made.rows, made.columns)
    )
    figure = charts.attention(
        np.where(made.states == SHOWN, made.numbers, np.nan),
        queries,
        keys,
        made.kind.title.lower(),
        limits=made.limits,
        signed=made.kind.signed,
        rooted=made.kind.scale != "linear",
    )
    chart = st.container()
    saved = {"format": _format(), "filename": re.sub(r"\W+", "-", title.lower())}
    chart.plotly_chart(figure, key="head_chart", config=TOOLS | {"toImageButtonOptions": saved})
    if made.said[1:] or state.view != "weights":
        st.caption(MARKUP.sub(r"\\\g<0>", " · ".join(made.said)))


def _format() -> str:
    """What the camera above the chart saves."""
    return st.segmented_control(
        "The chart's camera saves", ("png", "svg"), default="png", key="camera", required=True, format_func=str.upper
    )


def _titled(state: State, question: Question) -> str:
    heads = chosen_heads(state, chosen_grid(question, state))
    return f"Layer {heads[0][0]}, head {heads[0][1]}" if len(heads) == 1 else f"{len(heads)} heads"


def _bars(said: tuple[Prediction, ...], differs: bool) -> None:
    st.subheader("Predictions in numbers")
    for prediction in said[:4]:
        if len(said) > 1:
            st.caption(f"Token at position {prediction.position}")
        listed = prediction.candidates
        figure = charts.predictions(
            [item.piece for item in listed],
            [item.before for item in listed],
            [item.after for item in listed],
            differs,
        )
        st.plotly_chart(figure, key=f"prediction_chart_{prediction.position}", config=TOOLS)
    st.caption("Probabilities are over the whole vocabulary.")


def _code(traced: Trace) -> None:
    with st.expander("The code that computed this", icon=":material/code:"):
        found = parts(traced.config)
        for tab, part in zip(st.tabs([part.title for part in found]), found, strict=True):
            with tab:
                if part.formula:
                    st.latex(part.formula)
                st.code(part.code, language="python")
