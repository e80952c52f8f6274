"""A figure as PDF: the browser lays it out, and reportlab draws the same shapes."""

from __future__ import annotations

import base64
import binascii
import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.errors import HeadlightError, TextError
from model.registry import Registry

POINTS_PER_MM = 72 / 25.4  # of a printer, in a millimetre
MAX_SIDE = 1_000.0  # millimetres
MAX_SHAPES = 100_000
MAX_CELLS = 1 << 22  # of one picture inside
MAX_COORDINATE = 1e6  # millimetres; what lies beyond no paper shows
FONTS = {False: ("Vera", "Vera.ttf"), True: ("VeraBd", "VeraBd.ttf")}  # by whether the text is bold; they are embedded
MISSING_REPORTLAB = (
    "PDF needs one more package on the machine that serves this page: pip install 'attention-headlight[pdf]'. "
    "SVG and PNG need nothing, and most programs print an SVG as PDF."
)
_COLOUR = re.compile(r"#[0-9a-f]{6}")
Shape = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """Shapes in drawing order, in millimetres from the upper left corner; `palette` are the colours of byte codes."""

    width: float
    height: float
    title: str
    palette: tuple[str, ...]
    shapes: tuple[Shape, ...]


def parse_figure(body: dict[str, Any]) -> Figure:
    """The figure in a request. Raises TextError for one that cannot be drawn."""
    shapes, palette = body.get("shapes"), body.get("palette")
    if not isinstance(shapes, list) or not all(isinstance(shape, dict) for shape in shapes):
        raise TextError("A figure is a list of shapes.")
    if len(shapes) > MAX_SHAPES:
        raise TextError(f"This figure has {len(shapes):,} shapes; at most {MAX_SHAPES:,} are drawn. Take fewer heads.")
    if not isinstance(palette, list) or len(palette) != 256:
        raise TextError("A figure names the colours of 256 codes.")
    width, height = _read_number(body, "width"), _read_number(body, "height")
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise TextError(f"A figure is at most {MAX_SIDE:.0f} mm wide and high.")
    colours = tuple(_read_colour({"ink": colour}, "ink") for colour in palette)
    return Figure(width, height, str(body.get("title", ""))[:200], colours, tuple(shapes))


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
    canvas.setTitle(figure.title)
    canvas.setCreator("Headlight")
    canvas.transform(POINTS_PER_MM, 0, 0, -POINTS_PER_MM, 0, figure.height * POINTS_PER_MM)  # millimetres, downwards
    for shape in figure.shapes:
        canvas.saveState()
        SHAPES[str(shape.get("kind"))](canvas, shape, figure)
        canvas.restoreState()
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _draw_rectangle(canvas: Any, shape: Shape, figure: Figure) -> None:
    filled, framed = "fill" in shape, "stroke" in shape
    if filled:
        canvas.setFillColor(_read_colour(shape, "fill"))
    if framed:
        _set_stroke(canvas, shape)
    canvas.rect(*_read_box(shape), stroke=int(framed), fill=int(filled))


