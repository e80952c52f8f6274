"""Requests for exports of every page: provenance, numbers as a file, a program, a figure as PDF."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from msgspec import Meta, Struct

from headlight_app.contract.difference import Difference
from headlight_app.contract.parts import EditOperationRow, Fields, HookPointRow
from headlight_app.contract.question import Index, Position, Question
from headlight_app.contract.reply import FileAnswer
from headlight_app.contract.request import Answer, Lane, PageRequest, Request
from headlight_app.contract.sampling import GeneratedTokens, Sampling
from headlight_app.contract.state import MAX_HEADS, Label, State

A_co = TypeVar("A_co", bound=Answer, covariant=True)

MAX_SIDES = 8
LONG_WORK = 3  # sides; requests with as many or more open too many models for the short lane
MAX_LINE_LENGTH = 20_000
MAX_PLACES = 1 << 20  # labels of one axis
MAX_FILE_BYTES = 2 << 20  # per request
MAX_TABLE_NUMBERS = 380_000  # float32 in base64, with their labels in one request
MAX_SIDE_LENGTH = 1_000  # millimetres of a figure
MAX_SHAPES = 100_000
MAX_COORDINATES = 1 << 17  # in one line
CODES = 256  # values of a byte code
MAX_COORDINATE = 1e6  # millimetres, beyond any paper

Line = Annotated[str, Meta(max_length=MAX_LINE_LENGTH)]
Heads = Annotated[
    tuple[tuple[Position, Position], ...], Meta(max_length=MAX_HEADS, description="pairs of layer and head")
]


class Side(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run that a page shows: its question, and the shown heads of an attention group."""

    question: Question
    attention_group: Annotated[str, Meta(max_length=200)] = ""
    heads: Heads = ()


