"""The kinds of views: what a screen of the course or an analysis shows, as plain values of numbers and texts.

`DRAWINGS` of views.ts in app/headlight_app/ui/frontend/views names the function that draws a kind on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from headlight.questions.kinds import Number

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from headlight.rendering.model_diagram import ModelDiagram


@runtime_checkable
class Array(Protocol):
    """An array or a tensor."""

    def tolist(self) -> Any:
        """Its numbers as nested lists."""


Numbers = Array | Sequence[Number]
MOST_PLACES = 300  # decimal places of a number, so that ten to their power is finite
# The fields of the choice that a click changes, and their values; "variant.pooling" is a field of its variant, and
# "toggle_edits" are edits to be made, or removed if all are there already.
Pick = Mapping[str, str | int | tuple[str, ...] | tuple[int, ...]]
# A token of the page, by its position there.
TokenPlace = tuple[Literal["text", "source"], int]


def to_numpy(values: Numbers) -> np.ndarray:
    """The same numbers as an array."""
    if hasattr(values, "tolist") and not isinstance(values, np.ndarray):
        values = values.tolist()
    return np.array(values, float)


def four_digits(values: np.ndarray) -> np.ndarray:
    """Numbers in the digits that a drawing shows: more would only make the answer larger.

    These are the first four digits of each, but whole numbers keep all of theirs.
    """
    with np.errstate(divide="ignore"):
        places = 3 - np.floor(np.log10(np.abs(values)))
    scale = 10.0 ** np.clip(places, 0, MOST_PLACES)
    rounded: np.ndarray = np.round(values * scale) / scale
    return rounded


@dataclass(frozen=True)
class NumberTable:
    """Numbers to be saved: the labels of each axis by its name, and an array of these axes."""

    axes: Mapping[str, tuple[str, ...]]
    values: Array


@dataclass(frozen=True, kw_only=True)
class View:
    """A title, what is shown below it, and a note.

    `before` is a sign in front of it, "×", "=" or "→", if the views of a row form an equation; matrices of one row that
    are joined by "+" and "=", and of one shape, add up as they are written, and have one scale of colours. `tables` are
    the numbers that are saved, by their titles; None: those that are shown.
    """

    kind: ClassVar[str]
    title: str = ""
    note: str = ""
    before: str = ""
    tables: Mapping[str, NumberTable] | None = None

    def as_drawn(self) -> View:
        """The same with the digits that a drawing shows."""
        return self

    def figure(self) -> go.Figure:
        """The same as a figure of Plotly, with all digits. Raises HeadlightError for a kind that is no chart."""
        from headlight.views.plotly_figures import figure_of  # Plotly is imported when a figure is asked for

        return figure_of(self)


@dataclass(frozen=True)
class TitledView(View):
    """A view whose title is given first."""

    title: str = field()


@dataclass(frozen=True)
class MatrixView(TitledView):
    """A table of numbers, coloured as a heat map.

    `colours` "weights" shade from 0 to 1, "signed" on both sides of 0, "none" not at all; in "groups" each whole number
    has its own colour. "shares" have the colours of attention maps, from 0 to 1 on a square-root scale, "sequential"
    numbers have them from 0 to the largest. The deepest colour is that of the largest number of all, or if `scaled_by`
    "row" of its row, and never of one below `least_scale`. With a `unit`, what the numbers are, the colours are
    explained below. Numbers have `digits` decimal places; if that is None two, or more if all are small, and cells
    without a number are empty. `texts` are written in the cells instead, and `cell_notes` beside them. `row_sums` adds
    a column of sums, `row_numbers` are columns of other numbers in front. `marked` cells (row, column) are framed;
    `crossed` cells are forbidden by a mask.

    With `titles`, `details` or `row_notes` the note tells the cell under the pointer: its title, else its row and
    column; its details, else its number; and the note of its row. A screen reader hears the same words. A click on a
    cell chooses its own of `picks`, or else its column's, if that is not empty; one on the name of a row its own.
    """

    kind: ClassVar[str] = "matrix"
    values: Array
    _: KW_ONLY
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    row_axis: str = ""
    column_axis: str = ""
    colours: Literal["signed", "weights", "shares", "sequential", "none", "groups"] = "signed"
    unit: str = ""
    scaled_by: Literal["all", "row"] = "all"
    least_scale: float = 0.0
    row_sums: bool = False
    row_numbers: Mapping[str, Numbers] = field(default_factory=dict)
    marked: tuple[tuple[int, int], ...] = ()
    crossed: Array | None = None
    digits: int | None = 2
    texts: tuple[tuple[str, ...], ...] = ()
    cell_notes: tuple[tuple[str, ...], ...] = ()
    titles: tuple[tuple[str, ...], ...] = ()
    details: tuple[tuple[str, ...], ...] = ()
    row_notes: tuple[str, ...] = ()
    picks: tuple[tuple[Pick, ...], ...] = ()
    row_picks: tuple[Pick, ...] = ()
    column_picks: tuple[Pick, ...] = ()


@dataclass(frozen=True)
class HeatMapView(TitledView):
    """A matrix too large for printed numbers: coloured cells that show theirs on hover.

    `colours` "weights" shade from 0 to 1, "sequential" from `low` to `high` (None: the largest number), "signed" on
    both sides of 0. A line is drawn after every `row_groups` rows and `column_groups` columns (0: none). With
    `is_small` it is placed beside others.
    """

    kind: ClassVar[str] = "heat_map"
    values: Array
    _: KW_ONLY
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    row_axis: str = ""
    column_axis: str = ""
    colours: Literal["signed", "weights", "sequential"] = "signed"
    low: float = 0.0
    high: float | None = None
    row_groups: int = 0
    column_groups: int = 0
    is_small: bool = False

    def as_drawn(self) -> View:
        """The same with four digits of each number."""
        return replace(self, values=four_digits(to_numpy(self.values)))


@dataclass(frozen=True, kw_only=True)
class MovingPointsView(View):
    """Named points that move: the place of each in every frame, and the name of each frame ("step 5").

    With `groups` a point has the colour of its group; `group_titles` names these.
    """

    kind: ClassVar[str] = "moving_points"
    labels: tuple[str, ...]
    frames: Array
    names: tuple[str, ...]
    groups: tuple[int, ...] = ()
    group_titles: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BarsView(View):
    """One labelled bar for each number; several `series` are drawn one below the other. `high` fixes the longest bar.

    The series `compared`, what the others are compared with, is grey; beside it and a lone other one the change is
    written. In a list that `is_compact` the compared one is a thin bar above the other, whose number alone is written.
    Shares are written `as_percent`, numbers that are `is_signed` with their sign and three digits, others with `digits`
    decimal places, or if that is None with four digits in all; for NaN, which has no bar, the word `missing`; `texts`
    that are not empty are written in place of the last series' numbers. A lone number has a bar only if `high` says how
    much it is. A click on a label chooses its pick, if it has one; with an `action` a button of this name does. The
    `marked` one stands out; the words `marked_as` tell why, and `chosen_as` do so for the chosen one.
    """

    kind: ClassVar[str] = "bars"
    labels: tuple[str, ...]
    series: Mapping[str, Numbers]
    compared: str = ""
    is_compact: bool = False
    high: float | None = None
    digits: int | None = 2
    as_percent: bool = False
    is_signed: bool = False
    missing: str = "NaN"
    texts: tuple[str, ...] = ()
    picks: tuple[Pick, ...] = ()
    chosen_as: str = ""
    action: str = ""
    marked: int | None = None
    marked_as: str = ""


@dataclass(frozen=True)
class ChangesView(TitledView):
    """Parts of a sum as bars. With a `start` each bar begins where the previous one ended, otherwise at 0.

    `start`, `end` and the parts are a name and a number each; as they are written, they add up to the `end`. A click on
    the name of a part chooses its pick, if it has one. The `marked` part stands out.
    """

    kind: ClassVar[str] = "changes"
    parts: tuple[tuple[str, Number], ...]
    start: tuple[str, Number] | None = None
    end: tuple[str, Number] | None = None
    _: KW_ONLY
    picks: tuple[Pick, ...] = ()
    marked: int | None = None


@dataclass(frozen=True)
class LinesView(TitledView):
    """One line for each of `series` over `x`; those in `broken` are dashed. `log_x`, `log_y`: logarithmic axes.

    `series_title` says what each line is of; `x_labels` name the places `x`. With `strong` lines the others are faint.
    The vertical axis includes 0 if it is `from_zero`.
    """

    kind: ClassVar[str] = "lines"
    x: Numbers
    series: Mapping[str, Numbers]
    x_title: str
    y_title: str
    _: KW_ONLY
    series_title: str = "series"
    x_labels: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    strong: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = True


@dataclass(frozen=True)
class Arrow:
    """A vector in the plane; `shade` is how strongly it is drawn, `group` its colour."""

    label: str
    x: float
    y: float
    group: int = 0
    shade: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ArrowsView(View):
    """Vectors in the plane, from the origin; `groups` name the colours."""

    kind: ClassVar[str] = "arrows"
    arrows: tuple[Arrow, ...]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PointsView(View):
    """Named points in the plane: (label, x, y, group)."""

    kind: ClassVar[str] = "points"
    points: tuple[tuple[str, float, float, int], ...]
    groups: tuple[str, ...] = ()
    x_title: str = ""
    y_title: str = ""


@dataclass(frozen=True)
class TokensView(TitledView):
    """Tokens as chips, or with `as_text` as running text.

    `shades` from 0 to 1 colour them, below 0 in the colour of negative numbers; `labels` and below them `below` are
    written under each (an id, a count). A token has the colour of its group of `groups`, if that is not negative;
    `group_titles` explain these. With `details` the note tells that of the token under the pointer, or of the chosen
    one. `places` are those of the tokens on the page, which marks the one under the pointer; a click on a token chooses
    its pick.
    """

    kind: ClassVar[str] = "tokens"
    tokens: tuple[str, ...]
    _: KW_ONLY
    shades: Numbers = ()
    labels: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    group_titles: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    places: tuple[TokenPlace, ...] = ()
    picks: tuple[Pick, ...] = ()
    as_text: bool = False


@dataclass(frozen=True)
class TableView(View):
    """A table of texts and numbers; the first column names the rows.

    `addresses` are the web links of the last cell of each row, or empty. A click on the name of a row chooses its pick.
    The `marked` row stands out; the words `marked_as` tell on the screen why.
    """

    kind: ClassVar[str] = "table"
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number, ...], ...]
    _: KW_ONLY
    digits: int = 4
    addresses: tuple[str, ...] = ()
    picks: tuple[Pick, ...] = ()
    marked: int | None = None
    marked_as: str = ""


@dataclass(frozen=True)
class ScreenLink:
    """A link to another screen of the course, by chapter and screen name; `inputs` replace its defaults."""

    chapter: str
    screen: str
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A common claim, the correct statement, and the screens that show it."""

    said: str
    right: str
    links: tuple[ScreenLink, ...]


