"""Views as figures of Plotly, from their exact numbers; `View.figure` imports this module when it is called.

Plotly reads texts as HTML of its own and as formulas: every text of a view passes `escaped`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import unescape
from itertools import cycle
from math import isfinite, isnan, nan
from typing import Any

import numpy as np

from headlight.errors import HeadlightError
from headlight.questions.kinds import Number
from headlight.views import kinds
from headlight.views.words import digits, in_line, names, percent, quoted

try:
    import plotly.graph_objects as go
    from plotly.colors import sample_colorscale
    from plotly.subplots import make_subplots
except ModuleNotFoundError as error:
    raise HeadlightError("A figure of a view needs Plotly, which is not installed: pip install plotly") from error

Scale = str | list[tuple[float, str]]
Colours = tuple[Scale, float, float]  # a scale, and the numbers at its ends

HEAD_COLOURS = ("#e0951f", "#0072b2", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8d97a8", "#b3a100")
POSITIVE, NEGATIVE, GREY, FAINT, TRANSPARENT = HEAD_COLOURS[0], "#8073ac", "#8d97a8", "#ccd2dc", "rgba(0,0,0,0)"
CIVIDIS = "Cividis"
DIVERGING = "PuOr_r"  # purple below zero, white at zero, orange above
DARKNESS = 0.8  # over a patch without attention
GOLDEN_ANGLE = 137.5  # degrees between the hues of successive groups
EDGE = 0.499  # from the middle of a cell to its edge; Plotly would look for a row called "0.5" first
MOST_LETTERS = 22  # of a name beside a map
MOST_APART = 40  # rows or columns with gaps between them
MOST_TICKS = 30
MOST_PICTURES = 6  # side by side
FRAME_MILLISECONDS = 90
BAR_HOVER = "%{y}<br>%{x:.5g}<extra>%{fullData.name}</extra>"
PATCH_HOVER = "patch %{customdata}<br>%{z:.5g}<extra></extra>"
POINT_HOVER = "%{text}<br>%{x:.5g}, %{y:.5g}<extra>%{fullData.name}</extra>"


def figure_of(view: kinds.View) -> go.Figure:
    """The figure of a view. Raises HeadlightError for a kind that is no chart."""
    if view.kind not in FIGURES:
        instead = INSTEAD.get(view.kind, "read its fields")
        raise HeadlightError(f"A view of the kind {view.kind!r} is no chart: {instead}.")
    figure: go.Figure = FIGURES[view.kind](view)
    figure.update_layout(margin={"l": 8, "r": 8, "t": 24, "b": 8})
    return _titled(figure, view.title) if view.title else figure


def _titled(figure: go.Figure, text: str) -> go.Figure:
    """The figure with a title above it, and above the turned names of a map."""
    above = figure.data[0].x if figure.layout.xaxis.side == "top" else ()
    room = 40 + max((6 * len(unescape(name)) + 16 for name in above), default=0)
    title = {"text": escaped(text), "y": 1, "yanchor": "top", "yref": "container", "pad": {"t": 12}}
    height = figure.layout.height and figure.layout.height + room
    return figure.update_layout(title=title, margin_t=24 + room, height=height)


# --- texts -----------------------------------------------------------------------------------------------------------


def escaped(text: str, most: int | None = None) -> str:
    """A text that Plotly shows unchanged, with visible white space, and cut after so many letters."""
    shown = in_line(text) if text else ""
    shown = shown if most is None or len(shown) <= most else f"{shown[: most - 1]}…"
    for sign in "&<>$%":  # the ampersand first; Plotly puts a number in place of "%{x}"
        shown = shown.replace(sign, f"&#{ord(sign)};")
    return shown


def axis_names(texts: Sequence[str], count: int, most: int | None = None) -> list[str]:
    """Names along an axis; numbers stand for missing ones, and distinguish equal ones."""
    found = [escaped("".join(texts[place : place + 1]), most) or str(place) for place in range(count)]
    return found if len({*found}) == count else [f"{place} {name}" for place, name in enumerate(found)]


def _bold(texts: Sequence[str], marked: int | None) -> list[str]:
    return [f"<b>{text}</b>" if place == marked else text for place, text in enumerate(texts)]


# --- numbers ---------------------------------------------------------------------------------------------------------


def _exact(values: kinds.Numbers) -> np.ndarray:
    """The numbers of a view; those of four bytes stay so, which is half as much to send."""
    return values if isinstance(values, np.ndarray) and values.dtype.kind == "f" else kinds.to_numpy(values)


def _largest(values: np.ndarray, least: float = 0.0) -> float:
    """The largest size of the finite numbers; 1 if all are 0."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=least)) or 1.0


