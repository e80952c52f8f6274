"""Draws the pictures in this folder: python assets/pictures/inputs/draw.py writes them anew.

Everything is drawn four times as large and averaged down, so that edges are smooth without any font or file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PIL import Image, ImageDraw

SIDE, FINE = 224, 4
Pen = ImageDraw.ImageDraw
Point = tuple[float, float]


def scaled(*points: Point) -> list[Point]:
    """Points of the picture as points of the larger drawing."""
    return [(x * FINE, y * FINE) for x, y in points]


def disc(pen: Pen, x: float, y: float, across: float, down: float, colour: str) -> None:
    """An ellipse around a point."""
    pen.ellipse(scaled((x - across, y - down), (x + across, y + down)), fill=colour)


def shape(pen: Pen, colour: str, *points: Point) -> None:
    """A polygon."""
    pen.polygon(scaled(*points), fill=colour)


def line(pen: Pen, colour: str, width: float, *points: Point) -> None:
    """Straight pieces from point to point."""
    pen.line(scaled(*points), fill=colour, width=round(width * FINE), joint="curve")


def arc(pen: Pen, x: float, y: float, across: float, down: float, span: tuple[float, float], colour: str) -> None:
    """A part of an ellipse's edge, in degrees clockwise from the right."""
    pen.arc(scaled((x - across, y - down), (x + across, y + down)), *span, fill=colour, width=3 * FINE)


def cat(pen: Pen) -> None:
    """A grey cat sits on a carpet in front of a window."""
    shape(pen, "#f1dfc3", (0, 0), (224, 0), (224, 160), (0, 160))
    shape(pen, "#b5533c", (0, 160), (224, 160), (224, 224), (0, 224))
    for x in range(8, 224, 26):
        shape(pen, "#d98c5f", (x, 176), (x + 12, 176), (x + 6, 188))
    shape(pen, "#8fc1e3", (150, 20), (206, 20), (206, 96), (150, 96))
    line(pen, "#ffffff", 4, (178, 20), (178, 96))
    line(pen, "#ffffff", 4, (150, 58), (206, 58))
    line(pen, "#5c626b", 13, (132, 190), (172, 186), (186, 158), (178, 134))
    disc(pen, 102, 160, 44, 46, "#6d747e")
    disc(pen, 102, 172, 22, 28, "#cfd3d8")
    disc(pen, 84, 204, 15, 9, "#8a919b")
    disc(pen, 120, 204, 15, 9, "#8a919b")
    shape(pen, "#6d747e", (62, 90), (60, 44), (96, 68))
    shape(pen, "#6d747e", (142, 90), (144, 44), (108, 68))
    shape(pen, "#e8a5a0", (69, 76), (67, 58), (84, 69))
    shape(pen, "#e8a5a0", (135, 76), (137, 58), (120, 69))
    disc(pen, 102, 98, 43, 37, "#6d747e")
    for x in (84, 120):
        disc(pen, x, 92, 9, 10, "#e6d04a")
        disc(pen, x, 92, 3, 9, "#1b1b1b")
    disc(pen, 102, 114, 19, 12, "#cfd3d8")
    shape(pen, "#d9777a", (96, 106), (108, 106), (102, 113))
    for side in (-1, 1):
        arc(pen, 102 + side * 6, 115, 6, 5, (0, 180), "#3b3f45")
        for tilt in (-6, 0, 6):
            line(pen, "#f7f7f7", 1.5, (102 + side * 16, 112 + tilt / 2), (102 + side * 52, 110 + tilt * 2))


def house(pen: Pen) -> None:
    """A house with a tree on a hill, under the sun."""
    shape(pen, "#9fd3f5", (0, 0), (224, 0), (224, 224), (0, 224))
    for x, y in ((60.0, 40.0), (78.0, 34.0), (96.0, 42.0)):
        disc(pen, x, y, 18, 12, "#ffffff")
    rays = [(1.0, 0.0), (0.7, 0.7), (0.0, 1.0), (-0.7, 0.7), (-1.0, 0.0), (-0.7, -0.7), (0.0, -1.0), (0.7, -0.7)]
    for dx, dy in rays:
        line(pen, "#f6b93b", 4, (184 + 28 * dx, 42 + 28 * dy), (184 + 38 * dx, 42 + 38 * dy))
    disc(pen, 184, 42, 22, 22, "#f9ca24")
    disc(pen, 112, 300, 220, 136, "#6ab04c")
    shape(pen, "#f3e5d0", (58, 112), (142, 112), (142, 184), (58, 184))
    shape(pen, "#c0392b", (46, 114), (100, 66), (154, 114))
    shape(pen, "#8e3b2f", (124, 68), (136, 68), (136, 100), (124, 90))
    shape(pen, "#7b4a2b", (90, 146), (112, 146), (112, 184), (90, 184))
    disc(pen, 107, 166, 2, 2, "#f9ca24")
    for x in (66.0, 118.0):
        shape(pen, "#5fa8d3", (x, 124), (x + 18, 124), (x + 18, 142), (x, 142))
        line(pen, "#ffffff", 2, (x + 9, 124), (x + 9, 142))
        line(pen, "#ffffff", 2, (x, 133), (x + 18, 133))
    shape(pen, "#7b4a2b", (180, 150), (190, 150), (192, 188), (178, 188))
    for x, y in ((172.0, 142.0), (198.0, 142.0), (185.0, 126.0)):
        disc(pen, x, y, 18, 18, "#2e8b57")
    shape(pen, "#d8c3a0", (90, 184), (112, 184), (134, 224), (74, 224))