@dataclass(frozen=True, kw_only=True)
class ClaimsView(View):
    """A list of claims, each with links to the screens that show what is right."""

    kind: ClassVar[str] = "claims"
    claims: tuple[Claim, ...]


@dataclass(frozen=True, kw_only=True)
class ModelDiagramView(View):
    """A model drawn as boxes and arrows, from its input down to its output, with the output shape of each box.

    If it is `enterable`, each part links to its numbers on Explore: it is the model of the screen's link.
    """

    kind: ClassVar[str] = "model_diagram"
    diagram: ModelDiagram
    enterable: bool = False


@dataclass(frozen=True)
class ImageView(TitledView):
    """An image under a grid of `rows` x `columns` patches; `source` is the image's URL (`png_url`).

    With `shades`, names and numbers, it is drawn once for each of them, and a patch is as bright as its number;
    `marked` patches are framed. `places` are the tokens of the page that these drawings are of: the one that is pointed
    at is marked there, and a click on a drawing chooses its pick.
    """

    kind: ClassVar[str] = "image"
    source: str
    rows: int
    columns: int
    _: KW_ONLY
    shades: tuple[tuple[str, Numbers], ...] = ()
    marked: tuple[int, ...] = ()
    places: tuple[TokenPlace, ...] = ()
    picks: tuple[Pick, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SpansView(View):
    """A span from one number to another for each label, in `unit`, of a whole that is as long as `high`.

    `places` and `picks` are those of the labels, as in a TokensView.
    """

    kind: ClassVar[str] = "spans"
    labels: tuple[str, ...]
    spans: tuple[tuple[Number, Number], ...]
    high: float
    unit: str
    places: tuple[TokenPlace, ...] = ()
    picks: tuple[Pick, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StripsView(View):
    """A strip for each label, one below the other, with parts side by side: their lengths and their groups.

    Each is as long as `high`, and `ends` name its two ends; an arrow points `at` a number. A part has the colour of its
    group, or is grey if that is negative; `group_titles` explain these. `heights` are the shares of the strips' height
    that the parts fill, if not all of it.
    """

    kind: ClassVar[str] = "strips"
    labels: tuple[str, ...]
    parts: tuple[tuple[tuple[Number, int], ...], ...]
    high: Number
    ends: tuple[str, str] = ("", "")
    at: Number | None = None
    group_titles: tuple[str, ...] = ()
    heights: tuple[float, ...] = ()


@dataclass(frozen=True)
class AlignmentView(TitledView):
    """What was read and an answer as two rows of tokens, with a line between them for each weight.

    `weights` are those from each token of the answer to each that was read, or none; `lines`: whether they are drawn as
    lines. `notes` are written under the answer's tokens; those that are `wrong` are struck through. With `written`, the
    later ones are not written yet. The note tells the token under the pointer, with `verb` between it and what it
    looked at. `places` and `picks` are those of the answer's tokens, `read_places` those of what was read.
    """

    kind: ClassVar[str] = "alignment"
    read: tuple[str, ...]
    answer: tuple[str, ...]
    weights: Array
    _: KW_ONLY
    verb: str
    lines: bool = True
    notes: tuple[str, ...] = ()
    wrong: tuple[int, ...] = ()
    written: int | None = None
    read_places: tuple[TokenPlace, ...] = ()
    places: tuple[TokenPlace, ...] = ()
    picks: tuple[Pick, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GraphView(View):
    """Named nodes, their coordinates in the plane, and the edges between them as pairs of node numbers.

    `shades` from 0 to 1 colour the nodes and are written in them; the `marked` node is framed.
    """

    kind: ClassVar[str] = "graph"
    nodes: tuple[str, ...]
    places: Array
    edges: tuple[tuple[int, int], ...]
    shades: Numbers = ()
    marked: int | None = None


class FlowEdge(NamedTuple):
    """A share of the node of the column `target` in the next row that comes from the column `source` in this `row`.

    `kind` names its FlowKind; `note` is told with it, and a click chooses its pick.
    """

    kind: str
    row: int
    source: int
    target: int
    share: float
    note: str
    pick: Pick


@dataclass(frozen=True)
class FlowKind:
    """How edges are drawn, and what is told of one, with {row}, {source}, {target}, {share} and {note}."""

    form: Literal["line", "second line", "stream", "square", "second square"]
    words: str


@dataclass(frozen=True)
class FlowView(TitledView):
    """Shares that flow from row to row of a grid, down to the column `end` of the last row, with `end_text` under it.

    A column is a token, of the text or of the source, by its position there.
    """

    kind: ClassVar[str] = "flow"
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    edges: tuple[FlowEdge, ...]
    _: KW_ONLY
    kinds: Mapping[str, FlowKind]
    tokens: tuple[TokenPlace, ...]
    end: int
    end_text: str = ""


class TreeNode(NamedTuple):
    """A node of a tree: the place of its parent in the step before, and its text; without one it only goes on."""

    parent: int
    text: str


@dataclass(frozen=True)
class TreeView(TitledView):
    """Texts that branch from step to step. The way to the first node of the last step stands out.

    Nodes that lead to none of the last step are faint.
    """

    kind: ClassVar[str] = "tree"
    steps: tuple[tuple[TreeNode, ...], ...]


@dataclass(frozen=True, kw_only=True)
class SoundView(View):
    """A sound that can be played; `source` is the address of a WAV file (`wav_url`)."""

    kind: ClassVar[str] = "sound"
    source: str


@dataclass(frozen=True, kw_only=True)
class FileView(View):
    """A text that can be downloaded as a file."""

    kind: ClassVar[str] = "file"
    file_name: str
    media_type: str
    text: str


@dataclass(frozen=True)
class ChoiceView(TitledView):
    """Options with the pick that each makes, and `chosen`, the place of the one that holds now.

    If `chosen` is None it is the option whose pick is the choice. Buttons of the form "actions" are never chosen; one
    with an empty pick cannot be pressed. The form "steps" goes through the options, one by one or by itself. Of the
    form "toggles" several may be chosen, and at least one stays: `chosen` are their places, and the lists of their
    picks are picked together.
    """

    kind: ClassVar[str] = "choice"
    options: tuple[str, ...]
    picks: tuple[Pick, ...]
    _: KW_ONLY
    form: Literal["buttons", "actions", "select", "slider", "steps", "toggles"] = "buttons"
    chosen: int | tuple[int, ...] | None = None


@dataclass(frozen=True)
class InputView(TitledView):
    """A text to be typed, which becomes the `field` of the choice; `text` is its value now.

    It does so at each letter if it is `live`, otherwise once it is complete.
    """

    kind: ClassVar[str] = "input"
    field: str
    text: str
    _: KW_ONLY
    placeholder: str = ""
    live: bool = False


@dataclass(frozen=True, kw_only=True)
class Equations(View):
    """Formulas with the numbers inserted, in LaTeX, to check with a pencil."""

    kind: ClassVar[str] = "equations"
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Verdict(View):
    """A sentence that states the result; `good` is None if it makes no judgement."""

    kind: ClassVar[str] = "verdict"
    text: str
    good: bool | None = None