# --- maps ------------------------------------------------------------------------------------------------------------


def square_root_scale() -> Scale:
    """Cividis on a square-root scale: small weights stay visible."""
    shares = np.linspace(0.0, 1.0, 33)
    return [(float(share**2), ink) for share, ink in zip(shares, sample_colorscale(CIVIDIS, shares), strict=True)]


def _group_colours(values: np.ndarray) -> Colours:
    """A colour for each whole number."""
    finite = values[np.isfinite(values)].astype(int)
    groups = range(finite.min(initial=0), finite.max(initial=0) + 1)
    inks = [f"hsl({group * GOLDEN_ANGLE % 360:.0f},75%,86%)" for group in groups]
    scale = [(edge / len(groups), ink) for place, ink in enumerate(inks) for edge in (place, place + 1)]
    return scale, groups[0] - 0.5, groups[-1] + 0.5


def _colours(name: str, values: np.ndarray, least: float = 0.0) -> Colours:
    if name in ("weights", "shares"):
        return square_root_scale() if name == "shares" else CIVIDIS, 0.0, 1.0
    if name == "groups":
        return _group_colours(values)
    size = _largest(values, least)
    if name == "sequential":
        return CIVIDIS, 0.0, size
    return DIVERGING if name == "signed" else [(0.0, TRANSPARENT), (1.0, TRANSPARENT)], -size, size


def _cells(values: np.ndarray, rows: list[str], columns: list[str], colours: Colours) -> go.Heatmap:
    """The cells of a map; those without a number are empty."""
    scale, low, high = colours
    gaps = {gap: int(len(side) <= MOST_APART) for gap, side in (("xgap", columns), ("ygap", rows))}
    bar = {"thickness": 10, "outlinewidth": 0, "title": {"side": "right"}}
    return go.Heatmap(z=values, y=rows, x=columns, colorscale=scale, zmin=low, zmax=high, colorbar=bar, **gaps)


def _map(view: kinds.MatrixView | kinds.HeatMapView, cells: Sequence[go.Heatmap], told: str = "") -> go.Figure:
    """Rows downwards and columns to the right; `told` are further words under the pointer."""
    figure = go.Figure(cells)
    down, across, unit = (escaped(getattr(view, name, "")) for name in ("row_axis", "column_axis", "unit"))
    hover = f"{down or 'row'} %{{y}}<br>{across or 'column'} %{{x}}<br>%{{fullData.name}} %{{z:.5g}}{told}"
    figure.update_traces(name=unit or "number", colorbar_title_text=unit, hovertemplate=f"{hover}<extra></extra>")
    figure.update_xaxes(side="top", tickangle=-60, showgrid=False, title_text=across, type="category")
    figure.update_yaxes(autorange="reversed", showgrid=False, title_text=down, type="category")
    height = min(max(len(figure.data[0].y) * 22 + 140, 360), 640)
    return figure.update_layout(height=height, plot_bgcolor=TRANSPARENT)


def _heat_map(view: kinds.HeatMapView) -> go.Figure:
    values = _exact(view.values)
    colours = _colours(view.colours, values)
    if view.colours == "sequential":
        highest = float(values[np.isfinite(values)].max(initial=view.low))
        colours = CIVIDIS, view.low, highest if view.high is None else view.high
    figure = _map(view, [_cells(values, *_sides(view, values), colours)])
    groups = ((figure.add_hline, view.row_groups), (figure.add_vline, view.column_groups))
    for (add, every), count in zip(groups, values.shape, strict=True):
        for place in range(every, count, every) if every else ():
            add(place - EDGE, line_width=1.5, line_color=GREY)
    return figure


