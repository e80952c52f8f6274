"""A figure as PDF: the browser lays it out, and the same shapes are drawn here by a library that is kept up."""

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

POINTS = 72 / 25.4  # of a printer, in a millimetre
LARGEST_SIDE = 1_000.0  # millimetres
MOST_SHAPES = 100_000
MOST_CELLS = 1 << 22  # of one picture inside
FARTHEST = 1e6  # millimetres; what lies beyond no paper shows
FONTS = {False: ("Vera", "Vera.ttf"), True: ("VeraBd", "VeraBd.ttf")}  # by whether the text is bold; they are embedded
MISSING = (
    "PDF needs one more package on the machine that serves this page: pip install 'attention-headlight[pdf]'. "
    "SVG and PNG need nothing, and most programs print an SVG as PDF."
)
_COLOUR = re.compile(r"#[0-9a-f]{6}")
Shape = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """Shapes one after the other, in millimetres from the upper left corner; `inks` are the colours of byte codes."""

    width: float
    height: float
    title: str
    inks: tuple[str, ...]
    shapes: tuple[Shape, ...]


def figure_of(body: dict[str, Any]) -> Figure:
    """The figure in a request. Raises TextError for one that cannot be drawn."""
    shapes, inks = body.get("shapes"), body.get("inks")
    if not isinstance(shapes, list) or not all(isinstance(shape, dict) for shape in shapes):
        raise TextError("A figure is a list of shapes.")
    if len(shapes) > MOST_SHAPES:
        raise TextError(f"This figure has {len(shapes):,} shapes; at most {MOST_SHAPES:,} are drawn. Take fewer heads.")
    if not isinstance(inks, list) or len(inks) != 256:
        raise TextError("A figure names the colours of 256 codes.")
    width, height = _number(body, "width"), _number(body, "height")
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE):
        raise TextError(f"A figure is at most {LARGEST_SIDE:.0f} mm wide and high.")
    colours = tuple(_colour({"ink": ink}, "ink") for ink in inks)
    return Figure(width, height, str(body.get("title", ""))[:200], colours, tuple(shapes))


def drawn(figure: Figure) -> bytes:
    """The figure as PDF, its fonts within. Raises HeadlightError where the library is missing."""
    try:
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.ttfonts import TTFont
        from reportlab.pdfgen.canvas import Canvas
    except ImportError as error:
        raise HeadlightError(MISSING) from error
    for name, file in FONTS.values():
        pdfmetrics.registerFont(TTFont(name, file))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(figure.width * POINTS, figure.height * POINTS), pageCompression=1)
    canvas.setTitle(figure.title)
    canvas.setCreator("Headlight")
    canvas.transform(POINTS, 0, 0, -POINTS, 0, figure.height * POINTS)  # millimetres, downwards
    for shape in figure.shapes:
        canvas.saveState()
        SHAPES[str(shape.get("kind"))](canvas, shape, figure)
        canvas.restoreState()
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _rectangle(canvas: Any, shape: Shape, figure: Figure) -> None:
    filled, framed = "fill" in shape, "stroke" in shape
    if filled:
        canvas.setFillColor(_colour(shape, "fill"))
    if framed:
        _pen(canvas, shape)
    canvas.rect(*_box(shape), stroke=int(framed), fill=int(filled))


