"""Plotly figures of arrays. Only this module escapes Plotly's markup in tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from headlight.array_types import Float

CIVIDIS = "Cividis"
DIVERGING = "PuOr_r"  # purple below zero, white at zero, orange above
PRIMARY_COLOUR, MUTED_COLOUR = "#e0951f", "#8d97a8"
TRANSPARENT = "rgba(0,0,0,0)"
MAX_LABEL_LENGTH = 18  # characters of a tick label
# No camera button: its pictures lack the provenance, which the menu Export adds.
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["toImage", "select2d", "lasso2d"]}


def show(figure: go.Figure, key: str) -> None:
    """Draw a figure on the page."""
    st.plotly_chart(figure, key=key, config=CONFIG)


def escape_label(text: str) -> str:
    """Text that Plotly shows unchanged: pseudo-HTML and formulas escaped, white space visible."""
    shown = text[1:] if len(text) > 1 and text.startswith(" ") else text
    shown = re.sub(r"(?<!\S) | (?!\S)", "·", shown)  # a single space between two words is visible anyway
    for character, symbol in (("\n", "¶"), ("\t", "→")):
        shown = shown.replace(character, symbol)
    shown = shown if len(shown) <= MAX_LABEL_LENGTH else shown[: MAX_LABEL_LENGTH - 1] + "…"
    for character in "&<>$":  # the ampersand first
        shown = shown.replace(character, f"&#{ord(character)};")
    return shown or "∅"


def numbered_labels(pieces: Sequence[str], positions: Sequence[int] | None = None) -> list[str]:
    """Tick labels of tokens, numbered by position (by default the list index), so that equal tokens differ."""
    return [
        f"{position} {escape_label(piece)}"
        for position, piece in zip(positions or range(len(pieces)), pieces, strict=True)
    ]


def attention_heatmap(
    values: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    value_name: str,
    *,
    limits: tuple[float, float] = (0.0, 1.0),
    signed: bool = False,
    square_root_scale: bool = True,
) -> go.Figure:
    """A heat map of heads, queries downwards and keys to the right; cells without a number are empty.

    `queries` and `keys` are labels from `numbered_labels`.
    """
    heatmap = go.Heatmap(
        z=values.astype(np.float32),
        x=list(keys),
        y=list(queries),
        colorscale=DIVERGING if signed else _square_root_cividis() if square_root_scale else CIVIDIS,
        zmin=limits[0],
        zmax=limits[1],
        xgap=1 if len(keys) <= 40 else 0,
        ygap=1 if len(queries) <= 40 else 0,
        colorbar={"thickness": 10, "outlinewidth": 0, "title": {"text": value_name, "side": "right"}},
        hovertemplate=f"query %{{y}}<br>key %{{x}}<br>{value_name} %{{z:.5f}}<extra></extra>",
    )
    figure = go.Figure(heatmap)
    figure.update_xaxes(side="top", tickangle=-60, showgrid=False, title="key", type="category")
    figure.update_yaxes(autorange="reversed", showgrid=False, title="query", type="category")
    return _with_layout(figure, height=min(max(len(queries) * 22 + 140, 360), 640))


def prediction_bars(
    pieces: Sequence[str], before: Sequence[float], after: Sequence[float], changed: bool, *, are_scores: bool = False
) -> go.Figure:
    """Candidates as bars, the likeliest on top; if the model is changed, with bars of the trained model beside them.

    Bars are probabilities, from 0 to 1, or scores, which may be negative.
    """
    names = [f"{rank + 1} {escape_label(piece)}" for rank, piece in enumerate(pieces)]
    hover = "%{y}<br>%{x:.5f}<extra>%{fullData.name}</extra>"
    bars = [
        go.Bar(
            x=after,
            y=names,
            orientation="h",
            name="with your changes",
            marker_color=PRIMARY_COLOUR,
            hovertemplate=hover,
        )
    ]
    if changed:
        bars.append(
            go.Bar(
                x=before, y=names, orientation="h", name="as trained", marker_color=MUTED_COLOUR, hovertemplate=hover
            )
        )
    else:
        bars[0].name = "score" if are_scores else "probability"
    figure = go.Figure(bars)
    figure.update_layout(barmode="group", bargap=0.25, showlegend=changed, legend={"orientation": "h", "y": 1.08})
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    if not are_scores:
        figure.update_xaxes(tickformat=".0%", range=(0, 1))
    return _with_layout(figure, height=max(len(names) * 32 + 110, 260))


def _square_root_cividis() -> list[tuple[float, str]]:
    """Cividis on a square-root scale, like the thumbnails: small weights stay visible."""
    from plotly.colors import sample_colorscale

    fractions = np.linspace(0.0, 1.0, 33)
    return [
        (float(fraction**2), colour)
        for fraction, colour in zip(fractions, sample_colorscale(CIVIDIS, fractions), strict=True)
    ]


def _with_layout(figure: go.Figure, height: int) -> go.Figure:
    figure.update_layout(
        height=height, margin={"l": 8, "r": 8, "t": 24, "b": 8}, paper_bgcolor=TRANSPARENT, plot_bgcolor=TRANSPARENT
    )
    return figure