def _sides(view: kinds.MatrixView | kinds.HeatMapView, values: np.ndarray) -> tuple[list[str], list[str]]:
    """The names of the rows and of the columns."""
    height, width = values.shape
    return axis_names(view.rows, height, MOST_LETTERS), axis_names(view.columns, width, MOST_LETTERS)


def _matrix(view: kinds.MatrixView) -> go.Figure:
    """A row that has a scale of its own is a trace of its own."""
    values = _exact(view.values)
    (rows, columns), texts = _sides(view, values), _cell_texts(view, values)
    parts = [[*range(len(rows))]] if view.scaled_by == "all" else [[row] for row in range(len(rows))]
    cells = []
    for part in parts:
        own = np.full_like(values, nan)
        own[part] = values[part]
        written = [line if row in part else [""] * len(columns) for row, line in enumerate(texts)]
        cells.append(_cells(own, rows, columns, _colours(view.colours, own, view.least_scale)).update(text=written))
    figure = _map(view, cells, "%{hovertext}")
    is_one = len(parts) == 1
    figure.update_traces(texttemplate="%{text}", hovertext=_cell_words(view, values), hoverongaps=is_one)
    figure.update_traces(showscale=is_one and bool(view.unit))
    for row, column in view.marked:
        figure.add_shape(_frame(row, column))
    if view.crossed is not None:
        down, across = np.nonzero(kinds.to_numpy(view.crossed))
        cross = {"symbol": "x-thin", "size": 16, "line": {"width": 1.5, "color": GREY}}
        x, y = [columns[column] for column in across], [rows[row] for row in down]
        figure.add_scatter(x=x, y=y, mode="markers", marker=cross, hoverinfo="skip", showlegend=False)
    return figure


def _frame(row: int, column: int) -> dict[str, Any]:
    edges = {"x0": column - EDGE, "x1": column + EDGE, "y0": row - EDGE, "y1": row + EDGE}
    return {"type": "rect", "line": {"width": 2, "color": POSITIVE}, **edges}


def _cell_texts(view: kinds.MatrixView, values: np.ndarray) -> list[list[str]]:
    """What is written in each cell, and its note."""
    texts = view.texts or [[_fixed(number, view.digits) for number in row] for row in values.tolist()]
    notes = view.cell_notes or [[""] * len(row) for row in texts]
    return [
        [f"{escaped(text)}<br>{escaped(note)}" if note else escaped(text) for text, note in zip(*row, strict=True)]
        for row in zip(texts, notes, strict=True)
    ]


def _fixed(number: float, places: int | None) -> str:
    """A number with so many decimal places, a whole one with none; without it, nothing."""
    if places is None or not isfinite(number):
        return "" if isnan(number) else digits(number, 3)
    return f"{number:,.{0 if number == round(number) else places}f}".replace("-", "−")


def _cell_words(view: kinds.MatrixView, values: np.ndarray) -> list[list[str]]:
    """What else is told of each cell: its title and details, and the note and the other numbers of its row."""
    sums = {"sum": values.sum(1)} if view.row_sums else {}
    numbers = {name: kinds.to_numpy(each) for name, each in {**view.row_numbers, **sums}.items()}
    words = [
        [*view.row_notes[row : row + 1], *(f"{name} {digits(each[row], 5)}" for name, each in numbers.items())]
        for row in range(len(values))
    ]
    told = [grid for grid in (view.titles, view.details) if grid]
    return [
        [_told(*(grid[row][column] for grid in told), *words[row]) for column in range(values.shape[1])]
        for row in range(len(values))
    ]


def _told(*words: str) -> str:
    """Further lines of what is told under the pointer."""
    return "".join(f"<br>{escaped(each)}" for each in words if each)


