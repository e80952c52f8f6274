"""A figure as PDF: the browser lays it out, and reportlab draws the same shapes."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from msgspec import Meta

from model.errors import HeadlightError, TextError
from model.registry import Registry
from model.validation import from_plain

POINTS_PER_MM = 72 / 25.4  # of a printer, in a millimetre
MAX_SIDE = 1_000  # millimetres
MAX_SHAPES = 100_000
MAX_CELLS = 1 << 22  # of one picture inside
CODES = 256  # that a cell may have
MAX_COORDINATE = 1e6  # millimetres; what lies beyond no paper shows
FONTS = {False: ("Vera", "Vera.ttf"), True: ("VeraBd", "VeraBd.ttf")}  # by whether the text is bold; they are embedded
MISSING_REPORTLAB = (
    "PDF needs one more package on the machine that serves this page: pip install 'attention-headlight[pdf]'. "
    "SVG and PNG need nothing, and most programs print an SVG as PDF."
)
Length = Annotated[float, Meta(ge=-MAX_COORDINATE, le=MAX_COORDINATE, description="a number of millimetres")]
Side = Annotated[float, Meta(gt=0, le=MAX_SIDE, description=f"a number of millimetres, above 0 and at most {MAX_SIDE}")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
Count = Annotated[int, Meta(ge=1, description="a whole number of at least 1")]
Colour = Annotated[str, Meta(pattern=r"\A#[0-9a-f]{6}\Z", description="a colour such as #e0951f")]
Metadata = Annotated[str, Meta(max_length=8 << 20, description="a text")]
Base64 = Annotated[bytes, Meta(description="base64")]


@dataclass(frozen=True)
class Figure:
    """Shapes in drawing order, in millimetres from the upper left corner; `palette` are the colours of byte codes.

    `subject` and `keywords` say where it is from: in words, and as JSON.
    """

    width: Side
    height: Side
    palette: Annotated[
        tuple[Colour, ...], Meta(min_length=CODES, max_length=CODES, description=f"the colours of {CODES} codes")
    ]
    shapes: Annotated[
        tuple[dict[str, Any], ...],
        Meta(max_length=MAX_SHAPES, description=f"at most {MAX_SHAPES:,} shapes; take fewer heads"),
    ]
    title: str = ""
    subject: Metadata = ""
    keywords: Metadata = ""


def writes_pdf() -> bool:
    """Whether the library is there."""
    return find_spec("reportlab") is not None


def render_pdf(figure: Figure) -> bytes:
    """The figure as PDF, its fonts within. Raises HeadlightError where the library is missing."""
    try:
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.ttfonts import TTFont
        from reportlab.pdfgen.canvas import Canvas
    except ImportError as error:
        raise HeadlightError(MISSING_REPORTLAB) from error
    for name, file in FONTS.values():
        pdfmetrics.registerFont(TTFont(name, file))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(figure.width * POINTS_PER_MM, figure.height * POINTS_PER_MM), pageCompression=1)
    canvas.setTitle(figure.title[:200])
    canvas.setSubject(figure.subject)
    canvas.setKeywords(figure.keywords)
    canvas.setCreator("Headlight")
    canvas.transform(POINTS_PER_MM, 0, 0, -POINTS_PER_MM, 0, figure.height * POINTS_PER_MM)  # millimetres, downwards
    for shape in figure.shapes:
        canvas.saveState()
        from_plain(SHAPES[str(shape.get("kind"))], shape, "shape", TextError).draw(canvas, figure.palette)
        canvas.restoreState()
    canvas.showPage()
    canvas.save()
    return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class Shape(ABC):
    """Something that a figure shows."""

    kind: str

    @abstractmethod
    def draw(self, canvas: Any, palette: Sequence[str]) -> None:
        """Draw it on a canvas of millimetres."""


@dataclass(frozen=True, kw_only=True)
class Box(Shape):
    """A shape that has a place and a size."""

    x: Length
    y: Length
    width: Length
    height: Length


@dataclass(frozen=True, kw_only=True)
class Stroked(Shape):
    """A shape that is drawn with a pen."""

    stroke: Colour = ""
    stroke_width: Length = 0.2
    opacity: Share = 1.0
    dashed: bool = False

    def set_stroke(self, canvas: Any) -> None:
        """Take the pen."""
        canvas.setStrokeColor(self.stroke, alpha=self.opacity)
        canvas.setLineWidth(max(self.stroke_width, 0.0))
        if self.dashed:
            canvas.setDash([1.0, 0.8])


@dataclass(frozen=True, kw_only=True)
class Rectangle(Box, Stroked):
    """A rectangle that is filled, framed or both."""

    fill: Colour = ""

    def draw(self, canvas: Any, palette: Sequence[str]) -> None:
        """Fill and frame it."""
        if self.fill:
            canvas.setFillColor(self.fill)
        if self.stroke:
            self.set_stroke(canvas)
        canvas.rect(self.x, self.y, self.width, self.height, stroke=int(bool(self.stroke)), fill=int(bool(self.fill)))


@dataclass(frozen=True, kw_only=True)
class Curve(Stroked):
    """A line of two points, or one of four that bends (Bézier)."""

    stroke: Colour
    points: tuple[Length, ...]

    def draw(self, canvas: Any, palette: Sequence[str]) -> None:
        """Draw the line."""
        if len(self.points) not in (4, 8):
            raise TextError("A curve has two or four points.")
        self.set_stroke(canvas)
        (canvas.line if len(self.points) == 4 else canvas.bezier)(*self.points)


@dataclass(frozen=True, kw_only=True)
class Text(Shape):
    """A line of text that is as long as it was in the browser, whose font may be narrower."""

    text: str
    x: Length
    y: Length
    size: Length
    text_width: Length
    fill: Colour
    anchor: Literal["start", "middle", "end"] = "start"
    rotation: Length = 0.0
    bold: bool = False

    def draw(self, canvas: Any, palette: Sequence[str]) -> None:
        """Write it."""
        text, font = self.text[:500], FONTS[self.bold][0]
        canvas.translate(self.x, self.y)
        canvas.rotate(self.rotation)
        natural_width = canvas.stringWidth(text, font, self.size)
        canvas.scale(1, -1)
        line = canvas.beginText({"start": 0.0, "middle": -self.text_width / 2, "end": -self.text_width}[self.anchor], 0)
        line.setFont(font, self.size)
        line.setHorizScale(100 * self.text_width / natural_width if natural_width and self.text_width > 0 else 100)
        line.setFillColor(self.fill)
        line.textOut(text)
        canvas.drawText(line)


@dataclass(frozen=True, kw_only=True)
class Heatmap(Box):
    """A map of byte codes: cells that can be told apart one by one, small ones as a picture."""

    rows: Count
    columns: Count
    codes: Base64
    gap: Length = 0.0
    palette: tuple[Colour, ...] = ()  # of its own, where it is not the figure's

    def draw(self, canvas: Any, palette: Sequence[str]) -> None:
        """Paint the cells."""
        if self.rows * self.columns != len(self.codes) or len(self.codes) > MAX_CELLS:
            raise TextError("A map has as many codes as cells.")
        if len(self.palette) not in (0, CODES):
            raise TextError(f"A map has a colour for each of {CODES} codes.")
        palette = self.palette or palette
        if self.gap > 0:
            self._draw_cells(canvas, palette)
        else:
            self._draw_bitmap(canvas, palette)

    def _draw_cells(self, canvas: Any, palette: Sequence[str]) -> None:
        cell_width, cell_height = self.width / self.columns, self.height / self.rows
        for index, code in enumerate(self.codes):
            if code:
                row, column = divmod(index, self.columns)
                x, y = self.x + column * cell_width + self.gap / 2, self.y + row * cell_height + self.gap / 2
                canvas.setFillColor(palette[code])
                canvas.rect(x, y, cell_width - self.gap, cell_height - self.gap, stroke=0, fill=1)

    def _draw_bitmap(self, canvas: Any, palette: Sequence[str]) -> None:
        from PIL import Image

        palette_bytes = [bytes.fromhex(colour[1:]) for colour in palette]
        pixels = b"".join(palette_bytes[code] for code in self.codes)
        bitmap = Image.frombytes("RGB", (self.columns, self.rows), pixels)
        _draw_bitmap(canvas, bitmap, self.x, self.y, self.width, self.height)


@dataclass(frozen=True, kw_only=True)
class LabelImage(Box):
    """A label in a script that the PDF's font lacks, as the browser has painted it."""

    left: Length
    top: Length
    png: Base64
    rotation: Length = 0.0

    def draw(self, canvas: Any, palette: Sequence[str]) -> None:
        """Paint the label."""
        from PIL import Image, UnidentifiedImageError

        try:
            bitmap = Image.open(io.BytesIO(self.png), formats=["PNG"])
            if bitmap.width * bitmap.height > MAX_CELLS:
                raise TextError("A label's picture is too large.")
            bitmap.load()
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
            raise TextError("A label's picture cannot be read.") from error
        canvas.translate(self.x, self.y)
        canvas.rotate(self.rotation)
        _draw_bitmap(canvas, bitmap.convert("RGBA"), self.left, self.top, self.width, self.height)


def _draw_bitmap(canvas: Any, bitmap: Any, x: float, y: float, width: float, height: float) -> None:
    from reportlab.lib.utils import ImageReader

    canvas.translate(x, y + height)
    canvas.scale(1, -1)
    canvas.drawImage(ImageReader(bitmap), 0, 0, width, height, mask="auto")


SHAPES: Registry[type[Shape]] = Registry(
    "shape",
    {"rectangle": Rectangle, "curve": Curve, "text": Text, "heatmap": Heatmap, "image": LabelImage},
)
