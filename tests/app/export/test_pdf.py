"""Figures as PDF, read back."""

import base64
import io
import json
from typing import Any

import msgspec
import pytest
from PIL import Image
from pypdf import PdfReader

from headlight.errors import HeadlightError
from headlight_app.engine.requests import decode_request
from headlight_app.export.answers.files import answer_export_pdf
from headlight_app.export.contract import ExportPdfRequest

INKS = ["#ffffff", *(f"#{code:02x}{code:02x}40" for code in range(1, 256))]


def text(**choices: Any) -> dict[str, Any]:
    plain = {
        "kind": "text",
        "x": 5,
        "y": 8,
        "size": 3,
        "text_width": 30,
        "anchor": "start",
        "fill": "#000000",
        "text": "é",
    }
    return plain | choices


def cells(rows: int, columns: int, **choices: Any) -> dict[str, Any]:
    codes = base64.b64encode(bytes(place % 256 for place in range(rows * columns))).decode()
    box = {"x": 10, "y": 10, "width": 40, "height": 40}
    return {"kind": "heatmap", **box, "rows": rows, "columns": columns, "codes": codes, "gap": 0.2} | choices


def stamp(picture: Image.Image, **choices: Any) -> dict[str, Any]:
    out = io.BytesIO()
    picture.save(out, "PNG")
    plain = {"kind": "image", "x": 20, "y": 20, "left": 0, "top": -2, "width": 10, "height": 3}
    return plain | {"png": base64.b64encode(out.getvalue()).decode()} | choices


def figure(*shapes: dict[str, Any], **choices: Any) -> dict[str, Any]:
    return {"width": 85, "height": 60, "title": "Layer 2", "palette": INKS, "shapes": list(shapes)} | choices


def render(body: dict[str, Any]) -> bytes:
    request = decode_request(msgspec.json.Decoder(ExportPdfRequest), json.dumps({"figure": body}).encode())
    assert isinstance(request, ExportPdfRequest)
    return answer_export_pdf(request).numbers


RECTANGLE = {"kind": "rectangle", "x": 1, "y": 1, "width": 83, "height": 58}
ALL = (
    text(text="Layer 2 · Head 3 – “weights”"),
    text(text="1.78·10⁻⁴"),
    text(rotation=-90, anchor="end", bold=True),
    cells(6, 7),
    cells(100, 90, gap=0),
    RECTANGLE | {"stroke": "#888888"},
    {"kind": "circle", "x": 9, "y": 9, "radius": 3, "fill": "#888888", "stroke": "#222222"},
    {"kind": "rectangle", "x": 1, "y": 1, "width": 3, "height": 5, "fill": "#888888"},
    {"kind": "curve", "points": [1, 2, 3, 4], "stroke": "#e0951f", "stroke_width": 0.4, "opacity": 0.5, "dashed": True},
    {"kind": "curve", "points": [1, 2, 3, 4, 5, 6, 7, 8], "stroke": "#e0951f"},
    {"kind": "polyline", "points": [1, 2, 3, 4, 5, 6], "stroke": "#e0951f", "dashed": True},
    stamp(Image.new("RGBA", (40, 12), (0, 0, 0, 0)), rotation=-90),
)


def test_every_shape_is_drawn_on_paper_of_its_size_with_fonts_within() -> None:
    (page,) = PdfReader(io.BytesIO(render(figure(*ALL)))).pages
    assert [float(side) / 72 * 25.4 for side in page.mediabox[2:]] == pytest.approx([85, 60], abs=0.01)
    assert "Layer 2 · Head 3 – “weights”" in page.extract_text()
    assert "1.78·10^−4" in page.extract_text(), "the font has no raised digits"
    assert len(page.images) == 2


def test_it_is_a_pdf_that_holds_its_fonts() -> None:
    made = render(figure(*ALL))
    assert made.startswith(b"%PDF-") and made.rstrip().endswith(b"%%EOF")
    assert b"/FontFile2" in made and b"BitstreamVera" in made
    assert b"Helvetica" not in made, "reportlab does not embed its default font"
    assert len(render(figure())) < len(made)


def test_it_has_a_title_and_names_nobody_as_its_author() -> None:
    for title, expected in (("Heads", "Heads"), ("", "stories-causal, layer 0")):
        made = PdfReader(io.BytesIO(render(figure() | {"title": title, "subject": "stories-causal, layer 0"})))
        assert made.metadata is not None
        assert (made.metadata.title, made.metadata.author or "") == (expected, "")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "The figure lacks a field: width."),
        (figure() | {"shapes": [3]}, "shapes[0] is 3; expected a table of fields."),
        (figure() | {"width": 10_000}, "at most 1000"),
        (figure() | {"height": float("nan")}, "not JSON"),
        (figure() | {"width": True}, "number of millimetres"),
        (figure() | {"palette": ["red"] * 256}, "palette[0] is 'red'; expected a colour such as #e0951f."),
        (figure() | {"palette": []}, "256"),
        (figure(*[RECTANGLE] * 100_001), "take fewer heads"),
        (figure({}), "The figure.shapes[0] lacks a field: kind."),
        (figure({"kind": "svg"}), "expected one of rectangle, circle, curve, polyline, text, heatmap, image."),
        (figure(text(anchor="left")), "expected one of start, middle, end."),
        (figure(text(link="http://x")), "The figure.shapes[0] has a field that is not known: link."),
        (figure(cells(3, 3, palette=["red"] * 256)), "a colour such as #e0951f"),
        (figure(text(fill="url(http://x)")), "colour"),
        (figure(text(x="1")), "number"),
        (figure(text(x=1e30)), "number"),
        (figure(cells(3, 3) | {"rows": 4}), "one code per cell"),
        (figure(cells(3, 3, codes="%%")), "base64"),
        (figure({"kind": "curve", "points": [1], "stroke": "#000000"}), "two or four"),
        (figure({"kind": "polyline", "points": [1, 2, 3, 4, 5], "stroke": "#000000"}), "two numbers"),
        (figure(stamp(Image.new("RGB", (3, 3)), png="aaaa")), "cannot be read"),
        (figure(stamp(Image.new("1", (5_000, 5_000)))), "too large"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(body: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadlightError) as caught:
        render(body)
    assert said in str(caught.value)


def test_a_file_that_only_claims_to_be_a_png_is_not_read() -> None:
    out = io.BytesIO()
    Image.new("RGB", (3, 3)).save(out, "BMP")
    with pytest.raises(HeadlightError, match="cannot be read"):
        render(figure(stamp(Image.new("RGB", (3, 3)), png=base64.b64encode(out.getvalue()).decode())))


def test_the_corners_of_a_line_are_round() -> None:
    line = {"kind": "polyline", "points": [1, 1, 9, 1, 2, 3], "stroke": "#e0951f"}
    (page,) = PdfReader(io.BytesIO(render(figure(line)))).pages
    contents = page.get_contents()
    assert contents is not None and b"\n1 j" in contents.get_data()