# --- bars ------------------------------------------------------------------------------------------------------------


def _listed(traces: Sequence[Any], height: int = 32) -> go.Figure:
    """Bars to the right of their names, the first on top."""
    figure = go.Figure(traces)
    figure.update_traces(orientation="h")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_layout(height=max(len(figure.data[0].y) * height + 110, 260), bargap=0.25, showlegend=False)
    return figure


def _bars(view: kinds.BarsView) -> go.Figure:
    labels = _bold(axis_names(view.labels, len(view.labels)), view.marked)
    coloured = [name for name in view.series if name != view.compared]
    inks = dict(zip(coloured, HEAD_COLOURS, strict=False))
    bars = [
        go.Bar(x=_exact(each), y=labels, name=escaped(name), marker_color=inks.get(name, GREY), hovertemplate=BAR_HOVER)
        for name, each in view.series.items()
    ]
    figure = _listed(bars, max(32, 14 * len(bars) + 4))
    legend = {"orientation": "h", "y": 1, "yanchor": "bottom"}
    figure.update_layout(barmode="group", showlegend=len(bars) > 1, legend=legend)
    if view.as_percent:
        figure.update_xaxes(tickformat=".0%")
    if view.high is not None:
        is_signed = any((bar.x < 0).any() for bar in bars)
        figure.update_xaxes(range=(-view.high if is_signed else 0, view.high))
    return figure


def _changes(view: kinds.ChangesView) -> go.Figure:
    """Each part begins where the one before ended if there is a start, else at 0."""
    before, after = ([total] if total else [] for total in (view.start, view.end))
    shown = [*before, *view.parts, *after]
    marked = None if view.marked is None else view.marked + len(before)
    labels, numbers = axis_names([name for name, _ in shown], len(shown)), [number for _, number in shown]
    bars = {"x": numbers, "y": _bold(labels, marked), "customdata": numbers}
    bars["hovertemplate"] = "%{y}<br>%{customdata:.5g}<extra></extra>"
    if not before:
        inks = [NEGATIVE if number < 0 else POSITIVE for _, number in view.parts] + [GREY] * len(after)
        return _listed([go.Bar(marker_color=inks, **bars)])
    measures = ["absolute", *["relative"] * len(view.parts), *["absolute"] * len(after)]
    sides = {"increasing": POSITIVE, "decreasing": NEGATIVE, "totals": GREY}
    looks = {side: {"marker": {"color": ink}} for side, ink in sides.items()}
    reached = np.array([*np.cumsum(numbers[: 1 + len(view.parts)]), *(number for _, number in after)])
    room = 0.05 * (np.ptp(reached) or 1)  # 0 may be far away
    figure = _listed([go.Waterfall(measure=measures, **looks, **bars)])
    return figure.update_xaxes(range=(reached.min() - room, reached.max() + room))


def _spans(view: kinds.SpansView) -> go.Figure:
    spans = np.array(view.spans, float)
    labels = axis_names(view.labels, len(view.labels))
    hover = f"%{{y}}<br>%{{customdata[0]:.5g}} to %{{customdata[1]:.5g}} {escaped(view.unit)}<extra></extra>"
    bar = go.Bar(base=spans[:, 0], x=spans[:, 1] - spans[:, 0], y=labels, customdata=spans, hovertemplate=hover)
    figure = _listed([bar.update(marker_color=POSITIVE)])
    return figure.update_xaxes(range=(0, view.high), title_text=escaped(view.unit))


def _strips(view: kinds.StripsView) -> go.Figure:
    """Parts side by side, in the colours of their groups."""
    labels = axis_names(view.labels, len(view.labels))
    figure = go.Figure()
    for place, parts in enumerate(view.parts):
        ends = np.cumsum([0.0, *(length for length, _ in parts)])
        for (length, group), base in zip(parts, ends[:-1], strict=True):
            name = escaped(view.group_titles[group]) if 0 <= group < len(view.group_titles) else ""
            ink = GREY if group < 0 else HEAD_COLOURS[group % len(HEAD_COLOURS)]
            look = {"name": name, "marker_color": ink, "hovertemplate": BAR_HOVER}
            figure.add_bar(x=[length], base=[base], y=[labels[place]], orientation="h", **look)
    figure.update_layout(barmode="overlay", showlegend=False, height=max(len(labels) * 32 + 110, 200))
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    if view.at is not None:
        figure.add_vline(float(view.at), line_width=1.5)
    return figure.update_xaxes(range=(0, view.high))