class SidesRequest(Request[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about one or several runs that a page shows; `shown` describes the content in words."""

    sides: Annotated[
        tuple[Side, ...],
        Meta(min_length=1, max_length=MAX_SIDES, description=f"the runs that a page shows, at most {MAX_SIDES}"),
    ]
    shown: Line = ""

    def questions(self) -> tuple[Question, ...]:
        """The question of each side."""
        return tuple(side.question for side in self.sides)

    def wanted_lane(self) -> Lane:
        """The long lane for LONG_WORK or more sides, since opening so many models is long work."""
        return Lane.LONG if len(self.sides) >= LONG_WORK else super().wanted_lane()


class ExportOriginAnswer(Answer, frozen=True, kw_only=True):
    """The provenance of a figure: fields for its file, words for each side, and the rows that put edits into words."""

    provenance: Fields
    sides: tuple[tuple[str, ...], ...]
    operations: tuple[EditOperationRow, ...]
    hook_points: dict[str, HookPointRow]


class ExportOriginRequest(SidesRequest[ExportOriginAnswer], frozen=True, kw_only=True):
    """Requests the provenance of a figure."""

    route: ClassVar[str] = "export_origin"


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Numbers as a page shows them: `values` are float32 in the order of `axes`; `labels` name the places on each."""

    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9 _-]{1,80}\Z", description="letters and digits")]
    axes: Annotated[tuple[Line, ...], Meta(min_length=1, max_length=4)]
    labels: Annotated[tuple[Annotated[tuple[Line, ...], Meta(max_length=MAX_PLACES)], ...], Meta(max_length=4)]
    values: Annotated[bytes, Meta(max_length=4 * MAX_TABLE_NUMBERS, description="base64")]


class ExportTableRequest(SidesRequest[FileAnswer], frozen=True, kw_only=True):
    """Exports, as a file with their provenance, numbers that a page shows."""

    route: ClassVar[str] = "export_table"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    table: Table
    format: Annotated[str, Meta(max_length=20, description="the name of a file format")]


class ProgramAnswer(Answer, frozen=True, kw_only=True):
    """A program that computes the same, in Python and, if a `headlight` command exists, for a shell."""

    python: str
    shell: str = ""


class ExportProgramRequest(SidesRequest[ProgramAnswer], frozen=True, kw_only=True):
    """Exports, as a Python program, what a page shows: the weights of each side's heads.

    With `sampling`, the program computes the step after `generated`; with `length`, a stack's positional encoding.
    """

    route: ClassVar[str] = "export_program"

    sampling: Sampling | None = None
    generated: GeneratedTokens = ()
    length: Index = 0
    stack: Label = ""
    layer: Index | None = None


class LinkAnswer(Answer, frozen=True, kw_only=True):
    """The query of a link, the names of the omitted parameters, and the whole state for a file."""

    query: str
    omitted: tuple[str, ...]
    state: State


class LinkRequest(PageRequest[LinkAnswer], frozen=True, kw_only=True):
    """Requests the link of a state; the other fields, if set, replace the corresponding fields of the state."""

    route: ClassVar[str] = "link"

    state: State
    side_b: Difference | None = None
    sampling: Sampling | None = None
    generated: GeneratedTokens = ()


# --- figures ---------------------------------------------------------------------------------------------------------

Length = Annotated[float, Meta(ge=-MAX_COORDINATE, le=MAX_COORDINATE, description="a number of millimetres")]
SideLength = Annotated[
    float,
    Meta(gt=0, le=MAX_SIDE_LENGTH, description=f"a number of millimetres, above 0 and at most {MAX_SIDE_LENGTH}"),
]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
Count = Annotated[int, Meta(ge=1, le=MAX_FILE_BYTES, description="a whole number of at least 1")]
Colour = Annotated[str, Meta(pattern=r"\A#[0-9a-f]{6}\Z", description="a colour such as #e0951f")]
ColourOrNone = Annotated[str, Meta(pattern=r"\A(#[0-9a-f]{6})?\Z", description="a colour such as #e0951f, or nothing")]
Palette = Annotated[
    tuple[Colour, ...], Meta(min_length=CODES, max_length=CODES, description=f"the colours of {CODES} codes")
]
Base64 = Annotated[bytes, Meta(max_length=MAX_FILE_BYTES, description="base64")]
Metadata = Annotated[str, Meta(max_length=MAX_FILE_BYTES, description="a text")]


class Shape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """An element of a figure."""


class Box(Shape, frozen=True, kw_only=True):
    """A shape with a position and a size."""

    x: Length
    y: Length
    width: Length
    height: Length


class Rectangle(Box, frozen=True, kw_only=True, tag="rectangle"):
    """A rectangle, filled, stroked or both."""

    fill: ColourOrNone = ""
    stroke: ColourOrNone = ""
    stroke_width: Length = 0.2


class Circle(Shape, frozen=True, kw_only=True, tag="circle"):
    """A circle around a point, filled, stroked or both."""

    x: Length
    y: Length
    radius: Length
    fill: ColourOrNone = ""
    stroke: ColourOrNone = ""
    stroke_width: Length = 0.2


class Curve(Shape, frozen=True, kw_only=True, tag="curve"):
    """A straight line through two points, or a cubic Bézier curve with four."""

    points: Annotated[tuple[Length, ...], Meta(max_length=8)]
    stroke: Colour
    stroke_width: Length = 0.2
    opacity: Share = 1.0
    dashed: bool = False


class Polyline(Shape, frozen=True, kw_only=True, tag="polyline"):
    """Straight segments between points."""

    points: Annotated[
        tuple[Length, ...], Meta(min_length=4, max_length=MAX_COORDINATES, description="two points or more")
    ]
    stroke: Colour
    stroke_width: Length = 0.2
    opacity: Share = 1.0
    dashed: bool = False


class TextLine(Shape, frozen=True, kw_only=True, tag="text"):
    """A line of text, stretched to its width in the browser, whose font may differ."""

    text: Line
    x: Length
    y: Length
    size: Length
    text_width: Length
    fill: Colour
    anchor: Literal["start", "middle", "end"] = "start"
    rotation: Length = 0.0
    bold: bool = False


class Heatmap(Box, frozen=True, kw_only=True, tag="heatmap"):
    """A map of byte codes; `palette` replaces the figure's palette."""

    rows: Count
    columns: Count
    codes: Base64
    gap: Length = 0.0
    palette: Palette | None = None


class Stamp(Box, frozen=True, kw_only=True, tag="image"):
    """An image rendered by the browser, such as text in a script that the PDF's font lacks."""

    left: Length
    top: Length
    png: Base64
    rotation: Length = 0.0


AnyShape = Rectangle | Circle | Curve | Polyline | TextLine | Heatmap | Stamp


class Figure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Shapes in drawing order, in millimetres from the upper left corner; `palette` are the colours of byte codes.

    `subject` and `keywords` contain the provenance, in words and as JSON.
    """

    width: SideLength
    height: SideLength
    palette: Palette
    shapes: Annotated[
        tuple[AnyShape, ...],
        Meta(max_length=MAX_SHAPES, description=f"at most {MAX_SHAPES:,} shapes; take fewer heads"),
    ]
    title: Line = ""
    subject: Metadata = ""
    keywords: Metadata = ""


class ExportPdfRequest(PageRequest[FileAnswer], frozen=True, kw_only=True):
    """Exports, as PDF, a figure that the browser has laid out."""

    route: ClassVar[str] = "export_pdf"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    figure: Figure
