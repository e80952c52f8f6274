"""Explore: a sentence, every head, the chosen head, and what the model predicts."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from time import sleep
from typing import Any

import numpy as np
import streamlit as st

from app import charts
from app.answers import Grid, Prediction, changed, grids, predictions
from app.cached import trace, value
from app.components import instrument
from app.examples import examples
from app.session import heard, listen, serial
from app.source import parts
from app.state import LONGEST_ADDRESS, Question, State
from model.checkpoint import Entry
from model.errors import HeadlightError
from model.trace import Trace

TITLE, ICON, PATH = "Explore", ":material/flare:", "explore"
# Seconds in which the instrument asks and paints before the charts take the interpreter and the browser, so that a
# change in the sidebar is seen sooner (`python -m tests.bench page`). What it reported itself it has painted.
HEAD_START = 0.12
TOOLS = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}


def show(state: State, entry: Entry) -> None:
    """The page."""
    opening = examples(entry.config)[0]
    question = state.question(opening.text, opening.source)
    instrument(_data(state, entry, question), partial(listen, opening.text, opening.source))
    if not heard():
        sleep(HEAD_START)
    if state.too_long:
        st.info(
            f"This text is longer than {LONGEST_ADDRESS:,} characters, too long for an address: "
            "a copied link carries everything but the text.",
            icon=":material/link_off:",
        )
    try:
        traced = trace(question)
        _numbers(state, question, traced)
    except HeadlightError:
        return  # the instrument says it, beside the sentence
    _code(traced)


def _data(state: State, entry: Entry, question: Question) -> dict[str, Any]:
    """What the instrument needs to know from Streamlit."""
    mine, asked = asdict(state), asdict(question)
    chosen = ("attention", "layer", "head", "view", "picture", "query", "edits", "masked")
    choice = {name: mine[name] for name in chosen} | {"text": question.text, "source": question.source}
    settings = {name: asked[name] for name in ("model", "masks", "position", "kernel", "scale", "device")}
    base = st.get_option("server.baseUrlPath").strip("/")
    return {
        "api": f"/{base}/api" if base else "/api",
        "choice": {name: list(item) if isinstance(item, tuple) else item for name, item in choice.items()},
        "settings": settings,
        "examples": [asdict(example) for example in examples(entry.config)],
        "sourced": entry.config.has_cross,
        "serial": serial(),
    }


def _numbers(state: State, question: Question, traced: Trace) -> None:
    """The chosen head and the predictions once more as charts, with exact numbers."""
    known = grids(traced.config)
    said = predictions(question, state.query)
    left, right = st.columns([3, 2], gap="large")
    if known:
        with left:
            _head(state, question, traced, next((grid for grid in known if grid.name == state.attention), known[0]))
    if said:
        with right:
            _bars(said, changed(question))


def _head(state: State, question: Question, traced: Trace, grid: Grid) -> None:
    layer, head = min(state.layer, grid.layers - 1), min(state.head, grid.heads - 1)
    path = f"{grid.stack}.{layer}.{grid.kind}"
    numbers = value(question, f"{path}.{state.view}")[head]
    allowed = np.broadcast_to(traced[f"{path}.mask"] > 0, traced[f"{path}.weights"].shape)[head]
    pieces = {"text": traced.text.pieces, "source": traced.source.pieces if traced.source else ()}
    st.subheader(f"Layer {layer}, head {head} in numbers")
    name = "weight" if state.view == "weights" else "score"
    figure = charts.attention(numbers, allowed, pieces[grid.queries], pieces[grid.keys], name)
    st.plotly_chart(figure, key="head_chart", config=TOOLS)


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