# --- lines and planes ------------------------------------------------------------------------------------------------


def _line_chart(view: kinds.LinesView) -> go.Figure:
    """Named lines beyond the eighth are dashed, too; with strong lines the others are faint."""
    named, x = list(view.strong or view.series), _exact(view.x)
    x_title, y_title = escaped(view.x_title), escaped(view.y_title)
    places = [escaped(label) for label in view.x_labels] or [f"{number:.5g}" for number in x]
    hover = f"{x_title or 'x'} %{{customdata}}<br>{y_title} %{{y:.5g}}<extra>%{{fullData.name}}</extra>"
    figure = go.Figure()
    for name, numbers in view.series.items():
        place = named.index(name) if name in named else -1
        is_broken = name in view.broken or place >= len(HEAD_COLOURS)
        line = {"color": HEAD_COLOURS[place % 8] if place >= 0 else FAINT, "dash": "dash" if is_broken else "solid"}
        shown = {"customdata": places, "hovertemplate": hover, "showlegend": place >= 0 and len(named) > 1}
        figure.add_scatter(x=x, y=_exact(numbers), name=escaped(name), mode="lines", line=line, **shown)
    figure.update_xaxes(title_text=x_title, type="log" if view.log_x else "linear")
    figure.update_yaxes(title_text=y_title, type="log" if view.log_y else "linear")
    figure.update_yaxes(rangemode="tozero" if view.from_zero else "normal")
    if view.x_labels:
        every = -(-len(places) // MOST_TICKS)
        figure.update_xaxes(tickvals=x[::every], ticktext=places[::every])
    is_named = view.series_title != kinds.LinesView.series_title
    return figure.update_layout(legend_title_text=escaped(view.series_title) if is_named else "")


def _plane(traces: Sequence[Any], x_title: str = "", y_title: str = "") -> go.Figure:
    """The same scale on both axes."""
    figure = go.Figure(traces)
    figure.update_xaxes(title_text=escaped(x_title))
    figure.update_yaxes(title_text=escaped(y_title), scaleanchor="x")
    return figure.update_layout(height=560)


def _group(group: int, titles: Sequence[str]) -> dict[str, Any]:
    """The name of a group in the legend, if it has one."""
    has_title = 0 <= group < len(titles)
    return {"name": escaped(titles[group]) if has_title else "", "legendgroup": str(group), "showlegend": has_title}


def _grouped_points(
    labels: Sequence[str], places: np.ndarray, groups: Sequence[int], titles: Sequence[str]
) -> list[go.Scatter]:
    """The points of each group as a trace."""
    traces = []
    for group in sorted({*groups}):
        own = [place for place, other in enumerate(groups) if other == group]
        look = _group(group, titles) | {"marker": {"size": 9, "color": HEAD_COLOURS[group % 8]}}
        look |= {"mode": "markers+text", "textposition": "middle right", "hovertemplate": POINT_HOVER}
        text = [escaped(labels[place]) for place in own]
        traces.append(go.Scatter(x=places[own, 0], y=places[own, 1], text=text, **look))
    return traces


def _points(view: kinds.PointsView) -> go.Figure:
    places = np.array([point[1:3] for point in view.points], float).reshape(-1, 2)
    labels, groups = [point[0] for point in view.points], [point[3] for point in view.points]
    return _plane(_grouped_points(labels, places, groups, view.groups), view.x_title, view.y_title)


def _arrows(view: kinds.ArrowsView) -> go.Figure:
    """Each from the origin; the first of a group stands in the legend."""
    figure, groups = _plane(()), [arrow.group for arrow in view.arrows]
    tip = {"symbol": "arrow", "angleref": "previous", "size": [0, 14], "opacity": 1}
    look = {"mode": "lines+markers+text", "textposition": "top center", "marker": tip, "hovertemplate": POINT_HOVER}
    for place, arrow in enumerate(view.arrows):
        own = _group(arrow.group, view.groups)
        own["showlegend"] &= groups.index(arrow.group) == place
        own |= {"line": {"color": HEAD_COLOURS[arrow.group % 8], "width": 3}}
        own |= {"opacity": 0.25 + 0.75 * min(max(arrow.shade, 0), 1)}
        figure.add_scatter(x=[0, arrow.x], y=[0, arrow.y], text=["", escaped(arrow.label)], **look, **own)
    return figure


def _moving_points(view: kinds.MovingPointsView) -> go.Figure:
    """A frame for each place of a slider."""
    frames = _exact(view.frames)
    groups = [*view.groups, *range(len(view.groups), len(view.labels))]
    traces = [_grouped_points(view.labels, frame, groups, view.group_titles) for frame in frames]
    figure, reach = _plane(traces[0]), 1.12 * _largest(frames)
    figure.frames = [go.Frame(name=str(place), data=each) for place, each in enumerate(traces)]
    figure.update_xaxes(range=(-reach, reach)).update_yaxes(range=(-reach, reach))
    pace = {"duration": FRAME_MILLISECONDS, "redraw": False}
    at_once = {"mode": "immediate", "frame": pace, "transition": {"duration": 0}}
    button = {"method": "animate", "label": "Play", "args": [None, at_once]}
    steps = [
        button | {"label": escaped(name), "args": [[str(place)], at_once]} for place, name in enumerate(view.names)
    ]
    return figure.update_layout(sliders=[{"steps": steps}], updatemenus=[{"type": "buttons", "buttons": [button]}])


def _graph(view: kinds.GraphView) -> go.Figure:
    """Edges as one broken line, and the nodes above them; the vertical axis goes down, as on the page."""
    places, shades = _exact(view.places), _exact(view.shades)
    ends = np.array([[*places[[one, other]], (nan, nan)] for one, other in view.edges]).reshape(-1, 2)
    shares = [f"<br>{100 * share:.0f} &#37;" for share in shades] or [""] * len(view.nodes)
    texts = [f"{escaped(name)}{share}" for name, share in zip(view.nodes, shares, strict=True)]
    widths = [4 if node == view.marked else 1 for node in range(len(view.nodes))]
    marker = {"size": 48, "line": {"width": widths, "color": GREY}, "color": "white"}
    if shades.size:
        marker |= {"color": shades, "cmin": 0, "cmax": 1, "colorscale": ["white", POSITIVE]}
    edges = go.Scatter(x=ends[:, 0], y=ends[:, 1], mode="lines", line_color=GREY, hoverinfo="skip")
    nodes = go.Scatter(x=places[:, 0], y=places[:, 1], mode="markers+text", text=texts, marker=marker, hoverinfo="text")
    figure = _plane([edges, nodes]).update_layout(showlegend=False, plot_bgcolor=TRANSPARENT)
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False, autorange="reversed")


