"""Exports of every page: the origin of what it shows, its numbers as a file, its figure as PDF."""

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
LONG_WORK = 3  # sides: more models than the workers for letters are to open at once
MAX_LINE_LENGTH = 20_000
MAX_PLACES = 1 << 20  # that the labels of one axis name
MAX_FILE_BYTES = 2 << 20  # that a request holds
MAX_SIDE_LENGTH = 1_000  # millimetres of a figure
MAX_SHAPES = 100_000
MAX_COORDINATES = 1 << 17  # of the points of one line
CODES = 256  # that a cell may have
MAX_COORDINATE = 1e6  # millimetres; what lies beyond no paper shows

Line = Annotated[str, Meta(max_length=MAX_LINE_LENGTH)]
Heads = Annotated[
    tuple[tuple[Position, Position], ...], Meta(max_length=MAX_HEADS, description="pairs of layer and head")
]


class Side(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run that a page shows: its question, and which heads of which attention."""

    question: Question
    attention_group: Annotated[str, Meta(max_length=200)] = ""
    heads: Heads = ()


class SidesRequest(Request[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about what a page shows of one run or several; `shown` says in words what that is."""

    sides: Annotated[
        tuple[Side, ...],
        Meta(min_length=1, max_length=MAX_SIDES, description=f"the runs that a page shows, at most {MAX_SIDES}"),
    ]
    shown: Line = ""

    def questions(self) -> tuple[Question, ...]:
        """The question of each side."""
        return tuple(side.question for side in self.sides)

    def wanted_lane(self) -> Lane:
        """Opening several models is long work."""
        return Lane.LONG if len(self.sides) >= LONG_WORK else super().wanted_lane()


class ExportOriginAnswer(Answer, frozen=True, kw_only=True):
    """The provenance of a figure: fields for its file, words for each side, and the rows that say edits in words."""

    provenance: Fields
    sides: tuple[tuple[str, ...], ...]
    operations: tuple[EditOperationRow, ...]
    hook_points: dict[str, HookPointRow]


class ExportOriginRequest(SidesRequest[ExportOriginAnswer], frozen=True, kw_only=True):
    """Where a figure is from."""

    route: ClassVar[str] = "export_origin"


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Numbers as a page shows them: `values` are float32 in the order of `axes`, and `labels` name each place."""

    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9 _-]{1,80}\Z", description="letters and digits")]
    axes: Annotated[tuple[Line, ...], Meta(min_length=1, max_length=4)]
    labels: Annotated[tuple[Annotated[tuple[Line, ...], Meta(max_length=MAX_PLACES)], ...], Meta(max_length=4)]
    values: Annotated[bytes, Meta(max_length=MAX_FILE_BYTES, description="base64")]


class ExportTableRequest(SidesRequest[FileAnswer], frozen=True, kw_only=True):
    """Numbers that a page shows, as a file of a format that says where they are from."""

    route: ClassVar[str] = "export_table"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    table: Table
    format: Annotated[str, Meta(max_length=20, description="the name of a file format")]


class ProgramAnswer(Answer, frozen=True, kw_only=True):
    """A program that computes the same, in Python and, where `headlight` has a command for it, for a shell."""

    python: str
    shell: str = ""


class ExportProgramRequest(SidesRequest[ProgramAnswer], frozen=True, kw_only=True):
    """What a page shows as Python: the weights of each side's heads.

    With `sampling` it is the step after those in `generated`, and with a `length` the positional encoding of a stack.
    """

    route: ClassVar[str] = "export_program"

    sampling: Sampling | None = None
    generated: GeneratedTokens = ()
    length: Index = 0
    stack: Label = ""
    layer: Index | None = None


class LinkAnswer(Answer, frozen=True, kw_only=True):
    """The parameters of an address, the names of what cannot stand in one, and the whole state for a file."""

    query: str
    omitted: tuple[str, ...]
    state: State


class LinkRequest(PageRequest[LinkAnswer], frozen=True, kw_only=True):
    """The address of a state; what a page knows better than the state says takes its place there."""

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
    """Something that a figure shows."""


class Box(Shape, frozen=True, kw_only=True):
    """A shape that has a place and a size."""

    x: Length
    y: Length
    width: Length
    height: Length


class Rectangle(Box, frozen=True, kw_only=True, tag="rectangle"):
    """A rectangle that is filled, framed or both."""

    fill: ColourOrNone = ""
    stroke: ColourOrNone = ""
    stroke_width: Length = 0.2


class Circle(Shape, frozen=True, kw_only=True, tag="circle"):
    """A circle around a point that is filled, framed or both."""

    x: Length
    y: Length
    radius: Length
    fill: ColourOrNone = ""
    stroke: ColourOrNone = ""
    stroke_width: Length = 0.2


class Curve(Shape, frozen=True, kw_only=True, tag="curve"):
    """A line of two points, or one of four that bends (Bézier)."""

    points: Annotated[tuple[Length, ...], Meta(max_length=8)]
    stroke: Colour
    stroke_width: Length = 0.2
    opacity: Share = 1.0
    dashed: bool = False


class Polyline(Shape, frozen=True, kw_only=True, tag="polyline"):
    """A line through points, without bends."""

    points: Annotated[
        tuple[Length, ...], Meta(min_length=4, max_length=MAX_COORDINATES, description="two points or more")
    ]
    stroke: Colour
    stroke_width: Length = 0.2
    opacity: Share = 1.0
    dashed: bool = False


class TextLine(Shape, frozen=True, kw_only=True, tag="text"):
    """A line of text that is as long as it was in the browser, whose font may be narrower."""

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
    """A map of byte codes, with a palette of its own where that is not the figure's."""

    rows: Count
    columns: Count
    codes: Base64
    gap: Length = 0.0
    palette: Palette | None = None


class Stamp(Box, frozen=True, kw_only=True, tag="image"):
    """An image, such as one of a text in a script that the PDF's font lacks, as the browser has painted it."""

    left: Length
    top: Length
    png: Base64
    rotation: Length = 0.0


AnyShape = Rectangle | Circle | Curve | Polyline | TextLine | Heatmap | Stamp


class Figure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Shapes in drawing order, in millimetres from the upper left corner; `palette` are the colours of byte codes.

    `subject` and `keywords` say where it is from: in words, and as JSON.
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
    """A figure that the browser has laid out, as PDF."""

    route: ClassVar[str] = "export_pdf"
    lane: ClassVar[Lane] = Lane.LONG
    seconds: ClassVar[float] = 60.0

    figure: Figure