def _curve(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A line of two points, or one of four that bends (Bézier)."""
    points = shape.get("points")
    if not isinstance(points, list) or len(points) not in (4, 8):
        raise TextError("A curve has two or four points.")
    _pen(canvas, shape)
    places = [_number({"place": place}, "place") for place in points]
    (canvas.line if len(places) == 4 else canvas.bezier)(*places)


def _text(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A line of text that is as long as it was in the browser, whose font may be narrower."""
    text, size = str(shape.get("text", ""))[:500], _number(shape, "size")
    font = FONTS[shape.get("bold") is True][0]
    canvas.translate(_number(shape, "x"), _number(shape, "y"))
    canvas.rotate(_number(shape, "turn", 0.0))
    long, wanted = canvas.stringWidth(text, font, size), _number(shape, "length")
    shift = {"start": 0.0, "middle": -wanted / 2, "end": -wanted}.get(str(shape.get("anchor")), 0.0)
    canvas.scale(1, -1)
    line = canvas.beginText(shift, 0)
    line.setFont(font, size)
    line.setHorizScale(100 * wanted / long if long and wanted > 0 else 100)
    line.setFillColor(_colour(shape, "fill"))
    line.textOut(text)
    canvas.drawText(line)


def _cells(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A map of byte codes: cells that can be told apart one by one, small ones as a picture."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    x, y, width, height = _box(shape)
    rows, columns = int(_number(shape, "rows")), int(_number(shape, "columns"))
    codes = _bytes(shape, "codes")
    if rows < 1 or columns < 1 or rows * columns != len(codes) or len(codes) > MOST_CELLS:
        raise TextError("A map has as many codes as cells.")
    gap = _number(shape, "gap", 0.0)
    if gap > 0:
        across, down = width / columns, height / rows
        for place, code in enumerate(codes):
            if code:
                row, column = divmod(place, columns)
                canvas.setFillColor(figure.inks[code])
                box = (x + column * across + gap / 2, y + row * down + gap / 2, across - gap, down - gap)
                canvas.rect(*box, stroke=0, fill=1)
        return
    inks = [bytes.fromhex(ink[1:]) for ink in figure.inks]
    picture = Image.frombytes("RGB", (columns, rows), b"".join(inks[code] for code in codes))
    _place(canvas, ImageReader(picture), (x, y, width, height))


def _stamp(canvas: Any, shape: Shape, figure: Figure) -> None:
    """A label in a script that the PDF's font lacks, as the browser has painted it."""
    from PIL import Image, UnidentifiedImageError
    from reportlab.lib.utils import ImageReader

    try:
        picture = Image.open(io.BytesIO(_bytes(shape, "png")), formats=["PNG"])
        if picture.width * picture.height > MOST_CELLS:
            raise TextError("A label's picture is too large.")
        picture.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise TextError("A label's picture cannot be read.") from error
    canvas.translate(_number(shape, "x"), _number(shape, "y"))
    canvas.rotate(_number(shape, "turn", 0.0))
    width, height = _number(shape, "width"), _number(shape, "height")
    _place(canvas, ImageReader(picture.convert("RGBA")), (_number(shape, "left"), _number(shape, "top"), width, height))


def _place(canvas: Any, picture: Any, box: tuple[float, float, float, float]) -> None:
    x, y, width, height = box
    canvas.translate(x, y + height)
    canvas.scale(1, -1)
    canvas.drawImage(picture, 0, 0, width, height, mask="auto")


def _pen(canvas: Any, shape: Shape) -> None:
    canvas.setStrokeColor(_colour(shape, "stroke"), alpha=min(max(_number(shape, "opacity", 1.0), 0.0), 1.0))
    canvas.setLineWidth(max(_number(shape, "thickness", 0.2), 0.0))
    if shape.get("broken") is True:
        canvas.setDash([1.0, 0.8])


def _box(shape: Shape) -> tuple[float, float, float, float]:
    return _number(shape, "x"), _number(shape, "y"), _number(shape, "width"), _number(shape, "height")


def _number(shape: Shape, name: str, default: float | None = None) -> float:
    given: Any = shape.get(name, default)
    if type(given) not in (int, float) or not math.isfinite(given) or abs(given) > FARTHEST:
        raise TextError(f"A figure's {name} is a number of millimetres, not {str(given)[:40]}.")
    return float(given)


def _colour(shape: Shape, name: str) -> str:
    given = shape.get(name)
    if not isinstance(given, str) or not _COLOUR.fullmatch(given):
        raise TextError(f"A figure's {name} is a colour such as #e0951f, not {str(given)[:40]}.")
    return given


def _bytes(shape: Shape, name: str) -> bytes:
    try:
        return base64.b64decode(str(shape.get(name, "")), validate=True)
    except (binascii.Error, ValueError) as error:
        raise TextError(f"A figure's {name} is no base64.") from error


SHAPES: Registry[Callable[[Any, Shape, Figure], None]] = Registry(
    "shape", {"rectangle": _rectangle, "curve": _curve, "text": _text, "cells": _cells, "stamp": _stamp}
)