# --- tokens and texts ------------------------------------------------------------------------------------------------


def _table_of(columns: Mapping[str, Sequence[str | Number]], formats: Sequence[str] = ()) -> go.Figure:
    header = {"values": [f"<b>{escaped(name)}</b>" for name in columns], "align": "left"}
    cells = {"values": [*columns.values()], "align": "left", "format": [*formats], "height": 24}
    rows = max(map(len, columns.values()), default=0)
    return go.Figure(go.Table(header=header, cells=cells)).update_layout(height=min(24 * rows + 130, 640))


def _table(view: kinds.TableView) -> go.Figure:
    """Numbers are shown in the digits of the view; those in a column with texts are written so."""
    columns: dict[str, Sequence[str | Number]] = {}
    formats = []
    for place, name in enumerate(view.columns):
        cells = [row[place] for row in view.rows]
        is_text = any(isinstance(cell, str) or not isfinite(cell) for cell in cells)
        texts = [escaped(cell) if isinstance(cell, str) else digits(float(cell), view.digits) for cell in cells]
        columns[name] = _bold(texts, None if place else view.marked) if is_text else cells
        formats.append("" if is_text else f".{view.digits}~r")
    return _table_of(columns, formats)


def _claims(view: kinds.ClaimsView) -> go.Figure:
    said, right = ([escaped(getattr(claim, name)) for claim in view.claims] for name in ("said", "right"))
    return _table_of({"often said": said, "what is right": right})


