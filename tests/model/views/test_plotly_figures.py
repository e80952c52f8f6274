"""Views as figures of Plotly: their exact numbers, and their texts as they are."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from math import isnan
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.colors import sample_colorscale

from headlight.errors import HeadlightError
from headlight.views import kinds
from headlight.views.kinds import TitledView, View
from headlight.views.plotly_figures import FIGURES, GREY, INSTEAD, axis_names, escaped
from tests.browser.views.samples import samples

KINDS = {
    kind.kind
    for kind in vars(kinds).values()
    if isinstance(kind, type) and issubclass(kind, View) and kind not in (View, TitledView)
}
CHARTS = [view for view in samples() if view.kind in FIGURES]
# The fields of each kind whose numbers are in the figure.
NUMBERS = {
    "matrix": ("values",),
    "heat_map": ("values",),
    "bars": ("series",),
    "changes": ("parts", "start", "end"),
    "spans": ("spans",),
    "lines": ("x", "series"),
    "points": ("points",),
    "arrows": ("arrows",),
    "moving_points": ("frames",),
    "graph": ("places", "shades"),
    "table": ("rows",),
    "tokens": ("shades",),
    "alignment": ("weights",),
    "flow": ("edges",),
    "image": ("shades",),
}
MARKUP = ["</script>", "<b>bold</b>", "$x^2$", "a & b", "&lt;", "<br>", "%{x}"]
NO_TEXTS = {
    "colours",
    "scaled_by",
    "source",
    "form",
    "words",
    "picks",
}  # fields whose words choose among few, or have a form


def flat(value: Any) -> Iterator[Any]:
    """The numbers and texts in a value."""
    if isinstance(value, Mapping):
        yield from chain.from_iterable(map(flat, value.values()))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(flat, value))
    elif hasattr(value, "tolist"):
        yield from flat(value.tolist())
    elif is_dataclass(value):
        yield from flat([getattr(value, each.name) for each in fields(value)])
    elif value is not None:
        yield value


def drawn(view: View) -> dict[str, Any]:
    """What is drawn of a view, without the look of all figures."""
    figure = view.figure()
    layout = figure.layout.to_plotly_json()
    del layout["template"]
    parts = {"data": figure.data, "frames": figure.frames}
    return {"layout": layout} | {name: [each.to_plotly_json() for each in part] for name, part in parts.items()}


def names_of(views: list[View]) -> list[str]:
    return [f"{view.kind}-{view.title}" for view in views]


def test_each_kind_is_a_figure_or_says_what_to_use_instead() -> None:
    assert FIGURES.keys() | INSTEAD.keys() == KINDS == {view.kind for view in samples()}
    assert not FIGURES.keys() & INSTEAD.keys()
    for view in samples():
        if view.kind in INSTEAD:
            with pytest.raises(HeadlightError, match=rf"of the kind '{view.kind}' is no chart: .+\.$"):
                view.figure()


@pytest.mark.parametrize("view", CHARTS, ids=names_of(CHARTS))
def test_a_figure_has_the_title_and_the_exact_numbers(view: View) -> None:
    found = drawn(view)
    assert found["layout"]["title"]["text"] == escaped(view.title)
    shown = {number for number in flat([found["data"], found["frames"]]) if isinstance(number, int | float)}
    parts = chain.from_iterable(flat(getattr(view, name)) for name in NUMBERS.get(view.kind, ()))
    assert {number for number in parts if isinstance(number, float) and not isnan(number)} <= shown


def with_markup(value: Any) -> Any:
    """The same value with markup around each of its texts."""
    if isinstance(value, str):
        return f"<i>{value}</i> $x$ & %{{z}}" if value else value
    if isinstance(value, Mapping):
        return {with_markup(name): with_markup(each) for name, each in value.items()}
    if isinstance(value, tuple) and value[:1] not in (("text",), ("source",)):  # these are places of tokens
        changed = map(with_markup, value)
        return type(value)(*changed) if hasattr(value, "_fields") else tuple(changed)
    if is_dataclass(value) and not isinstance(value, type):
        changes = {each.name: with_markup(getattr(value, each.name)) for each in fields(value)}
        return replace(value, **{name: each for name, each in changes.items() if name not in NO_TEXTS})
    return value


@pytest.mark.parametrize("view", CHARTS, ids=names_of(CHARTS))
def test_no_text_of_a_view_becomes_markup(view: View) -> None:
    texts = [text for text in flat(drawn(with_markup(view))) if isinstance(text, str) and text[:5] != "data:"]
    assert any("&#60;i&#62;" in text for text in texts)
    for text in texts:
        assert not re.search(r"<i>|\$|&(?!#\d+;)|%\{z\}", text)


@pytest.mark.parametrize("piece", MARKUP)
def test_tokens_are_no_markup(piece: str) -> None:
    assert not set("<>$%") & set(escaped(piece))


def test_white_space_is_visible() -> None:
    texts = [" cat", " ", "\n", "\t", "chess board"]
    assert [escaped(text) for text in texts] == ["cat", "·", "¶", "→", "chess board"]


def test_equal_names_stay_apart() -> None:
    assert axis_names(["the", " cat"], 2) == ["the", "cat"]
    assert axis_names(["a", "a", " b"], 3) == ["0 a", "1 a", "2 b"]
    assert axis_names(["a", ""], 3) == ["a", "1", "2"]
    assert axis_names(["a" * 30 + end for end in "xy"], 2, 5) == ["0 aaaa…", "1 aaaa…"]


def test_shares_are_coloured_on_a_square_root_scale_as_on_the_page_and_weights_are_not() -> None:
    shares, weights = (
        kinds.MatrixView("", np.array([[0.5]]), colours=colours).figure().data[0].colorscale
        for colours in ("shares", "weights")
    )
    assert dict(shares)[0.25] == sample_colorscale("Cividis", [0.5])[0]
    assert weights == go.Heatmap(colorscale="Cividis").colorscale


def test_cells_without_a_number_are_empty() -> None:
    numbers = np.array([[1.0, np.nan], [0.25, 0.75]], np.float32)
    view = kinds.HeatMapView("", numbers, rows=("a", "a"), row_axis="query", column_axis="key", colours="weights")
    (cells,) = view.figure().data
    assert (list(cells.y), list(cells.x), cells.zmin, cells.zmax) == (["0 a", "1 a"], ["0", "1"], 0, 1)
    assert cells.z.dtype == np.float32 and np.isnan(cells.z[0][1]) and cells.z[1][1] == 0.75
    assert cells.hovertemplate.startswith("query %{y}<br>key %{x}<br>")


@pytest.mark.parametrize(
    ("look", "ends"),
    [
        ({}, (-2, 2)),
        ({"colours": "sequential", "low": -3.0}, (-3, 1)),
        ({"colours": "sequential", "high": 5.0}, (0, 5)),
    ],
)
def test_the_ends_of_other_colours(look: dict[str, Any], ends: tuple[float, float]) -> None:
    (cells,) = kinds.HeatMapView("", np.array([[-2.0, 1.0, np.inf, np.nan]]), **look).figure().data
    assert (cells.zmin, cells.zmax) == ends


def test_cells_of_a_matrix_have_its_texts_and_its_marks() -> None:
    view = kinds.MatrixView(
        "",
        np.array([[0.5, np.nan, -30_000], [0.125, 1, np.inf]]),
        columns=("a", "b", "c"),
        row_notes=("first", ""),
        row_numbers={"length": (2.5, 1.0)},
        marked=((1, 2),),
        crossed=np.array([[False, True, False], [False, False, False]]),
    )
    cells, crosses = view.figure().data
    assert [list(line) for line in cells.text] == [["0.50", "", "−30,000"], ["0.12", "1", "∞"]]
    assert cells.hovertext[0][0] == "<br>first<br>length 2.5" and cells.hovertext[1][0] == "<br>length 1"
    assert (list(crosses.x), list(crosses.y)) == (["b"], ["0"])
    (frame,) = view.figure().layout.shapes
    assert round(frame.x0 + frame.x1) == 4 and round(frame.y0 + frame.y1) == 2
    texts = replace(view, texts=(("x", "y", "z"),) * 2, cell_notes=(("", "n", ""),) * 2).figure().data[0].text
    assert list(texts[0]) == ["x", "y<br>n", "z"]


def test_a_row_can_have_colours_of_its_own() -> None:
    numbers = np.array([[1.0, -2.0], [30.0, np.nan]])
    first, second = kinds.MatrixView("", numbers, scaled_by="row").figure().data
    assert (first.zmax, second.zmax) == (2, 30)
    assert np.isnan(first.z[1]).all() and np.isnan(second.z[0]).all()
    assert list(first.text[1]) == list(second.text[0]) == ["", ""]


def test_lines_lie_between_groups_of_rows() -> None:
    shapes = kinds.HeatMapView("", np.zeros((6, 4)), row_groups=2, column_groups=3).figure().layout.shapes
    assert [(round(line.y0, 1), round(line.x0, 1)) for line in shapes] == [(1.5, 0), (3.5, 0), (0, 2.5)]


def test_bars_are_in_the_colours_and_on_the_axis_of_the_page() -> None:
    series = {"changed": (0.1, 0.2), "trained": (0.3, 0.4)}
    view = kinds.BarsView(labels=("a", "b"), series=series, compared="trained", as_percent=True, high=1.0, marked=1)
    figure = view.figure()
    changed, trained = figure.data
    assert (list(changed.x), list(trained.x), list(changed.y)) == ([0.1, 0.2], [0.3, 0.4], ["a", "<b>b</b>"])
    assert trained.marker.color == GREY != changed.marker.color and figure.layout.showlegend
    assert (figure.layout.xaxis.range, figure.layout.xaxis.tickformat) == ((0, 1), ".0%")
    signed = kinds.BarsView(labels=("a",), series={"score": (-3.0,)}).figure()
    assert (signed.layout.xaxis.range, signed.layout.xaxis.tickformat) == (None, None)
    assert replace(view, series={"signed": (-0.5, 0.5)}).figure().layout.xaxis.range == (-1, 1)


def test_parts_of_a_sum_follow_each_other_and_others_begin_at_zero() -> None:
    view = kinds.ChangesView("", (("one", 1.0), ("two", -0.5)), ("start", 40.0), ("end", 40.5))
    figure = view.figure()
    assert list(figure.data[0].measure) == ["absolute", "relative", "relative", "absolute"]
    assert list(figure.data[0].y) == ["start", "one", "two", "end"]
    low, high = figure.layout.xaxis.range
    assert 39.9 < low < 40 and 41 < high < 41.1
    assert list(replace(view, start=None, end=None).figure().data[0].x) == [1, -0.5]


def test_lines_are_dashed_faint_and_on_logarithmic_axes() -> None:
    series = {f"layer {layer}": (1.0, float("nan"), 2.0) for layer in range(9)}
    view = kinds.LinesView("", (1, 2, 3), series, "token", "nats", x_labels=("a", "b", "c"), broken=("layer 1",))
    figure = replace(view, log_x=True, series_title="layer").figure()
    assert [place for place, line in enumerate(figure.data) if line.line.dash == "dash"] == [1, 8]
    assert (figure.layout.xaxis.type, figure.layout.xaxis.ticktext) == ("log", ("a", "b", "c"))
    assert figure.layout.legend.title.text == "layer" and np.isnan(figure.data[0].y[1])
    strong = replace(view, strong=("layer 2", "layer 0")).figure().data
    assert [line.name for line in strong if line.showlegend] == ["layer 0", "layer 2"]


def test_points_that_move_have_a_frame_for_each_step() -> None:
    (view,) = [view for view in CHARTS if isinstance(view, kinds.MovingPointsView)]
    figure = view.figure()
    assert [step.label for step in figure.layout.sliders[0].steps] == list(view.names)
    assert [step.args[0] for step in figure.layout.sliders[0].steps] == [(frame.name,) for frame in figure.frames]


def test_a_flow_leads_from_row_to_row_and_says_what_each_share_is() -> None:
    (view,) = [view for view in CHARTS if isinstance(view, kinds.FlowView)]
    (flow,) = view.figure().data
    first = flow.link.source[0], flow.link.target[0]
    assert [(flow.node.label[node], flow.node.customdata[node]) for node in first] == [
        ("The", "input"),
        ("·sat", "layer 0"),
    ]
    assert flow.node.label[flow.link.target[3]] == "·sat → sat"
    assert flow.link.customdata[0] == "40.0 &#37; of \u2068“·sat”\u2069 comes from \u2068“The”\u2069"


def test_the_way_to_the_best_end_of_a_tree_stands_out() -> None:
    node = kinds.TreeNode
    steps = ((node(0, "a"), node(0, "b")), (node(0, ""), node(0, "d"), node(1, "e")), (node(1, "f"), node(0, "g")))
    (tree,) = kinds.TreeView("", steps).figure().data
    assert list(tree.labels) == ["a", "b", "", "d", "e", "f", "g"]
    assert list(tree.parents) == ["", "", "0.0", "0.0", "0.1", "1.1", "1.0"]
    best, faint, kept = tree.marker.colors[:3]
    assert list(tree.marker.colors) == [best, faint, kept, best, faint, best, kept]


def test_texts_and_numbers_of_a_table_are_as_on_the_page() -> None:
    rows = (("<b>one</b>", 1 / 3, 1 / 3), ("two", 2.0, "none"))
    (table,) = kinds.TableView(("name", "number", "mixed"), rows, marked=1).figure().data
    assert [list(column) for column in table.cells.values] == [
        ["&#60;b&#62;one&#60;/b&#62;", "<b>two</b>"],
        [1 / 3, 2.0],
        ["0.3333", "none"],
    ]
    assert list(table.cells.format) == ["", ".4~r", ""]


def test_tokens_without_shades_and_answers_without_weights_are_tables() -> None:
    tokens = kinds.TokensView("", ("a", "a"), labels=("1", "2"), groups=(0, -1), group_titles=("noun",))
    (table,) = tokens.figure().data
    assert [list(column) for column in table.cells.values] == [["0 a", "1 a"], ["1", "2"], ["noun", ""]]
    answer = kinds.AlignmentView("", ("a", "b"), ("c",), np.zeros((0, 2)), verb="looks at")
    assert [list(column) for column in answer.figure().data[0].cells.values] == [["a", "b"], ["c"]]
    half = kinds.AlignmentView("", ("a",), ("c", "d"), np.ones((2, 1)), verb="looks at", wrong=(0,), written=1)
    assert list(half.figure().data[0].y) == ["<s>c</s>"]


def test_plotly_is_imported_when_a_figure_is_asked_for() -> None:
    program = "import headlight.views.kinds, sys; assert 'plotly' not in sys.modules"
    subprocess.run(
        [sys.executable, "-c", program], check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