def faces(pen: Pen) -> None:
    """Two people side by side: one smiles, one laughs."""
    shape(pen, "#c9d6df", (0, 0), (224, 0), (224, 224), (0, 224))
    disc(pen, 62, 218, 56, 58, "#2a6f97")
    disc(pen, 164, 218, 56, 58, "#bc4749")
    for x, skin, hair in ((62, "#f2c79f", "#3d2b1f"), (164, "#9c6b4a", "#141414")):
        disc(pen, x, 98, 42, 52, hair)
        shape(pen, skin, (x - 13, 140), (x + 13, 140), (x + 13, 172), (x - 13, 172))
        disc(pen, x, 112, 35, 43, skin)
        for side in (-1, 1):
            disc(pen, x + side * 14, 104, 7, 5, "#ffffff")
            disc(pen, x + side * 14, 104, 3, 4, "#1b1b1b")
            line(pen, hair, 3, (x + side * 7, 93), (x + side * 21, 91))
        line(pen, "#7a4a32", 2.5, (x, 106), (x - 4, 122), (x + 3, 123))
    arc(pen, 62, 130, 15, 11, (10, 170), "#a33b3b")
    pen.chord(scaled((147, 118), (181, 146)), 0, 180, fill="#5e1f1f")
    pen.chord(scaled((151, 122), (177, 137)), 0, 180, fill="#ffffff")
    disc(pen, 164, 70, 38, 24, "#141414")
    shape(pen, "#3d2b1f", (24, 92), (30, 60), (62, 50), (96, 62), (100, 92), (84, 76), (50, 80))


def chess(pen: Pen) -> None:
    """A chess board from above, with a few pieces."""
    shape(pen, "#5b3a21", (0, 0), (224, 0), (224, 224), (0, 224))
    for row in range(8):
        for column in range(8):
            x, y = 12.0 + 25 * column, 12.0 + 25 * row
            colour = "#b58863" if (row + column) % 2 else "#f0d9b5"
            shape(pen, colour, (x, y), (x + 24.9, y), (x + 24.9, y + 24.9), (x, y + 24.9))
    for row, column, fill, edge in (
        (1, 1, "#262626", "#7d7d7d"), (1, 6, "#262626", "#7d7d7d"), (3, 4, "#262626", "#7d7d7d"),
        (0, 3, "#262626", "#7d7d7d"), (6, 2, "#fafafa", "#8c8c8c"), (4, 3, "#fafafa", "#8c8c8c"),
        (6, 6, "#fafafa", "#8c8c8c"), (7, 4, "#fafafa", "#8c8c8c"),
    ):  # fmt: skip
        x, y = 12 + 25 * column + 12.5, 12 + 25 * row + 12.5
        disc(pen, x, y, 9.5, 9.5, edge)
        disc(pen, x, y, 8, 8, fill)
        if row in (0, 7):  # the kings wear a cross
            line(pen, edge, 2.5, (x - 5, y), (x + 5, y))
            line(pen, edge, 2.5, (x, y - 5), (x, y + 5))


PICTURES: dict[str, Callable[[Pen], None]] = {"cat": cat, "house": house, "faces": faces, "chess": chess}


def draw(name: str) -> Image.Image:
    """One of the pictures, 224 x 224 pixels."""
    large = Image.new("RGB", (SIDE * FINE, SIDE * FINE))
    PICTURES[name](ImageDraw.Draw(large))
    return large.reduce(FINE)


if __name__ == "__main__":
    for name in PICTURES:
        draw(name).save(Path(__file__).parent / f"{name}.png", optimize=True)