def _tokens(view: kinds.TokensView) -> go.Figure:
    """The shades of tokens as bars; without them a table of what is written under each."""
    tokens, shades = axis_names(names(view.tokens), len(view.tokens)), _exact(view.shades)
    groups = [_group(group, view.group_titles)["name"] for group in view.groups]
    told = {"label": view.labels, "below": view.below, "detail": view.details}
    columns = {name: [escaped(text) for text in texts] for name, texts in told.items() if texts}
    columns |= {"group": groups} if groups else {}
    if not shades.size:
        return _table_of({"token": tokens, **columns})
    words = ["".join(f"<br>{texts[place]}" for texts in columns.values()) for place in range(len(tokens))]
    inks = [NEGATIVE if shade < 0 else POSITIVE for shade in shades]
    hover = "%{x}<br>%{y:.5g}%{hovertext}<extra></extra>"
    bars = go.Bar(x=tokens, y=shades, hovertext=words, marker_color=inks, hovertemplate=hover)
    return go.Figure(bars).update_xaxes(type="category")


def _alignment(view: kinds.AlignmentView) -> go.Figure:
    """The weights as a map; without them a table of both rows of tokens."""
    read, answer = names(view.read), names(view.answer[: view.written])
    weights = _exact(view.weights)[: len(answer)]
    if not weights.size:
        return _table_of({"read": axis_names(read, len(read)), "answer": axis_names(answer, len(answer))})
    axes: Mapping[str, Any] = {"rows": answer, "columns": read, "row_axis": "answer", "column_axis": "read"}
    figure = _heat_map(kinds.HeatMapView("", weights, colours="weights", **axes))
    labels = [f"<s>{name}</s>" if place in view.wrong else name for place, name in enumerate(figure.data[0].y)]
    return figure.update_traces(y=labels)


