"""Pictures of the numbers that a screen has computed, and their JSON form for a page.

The module named like its `kind` in app/headlight_app/course/frontend/pictures draws it. Numbers are tensors or plain
Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, is_dataclass, replace
from math import isfinite
from typing import Any, ClassVar, Literal

from torch import Tensor

from headlight.questions.kinds import Number, Question
from headlight.rendering.model_diagram import ModelDiagram

Numbers = Tensor | Sequence[Number]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture with a title above it and a note below it.

    `before` is a sign in front of it, "×", "=" or "→", if the pictures of a row form an equation.
    """

    kind: ClassVar[str]
    title: str = ""
    note: str = ""
    before: str = ""


@dataclass(frozen=True)
class TitledPicture(Picture):
    """A picture whose title is given first."""

    title: str = field()


@dataclass(frozen=True)
class MatrixPicture(TitledPicture):
    """A matrix as a heat map with its numbers in the cells.

    `colours` "weights" shade from 0 to 1, "signed" on both sides of 0, "none" not at all. `row_sums` adds a column of
    sums; `marked` cells (row, column) are framed; `crossed` cells are forbidden by a mask.
    """

    kind: ClassVar[str] = "matrix"
    values: Tensor
    _: KW_ONLY
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    row_axis: str = ""
    column_axis: str = ""
    colours: Literal["signed", "weights", "none"] = "signed"
    row_sums: bool = False
    marked: tuple[tuple[int, int], ...] = ()
    crossed: Tensor | None = None
    digits: int = 2


@dataclass(frozen=True)
class HeatMapPicture(TitledPicture):
    """A matrix too large for printed numbers: coloured cells that show theirs on hover.

    `colours` "weights" shade from 0 to 1, "positive" from 0 on, "signed" on both sides of 0. A line is drawn after
    every `row_groups` rows and `column_groups` columns (0: none). With `is_small` it is placed beside others.
    """

    kind: ClassVar[str] = "heat_map"
    values: Tensor
    _: KW_ONLY
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    row_axis: str = ""
    column_axis: str = ""
    colours: Literal["signed", "weights", "positive"] = "signed"
    row_groups: int = 0
    column_groups: int = 0
    is_small: bool = False

    def __post_init__(self) -> None:
        # Hovering shows four digits; more would only make the answer larger.
        object.__setattr__(self, "values", self.values.double().round(decimals=4))


@dataclass(frozen=True, kw_only=True)
class MovingPointsPicture(Picture):
    """Named points that move: the place of each in every frame, and the name of each frame ("step 5").

    With `groups` a point has the colour of its group; `group_titles` names these.
    """

    kind: ClassVar[str] = "moving_points"
    labels: tuple[str, ...]
    frames: Tensor
    names: tuple[str, ...]
    groups: tuple[int, ...] = ()
    group_titles: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BarsPicture(Picture):
    """One labelled bar for each number; several `series` are drawn side by side. `high` fixes the longest bar."""

    kind: ClassVar[str] = "bars"
    labels: tuple[str, ...]
    series: Mapping[str, Numbers]
    high: float | None = None
    digits: int = 2


@dataclass(frozen=True)
class LinesPicture(TitledPicture):
    """One line for each of `series` over `x`; those in `broken` are dashed. `log_x`, `log_y`: logarithmic axes."""

    kind: ClassVar[str] = "lines"
    x: Numbers
    series: Mapping[str, Numbers]
    x_title: str
    y_title: str
    _: KW_ONLY
    broken: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Arrow:
    """A vector in the plane; `shade` is how strongly it is drawn, `group` its colour."""

    label: str
    x: float
    y: float
    group: int = 0
    shade: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ArrowsPicture(Picture):
    """Vectors in the plane, from the origin; `groups` name the colours."""

    kind: ClassVar[str] = "arrows"
    arrows: tuple[Arrow, ...]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PointsPicture(Picture):
    """Named points in the plane: (label, x, y, group)."""

    kind: ClassVar[str] = "points"
    points: tuple[tuple[str, float, float, int], ...]
    groups: tuple[str, ...] = ()
    x_title: str = ""
    y_title: str = ""


@dataclass(frozen=True)
class TokensPicture(TitledPicture):
    """Tokens as chips; `shades` from 0 to 1 colour them, `below` is written under each (an id, a count)."""

    kind: ClassVar[str] = "tokens"
    tokens: tuple[str, ...]
    _: KW_ONLY
    shades: Numbers = ()
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class TablePicture(Picture):
    """A table of texts and numbers; the first column names the rows.

    `addresses` are the web links of the last cell of each row, or empty.
    """

    kind: ClassVar[str] = "table"
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number, ...], ...]
    _: KW_ONLY
    digits: int = 4
    addresses: tuple[str, ...] = ()


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
class ClaimsPicture(Picture):
    """A list of claims, each with links to the screens that show what is right."""

    kind: ClassVar[str] = "claims"
    claims: tuple[Claim, ...]


