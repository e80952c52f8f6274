"""Drawings: coloured figures on a light ground, from which the pixels are made."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from headlight.vision.image import Box, ImageArray, require_pillow

FINE = 4  # drawn so many times as large and averaged down, so that edges are smooth
Point = tuple[float, float]
Shade = tuple[int, int, int]  # red, green, blue


def _around(*radii: float) -> tuple[Point, ...]:
    """Points around the centre, beginning at the top."""
    turns = (2 * pi * index / len(radii) for index in range(len(radii)))
    return tuple((radius * sin(turn), -radius * cos(turn)) for radius, turn in zip(radii, turns, strict=True))


# Outlines around (0, 0) that reach about one unit to each side; y grows downwards.
OUTLINES: dict[str, tuple[Point, ...]] = {
    "circle": _around(*[1.0] * 48),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0.0, -1.0), (1.0, 0.8), (-1.0, 0.8)),
    "star": _around(*[1.0, 0.42] * 5),
    "cross": (
        (-0.3, -1.0), (0.3, -1.0), (0.3, -0.3), (1.0, -0.3), (1.0, 0.3), (0.3, 0.3),
        (0.3, 1.0), (-0.3, 1.0), (-0.3, 0.3), (-1.0, 0.3), (-1.0, -0.3), (-0.3, -0.3),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A shape (a key of OUTLINES) of one colour, whose name is `colour`; centre and radius in pixels."""

    shape: str
    colour: str
    shade: Shade
    x: float
    y: float
    radius: float

    @property
    def name(self) -> str:
        """Colour and shape."""
        return f"{self.colour} {self.shape}"

    @property
    def outline(self) -> tuple[Point, ...]:
        """The corners, in pixels."""
        return tuple((self.x + self.radius * x, self.y + self.radius * y) for x, y in OUTLINES[self.shape])

    @property
    def box(self) -> Box:
        """The smallest upright box around the outline."""
        across, down = zip(*self.outline, strict=True)
        return min(across), min(down), max(across), max(down)


@dataclass(frozen=True)
class Drawing:
    """Figures on a ground of one shade, `side` x `side` pixels."""

    side: int
    ground: Shade
    figures: tuple[Figure, ...]

    def __str__(self) -> str:
        def place(figure: Figure) -> str:
            return f"{figure.name} at ({figure.x:.0f}, {figure.y:.0f}), radius {figure.radius:.0f}"

        return "; ".join(map(place, self.figures))

    def render(self, scale: int = 1) -> ImageArray:
        """The pixels, [height width 3], each side `scale` times as long. Raises ImageError where Pillow is missing."""
        require_pillow()
        from PIL import Image, ImageDraw

        side, fine = self.side * scale, scale * FINE
        image = Image.new("RGB", (side * FINE, side * FINE), self.ground)
        pen = ImageDraw.Draw(image)
        for figure in self.figures:
            pen.polygon([(x * fine, y * fine) for x, y in figure.outline], fill=figure.shade)
        return np.array(image.resize((side, side), Image.Resampling.BOX))