def _flow(view: kinds.FlowView) -> go.Figure:
    """A node for each token of each row that has an edge, the rows from left to right."""
    ends = [((edge.row, edge.source), (edge.row + 1, edge.target)) for edge in view.edges]
    nodes = sorted({node for pair in ends for node in pair})
    tokens, last = [escaped(token) for token in names(view.columns)], (len(view.rows) - 1, view.end)
    after = f" → {escaped(view.end_text)}" if view.end_text else ""
    colours = dict(zip(view.kinds, cycle(HEAD_COLOURS), strict=False))
    links = {
        "source": [nodes.index(source) for source, _ in ends],
        "target": [nodes.index(target) for _, target in ends],
        "value": [edge.share for edge in view.edges],
        "customdata": [escaped(_edge_words(view, edge)) for edge in view.edges],
        "color": [f"{colours[edge.kind]}80" for edge in view.edges],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    shown = {
        "label": [f"{tokens[column]}{after if (row, column) == last else ''}" for row, column in nodes],
        "customdata": [escaped(view.rows[row]) for row, _ in nodes],
        "align": "right",  # every node leads to the last row
        "color": GREY,
        "hovertemplate": "%{label}, %{customdata}<extra></extra>",
    }
    return go.Figure(go.Sankey(node=shown, link=links))


def _edge_words(view: kinds.FlowView, edge: kinds.FlowEdge) -> str:
    source, target = (
        quoted(view.columns[column]) + (" of the source" if view.tokens[column][0] == "source" else "")
        for column in (edge.source, edge.target)
    )
    words = view.kinds[edge.kind].words
    return words.format(row=edge.row, source=source, target=target, share=percent(edge.share), note=edge.note)


def _tree(view: kinds.TreeView) -> go.Figure:
    """Step after step to the right; nodes that lead to none of the last step are faint."""
    nodes = [(step, rank, node) for step, found in enumerate(view.steps) for rank, node in enumerate(found)]
    ids = [f"{step}.{rank}" for step, rank, _ in nodes]
    parents = [f"{step - 1}.{node.parent}" if step else "" for step, _, node in nodes]
    parent_of = dict(zip(ids, parents, strict=True))
    inks = dict.fromkeys(ids, FAINT)
    last = len(view.steps) - 1
    for rank in reversed(range(len(view.steps[-1]) if view.steps else 0)):
        way = f"{last}.{rank}"
        while way:
            inks[way], way = POSITIVE if rank == 0 else GREY, parent_of[way]
    texts = [escaped(node.text) for _, _, node in nodes]
    look = {"leaf_opacity": 1, "marker": {"colors": [*inks.values()]}, "hoverinfo": "label"}
    return go.Figure(go.Icicle(ids=ids, parents=parents, labels=texts, **look))


def _image(view: kinds.ImageView) -> go.Figure:
    """The picture once for each row of shades, darker where these are less."""
    shades = view.shades or (("", [nan] * view.rows * view.columns),)
    across = min(len(shades), MOST_PICTURES)
    down = -(-len(shades) // across)
    figure = make_subplots(down, across, subplot_titles=[escaped(name) for name, _ in shades])
    darkness = [(share**2, f"rgba(8,10,16,{DARKNESS * (1 - share):.3f})") for share in np.linspace(0, 1, 33)]
    picture = {"source": view.source, "x": -0.5, "y": -0.5, "sizex": view.columns, "sizey": view.rows}
    picture |= {"sizing": "stretch", "layer": "below"}
    look = {"colorscale": darkness, "zmin": 0, "showscale": False, "hovertemplate": PATCH_HOVER}
    patches = np.arange(view.rows * view.columns).reshape(view.rows, view.columns)
    for place, (_, numbers) in enumerate(shades):
        values, at = _exact(numbers).reshape(patches.shape), {"row": place // across + 1, "col": place % across + 1}
        figure.add_heatmap(z=values, customdata=patches, zmax=_largest(values), **look, **at)
        figure.add_layout_image(picture, **at)
        for patch in view.marked:
            figure.add_shape(_frame(*divmod(patch, view.columns)), **at)
    figure.update_xaxes(visible=False, constrain="domain", range=(-0.5, view.columns - 0.5))
    figure.update_yaxes(visible=False, constrain="domain", range=(view.rows - 0.5, -0.5))
    for place, axis in enumerate(figure.select_yaxes(), start=1):
        axis.scaleanchor = f"x{place}"
    return figure.update_layout(height=max(300 * down, 400))


FIGURES: Mapping[str, Callable[[Any], go.Figure]] = {
    "matrix": _matrix,
    "heat_map": _heat_map,
    "bars": _bars,
    "changes": _changes,
    "spans": _spans,
    "strips": _strips,
    "lines": _line_chart,
    "points": _points,
    "arrows": _arrows,
    "moving_points": _moving_points,
    "graph": _graph,
    "table": _table,
    "claims": _claims,
    "tokens": _tokens,
    "alignment": _alignment,
    "flow": _flow,
    "tree": _tree,
    "image": _image,
}
INSTEAD = {
    "model_diagram": "its field `diagram` has the boxes and their shapes",
    "sound": "IPython.display.Audio(url=view.source) plays it",
    "file": "its field `text` is what would be downloaded",
    "choice": "it chooses on a page; its fields `options` and `picks` say what there is to choose",
    "input": "it is typed on a page; its field `text` is what stands there",
    "equations": "IPython.display.Math(line) sets each of its `lines`",
    "verdict": "its field `text` is the sentence",
}
