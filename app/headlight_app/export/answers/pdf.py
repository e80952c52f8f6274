"""A figure as PDF: the browser lays it out, and reportlab draws the same shapes."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from headlight.errors import TextError
from headlight_app.export.contract import AnyShape, Circle, Curve, Figure, Heatmap, Polyline, Rectangle, Stamp, TextLine

POINTS_PER_MM = 72 / 25.4  # PostScript points
MAX_CELLS = 1 << 22  # per heatmap or image
FONTS = {False: ("Vera", "Vera.ttf"), True: ("VeraBd", "VeraBd.ttf")}  # by bold; embedded
POWER, LOWERED = re.compile("10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)"), str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "−0123456789")  # Vera lacks them
DASHES = [1.0, 0.8]  # millimetres of dash and gap


def render_pdf(figure: Figure) -> bytes:
    """The figure as PDF with embedded fonts."""
    from reportlab.pdfbase import pdfmetrics  # slow to import
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    for name, file in FONTS.values():
        pdfmetrics.registerFont(TTFont(name, file))
    out = io.BytesIO()
    size = (figure.width * POINTS_PER_MM, figure.height * POINTS_PER_MM)
    # reportlab's default Helvetica is never embedded, and journals reject such files.
    canvas = Canvas(out, pagesize=size, pageCompression=1, initialFontName=FONTS[False][0])
    canvas.setTitle((figure.title or figure.subject)[:200])
    canvas.setAuthor("")  # otherwise reportlab writes "anonymous"
    canvas.setSubject(figure.subject)
    canvas.setKeywords(figure.keywords)
    canvas.setCreator("Headlight")
    canvas.transform(POINTS_PER_MM, 0, 0, -POINTS_PER_MM, 0, figure.height * POINTS_PER_MM)  # millimetres, downwards
    for shape in figure.shapes:
        canvas.saveState()
        _draw(canvas, shape, figure.palette)
        canvas.restoreState()
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _draw(canvas: Any, shape: AnyShape, palette: Sequence[str]) -> None:
    """Draw a shape on a canvas in millimetres."""
    match shape:
        case Rectangle():
            canvas.rect(shape.x, shape.y, shape.width, shape.height, **_set_fill(canvas, shape))
        case Circle():
            canvas.circle(shape.x, shape.y, shape.radius, **_set_fill(canvas, shape))
        case Curve():
            _draw_curve(canvas, shape)
        case Polyline():
            _draw_polyline(canvas, shape)
        case TextLine():
            _draw_text(canvas, shape)
        case Heatmap():
            _draw_heatmap(canvas, shape, shape.palette or palette)
        case Stamp():
            _draw_stamp(canvas, shape)


def _set_fill(canvas: Any, shape: Rectangle | Circle) -> dict[str, int]:
    """Set the colours of a shape. Returns the arguments that say whether it is stroked and filled."""
    if shape.fill:
        canvas.setFillColor(shape.fill)
    if shape.stroke:
        canvas.setStrokeColor(shape.stroke)
        canvas.setLineWidth(max(shape.stroke_width, 0.0))
    return {"stroke": int(bool(shape.stroke)), "fill": int(bool(shape.fill))}


def _draw_curve(canvas: Any, shape: Curve) -> None:
    if len(shape.points) not in (4, 8):
        raise TextError("A curve has two or four points.")
    _set_stroke(canvas, shape)
    (canvas.line if len(shape.points) == 4 else canvas.bezier)(*shape.points)


def _draw_polyline(canvas: Any, shape: Polyline) -> None:
    if len(shape.points) % 2:
        raise TextError("Each point of a line has two numbers.")
    _set_stroke(canvas, shape)
    line = canvas.beginPath()
    line.moveTo(*shape.points[:2])
    for x, y in zip(shape.points[2::2], shape.points[3::2], strict=True):
        line.lineTo(x, y)
    canvas.drawPath(line)


def _set_stroke(canvas: Any, shape: Curve | Polyline) -> None:
    canvas.setStrokeColor(shape.stroke, alpha=shape.opacity)
    canvas.setLineWidth(max(shape.stroke_width, 0.0))
    canvas.setLineJoin(1)  # round: the tip of an arrow is no spike
    if shape.dashed:
        canvas.setDash(DASHES)


def _draw_text(canvas: Any, shape: TextLine) -> None:
    text = POWER.sub(lambda found: f"10^{found[1].translate(LOWERED)}", shape.text[:500])
    font, width = FONTS[shape.bold][0], shape.text_width
    canvas.translate(shape.x, shape.y)
    canvas.rotate(shape.rotation)
    natural_width = canvas.stringWidth(text, font, shape.size)
    canvas.scale(1, -1)
    line = canvas.beginText({"start": 0.0, "middle": -width / 2, "end": -width}[shape.anchor], 0)
    line.setFont(font, shape.size)
    line.setHorizScale(100 * width / natural_width if natural_width and width > 0 else 100)
    line.setFillColor(shape.fill)
    line.textOut(text)
    canvas.drawText(line)


def _draw_heatmap(canvas: Any, shape: Heatmap, palette: Sequence[str]) -> None:
    """Draw a heatmap: as separate cells if they have gaps, otherwise as a bitmap."""
    if shape.rows * shape.columns != len(shape.codes) or len(shape.codes) > MAX_CELLS:
        raise TextError("A map needs one code per cell.")
    if shape.gap > 0:
        _draw_cells(canvas, shape, palette)
    else:
        _draw_bitmap_of_cells(canvas, shape, palette)


def _draw_cells(canvas: Any, shape: Heatmap, palette: Sequence[str]) -> None:
    cell_width, cell_height = shape.width / shape.columns, shape.height / shape.rows
    for index, code in enumerate(shape.codes):
        if code:
            row, column = divmod(index, shape.columns)
            x, y = shape.x + column * cell_width + shape.gap / 2, shape.y + row * cell_height + shape.gap / 2
            canvas.setFillColor(palette[code])
            canvas.rect(x, y, cell_width - shape.gap, cell_height - shape.gap, stroke=0, fill=1)


def _draw_bitmap_of_cells(canvas: Any, shape: Heatmap, palette: Sequence[str]) -> None:
    from PIL import Image

    palette_bytes = [bytes.fromhex(colour[1:]) for colour in palette]
    pixels = b"".join(palette_bytes[code] for code in shape.codes)
    bitmap = Image.frombytes("RGB", (shape.columns, shape.rows), pixels)
    _draw_bitmap(canvas, bitmap, shape.x, shape.y, shape.width, shape.height)


def _draw_stamp(canvas: Any, shape: Stamp) -> None:
    from PIL import Image, UnidentifiedImageError

    try:
        bitmap = Image.open(io.BytesIO(shape.png), formats=["PNG"])
        if bitmap.width * bitmap.height > MAX_CELLS:
            raise TextError("A label's picture is too large.")
        bitmap.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise TextError("A label's picture cannot be read.") from error
    canvas.translate(shape.x, shape.y)
    canvas.rotate(shape.rotation)
    _draw_bitmap(canvas, bitmap.convert("RGBA"), shape.left, shape.top, shape.width, shape.height)


def _draw_bitmap(canvas: Any, bitmap: Any, x: float, y: float, width: float, height: float) -> None:
    from reportlab.lib.utils import ImageReader

    canvas.translate(x, y + height)
    canvas.scale(1, -1)
    canvas.drawImage(ImageReader(bitmap), 0, 0, width, height, mask="auto")
