"""Arrays to Plotly figures. Tokens are text whatever they contain: Plotly's markup is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from model.array_types import Float

CIVIDIS = "Cividis"
DIVERGING = "PuOr_r"  # purple below zero, white at zero, orange above
BEAM, SHADE = "#e0951f", "#8d97a8"
# Told apart with every kind of colour vision (Okabe and Ito 2008), the order changed to begin with our own two.
LINES = ("#e0951f", "#0072b2", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8d97a8", "#b3a100")
CLEAR = "rgba(0,0,0,0)"
LONGEST = 18  # characters of a tick label


def plain(text: str) -> str:
    """Text that Plotly shows as it is: no pseudo-HTML, no mathematics, white space visible."""
    shown = text[1:] if len(text) > 1 and text.startswith(" ") else text
    for character, sign in ((" ", "·"), ("\n", "⏎"), ("\t", "→")):
        shown = shown.replace(character, sign)
    shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
    for character in "&<>$":  # the ampersand first
        shown = shown.replace(character, f"&#{ord(character)};")
    return shown or "∅"


def numbered(pieces: Sequence[str], places: Sequence[int] | None = None) -> list[str]:
    """Tick labels of tokens: the position in the text (by default the place in the list) keeps equal ones apart."""
    return [f"{place} {plain(piece)}" for place, piece in zip(places or range(len(pieces)), pieces, strict=True)]


def attention(
    numbers: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    name: str,
    *,
    limits: tuple[float, float] = (0.0, 1.0),
    signed: bool = False,
    rooted: bool = True,
) -> go.Figure:
    """A picture of heads, queries downwards and keys to the right; cells without a number are empty.

    `queries` and `keys` are labels from `numbered`.
    """
    heatmap = go.Heatmap(
        z=numbers.astype(np.float32),
        x=list(keys),
        y=list(queries),
        colorscale=DIVERGING if signed else _rooted() if rooted else CIVIDIS,
        zmin=limits[0],
        zmax=limits[1],
        xgap=1 if len(keys) <= 40 else 0,
        ygap=1 if len(queries) <= 40 else 0,
        colorbar={"thickness": 10, "outlinewidth": 0, "title": {"text": name, "side": "right"}},
        hovertemplate=f"query %{{y}}<br>key %{{x}}<br>{name} %{{z:.5f}}<extra></extra>",
    )
    figure = go.Figure(heatmap)
    figure.update_xaxes(side="top", tickangle=-60, showgrid=False, title="key", type="category")
    figure.update_yaxes(autorange="reversed", showgrid=False, title="query", type="category")
    return _framed(figure, height=min(max(len(queries) * 22 + 140, 360), 640))


def predictions(pieces: Sequence[str], before: Sequence[float], after: Sequence[float], changed: bool) -> go.Figure:
    """Candidates as bars, the likeliest on top; the model as trained beside the changed one where there is a change."""
    names = [f"{place + 1} {plain(piece)}" for place, piece in enumerate(pieces)]
    hover = "%{y}<br>%{x:.5f}<extra>%{fullData.name}</extra>"
    bars = [go.Bar(x=after, y=names, orientation="h", name="with your changes", marker_color=BEAM, hovertemplate=hover)]
    if changed:
        bars.append(
            go.Bar(x=before, y=names, orientation="h", name="as trained", marker_color=SHADE, hovertemplate=hover)
        )
    else:
        bars[0].name = "probability"
    figure = go.Figure(bars)
    figure.update_layout(barmode="group", bargap=0.25, showlegend=changed, legend={"orientation": "h", "y": 1.08})
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(tickformat=".0%", rangemode="tozero")
    return _framed(figure, height=max(len(names) * 32 + 110, 260))


def surface(
    values: np.ndarray, across: str, down: str, name: str, *, diverging: bool = False, height: int = 380
) -> go.Figure:
    """Any matrix as a heatmap; a diverging one has white at zero."""
    reach = float(np.abs(values).max()) or 1.0
    heatmap = go.Heatmap(
        z=values.astype(np.float32),
        colorscale=DIVERGING if diverging else CIVIDIS,
        zmin=-reach if diverging else None,
        zmax=reach if diverging else None,
        colorbar={"thickness": 10, "outlinewidth": 0},
        hovertemplate=f"{down} %{{y}}<br>{across} %{{x}}<br>{name} %{{z:.4f}}<extra></extra>",
    )
    figure = go.Figure(heatmap)
    figure.update_xaxes(title=across, showgrid=False)
    figure.update_yaxes(title=down, autorange="reversed", showgrid=False)
    return _framed(figure, height=height)


def curves(
    lines: Sequence[tuple[str, np.ndarray]], across: str, down: str, *, start: int = 0, height: int = 380
) -> go.Figure:
    """Some rows as curves over position or distance, `start` being the first of them."""
    figure = go.Figure(
        [
            go.Scatter(
                x=np.arange(start, start + len(values)),
                y=values.astype(np.float32),
                name=name,
                mode="lines",
                line={"color": LINES[place % len(LINES)], "width": 2},
                hovertemplate=f"{across} %{{x}}<br>{down} %{{y:.4f}}<extra>{name}</extra>",
            )
            for place, (name, values) in enumerate(lines)
        ]
    )
    figure.update_xaxes(title=across)
    figure.update_yaxes(title=down)
    figure.update_layout(showlegend=True)
    return _framed(figure, height=height)


def bars(names: Sequence[str], values: np.ndarray, down: str, *, height: int = 320) -> go.Figure:
    """One bar for each name."""
    bar = go.Bar(x=list(names), y=values, marker_color=BEAM, hovertemplate="%{x}<br>%{y:.5f}<extra></extra>")
    figure = go.Figure(bar)
    figure.update_xaxes(type="category")
    figure.update_yaxes(title=down)
    return _framed(figure, height=height)


def _rooted() -> list[tuple[float, str]]:
    """Cividis on a square-root scale, as the thumbnails have it: small weights stay visible."""
    from plotly.colors import sample_colorscale

    places = np.linspace(0.0, 1.0, 33)
    return [(float(place**2), colour) for place, colour in zip(places, sample_colorscale(CIVIDIS, places), strict=True)]


def _framed(figure: go.Figure, height: int) -> go.Figure:
    figure.update_layout(
        height=height, margin={"l": 8, "r": 8, "t": 24, "b": 8}, paper_bgcolor=CLEAR, plot_bgcolor=CLEAR
    )
    return figure