def _draw_curve(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A line of two points, or one of four that bends (Bézier)."""
    points = shape.get("points")
    if not isinstance(points, list) or len(points) not in (4, 8):
        raise TextError("A curve has two or four points.")
    _set_stroke(canvas, shape)
    coordinates = [_read_number({"place": coordinate}, "place") for coordinate in points]
    (canvas.line if len(coordinates) == 4 else canvas.bezier)(*coordinates)


def _draw_text(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A line of text that is as long as it was in the browser, whose font may be narrower."""
    text, size = str(shape.get("text", ""))[:500], _read_number(shape, "size")
    font = FONTS[shape.get("bold") is True][0]
    canvas.translate(_read_number(shape, "x"), _read_number(shape, "y"))
    canvas.rotate(_read_number(shape, "rotation", 0.0))
    natural_width, target_width = canvas.stringWidth(text, font, size), _read_number(shape, "text_width")
    shift = {"start": 0.0, "middle": -target_width / 2, "end": -target_width}.get(str(shape.get("anchor")), 0.0)
    canvas.scale(1, -1)
    line = canvas.beginText(shift, 0)
    line.setFont(font, size)
    line.setHorizScale(100 * target_width / natural_width if natural_width and target_width > 0 else 100)
    line.setFillColor(_read_colour(shape, "fill"))
    line.textOut(text)
    canvas.drawText(line)


def _draw_heatmap(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A map of byte codes: cells that can be told apart one by one, small ones as a picture."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    x, y, width, height = _read_box(shape)
    rows, columns = int(_read_number(shape, "rows")), int(_read_number(shape, "columns"))
    codes = _read_bytes(shape, "codes")
    if rows < 1 or columns < 1 or rows * columns != len(codes) or len(codes) > MAX_CELLS:
        raise TextError("A map has as many codes as cells.")
    gap = _read_number(shape, "gap", 0.0)
    if gap > 0:
        cell_width, cell_height = width / columns, height / rows
        for index, code in enumerate(codes):
            if code:
                row, column = divmod(index, columns)
                canvas.setFillColor(figure.palette[code])
                box = (
                    x + column * cell_width + gap / 2,
                    y + row * cell_height + gap / 2,
                    cell_width - gap,
                    cell_height - gap,
                )
                canvas.rect(*box, stroke=0, fill=1)
        return
    palette_bytes = [bytes.fromhex(colour[1:]) for colour in figure.palette]
    bitmap = Image.frombytes("RGB", (columns, rows), b"".join(palette_bytes[code] for code in codes))
    _draw_bitmap(canvas, ImageReader(bitmap), (x, y, width, height))


def _draw_image(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A label in a script that the PDF's font lacks, as the browser has painted it."""
    from PIL import Image, UnidentifiedImageError
    from reportlab.lib.utils import ImageReader

    try:
        bitmap = Image.open(io.BytesIO(_read_bytes(shape, "png")), formats=["PNG"])
        if bitmap.width * bitmap.height > MAX_CELLS:
            raise TextError("A label's picture is too large.")
        bitmap.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise TextError("A label's picture cannot be read.") from error
    canvas.translate(_read_number(shape, "x"), _read_number(shape, "y"))
    canvas.rotate(_read_number(shape, "rotation", 0.0))
    width, height = _read_number(shape, "width"), _read_number(shape, "height")
    _draw_bitmap(
        canvas,
        ImageReader(bitmap.convert("RGBA")),
        (_read_number(shape, "left"), _read_number(shape, "top"), width, height),
    )


def _draw_bitmap(canvas: Any, bitmap: Any, box: tuple[float, float, float, float]) -> None:
    x, y, width, height = box
    canvas.translate(x, y + height)
    canvas.scale(1, -1)
    canvas.drawImage(bitmap, 0, 0, width, height, mask="auto")


def _set_stroke(canvas: Any, shape: Shape) -> None:
    canvas.setStrokeColor(_read_colour(shape, "stroke"), alpha=min(max(_read_number(shape, "opacity", 1.0), 0.0), 1.0))
    canvas.setLineWidth(max(_read_number(shape, "stroke_width", 0.2), 0.0))
    if shape.get("dashed") is True:
        canvas.setDash([1.0, 0.8])


def _read_box(shape: Shape) -> tuple[float, float, float, float]:
    return (
        _read_number(shape, "x"),
        _read_number(shape, "y"),
        _read_number(shape, "width"),
        _read_number(shape, "height"),
    )


def _read_number(shape: Shape, name: str, default: float | None = None) -> float:
    given: Any = shape.get(name, default)
    if type(given) not in (int, float) or not math.isfinite(given) or abs(given) > MAX_COORDINATE:
        raise TextError(f"A figure's {name} is a number of millimetres, not {str(given)[:40]}.")
    return float(given)


def _read_colour(shape: Shape, name: str) -> str:
    given = shape.get(name)
    if not isinstance(given, str) or not _COLOUR.fullmatch(given):
        raise TextError(f"A figure's {name} is a colour such as #e0951f, not {str(given)[:40]}.")
    return given


def _read_bytes(shape: Shape, name: str) -> bytes:
    try:
        return base64.b64decode(str(shape.get(name, "")), validate=True)
    except (binascii.Error, ValueError) as error:
        raise TextError(f"A figure's {name} is no base64.") from error


SHAPES: Registry[Callable[[Any, Shape, Figure], None]] = Registry(
    "shape",
    {
        "rectangle": _draw_rectangle,
        "curve": _draw_curve,
        "text": _draw_text,
        "heatmap": _draw_heatmap,
        "image": _draw_image,
    },
)