@dataclass(frozen=True, kw_only=True)
class ModelDiagramPicture(Picture):
    """A model drawn as boxes and arrows, from its input down to its output, with the output shape of each box.

    If it is `enterable`, each part links to its numbers on Explore: it is the model of the screen's link.
    """

    kind: ClassVar[str] = "model_diagram"
    diagram: ModelDiagram
    enterable: bool = False


@dataclass(frozen=True)
class ImagePicture(TitledPicture):
    """An image under a grid of `rows` x `columns` patches; `source` is the image's URL (`png_url`).

    With `shades` it is drawn once for each of them, and a patch is as bright as its number; `marked` patches are
    framed.
    """

    kind: ClassVar[str] = "image"
    source: str
    rows: int
    columns: int
    _: KW_ONLY
    shades: Mapping[str, Numbers] = field(default_factory=dict)
    marked: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GraphPicture(Picture):
    """Named nodes, their coordinates in the plane, and the edges between them as pairs of node numbers.

    `shades` from 0 to 1 colour the nodes and are written in them; the `marked` node is framed.
    """

    kind: ClassVar[str] = "graph"
    nodes: tuple[str, ...]
    places: Tensor
    edges: tuple[tuple[int, int], ...]
    shades: Numbers = ()
    marked: int | None = None


@dataclass(frozen=True, kw_only=True)
class SoundPicture(Picture):
    """A sound that can be played; `source` is the address of a WAV file (`wav_url`)."""

    kind: ClassVar[str] = "sound"
    source: str


@dataclass(frozen=True, kw_only=True)
class FilePicture(Picture):
    """A text that can be downloaded as a file."""

    kind: ClassVar[str] = "file"
    file_name: str
    media_type: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Equations(Picture):
    """Formulas with the numbers inserted, in LaTeX, to check with a pencil."""

    kind: ClassVar[str] = "equations"
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Verdict(Picture):
    """A sentence that states the result; `good` is None if it makes no judgement."""

    kind: ClassVar[str] = "verdict"
    text: str
    good: bool | None = None


@dataclass(frozen=True)
class Row:
    """Pictures side by side, under a heading of their own. A `question` may be asked before they are shown.

    Consecutive `folded` rows are hidden together until their heading is opened.
    """

    pictures: tuple[Picture, ...] = field(default=())
    title: str = ""
    text: str = ""
    question: Question | None = None
    folded: bool = False


def as_rows(shown: Iterable[Row | Picture | str]) -> tuple[Row, ...]:
    """Rows unchanged, and each single picture or sentence in a row of its own."""
    return tuple(each if isinstance(each, Row) else row(each) for each in shown)


def fold(*shown: Row | Picture | str) -> tuple[Row, ...]:
    """Further rows that would make a screen longer than two windows; the first heading opens them."""
    return tuple(replace(each, folded=True) for each in as_rows(shown))


def row(*shown: Picture | str, title: str = "", text: str = "", question: Question | None = None) -> Row:
    """A row of pictures; a plain sentence becomes a Verdict without judgement."""
    return Row(tuple(Verdict(each) if isinstance(each, str) else each for each in shown), title, text, question)


def bars(
    title: str,
    labels: Sequence[str] | Mapping[str, Number],
    values: Numbers = (),
    *,
    name: str = "",
    high: float | None = None,
    digits: int = 2,
    note: str = "",
) -> BarsPicture:
    """One bar for each label, or for each entry of a mapping; `name` is the name of the numbers."""
    if isinstance(labels, Mapping):
        values = list(labels.values())
    return BarsPicture(title=title, labels=tuple(labels), series={name: values}, high=high, digits=digits, note=note)


def weights_matrix(
    title: str,
    values: Tensor,
    names: tuple[str, ...] = (),
    *,
    before: str = "",
    crossed: Tensor | None = None,
    row_axis: str = "",
    column_axis: str = "",
) -> MatrixPicture:
    """The self-attention weights of a text with their numbers, and the sum of each row."""
    return MatrixPicture(
        title=title, values=values, rows=names, columns=names, colours="weights", row_sums=True, before=before,
        crossed=crossed, row_axis=row_axis, column_axis=column_axis,
    )  # fmt: skip


def weights_map(
    title: str,
    values: Tensor,
    queries: tuple[str, ...] = (),
    keys: tuple[str, ...] | None = None,
    *,
    colours: Literal["weights", "positive"] = "weights",
    is_small: bool = False,
    note: str = "",
) -> HeatMapPicture:
    """Attention weights as coloured cells; `keys` are named as the queries unless others are given."""
    return HeatMapPicture(
        title=title, values=values, rows=queries, columns=queries if keys is None else keys, row_axis="query",
        column_axis="key", colours=colours, is_small=is_small, note=note,
    )  # fmt: skip


def shape_text(shape: Sequence[int]) -> str:
    """A shape for a table, on one line: 36 × 192."""
    return "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}".join(f"{side:,}" for side in shape)


def plain(value: Any) -> Any:
    """A value for JSON: tensors as lists, and infinite numbers and NaN as the words that JavaScript reads."""
    if isinstance(value, Tensor):
        return plain(value.detach().tolist())
    if isinstance(value, float):
        return value if isfinite(value) else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": value.kind} if isinstance(value, Picture) else {}
        return kind | {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple | list | range) else value
