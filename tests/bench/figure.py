"""A figure of load: requests a second against answers a second, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10

WIDTH, HEIGHT, MARGIN = 640, 400, 56
COLOURS = ("#b45f06", "#5b6b8c")


@dataclass(frozen=True)
class Point:
    """A class of `people`: requests a second if answers took no time, and requests answered a second."""

    people: int
    offered: float
    answered: float


def load_figure(lines: Mapping[str, Sequence[Point]]) -> str:
    """A line for each version, labelled with numbers of people; on the dashed line everything is answered."""
    points = [point for line in lines.values() for point in line]
    values = [value for point in points for value in (point.offered, point.answered) if value > 0]
    low, high = 10 ** int(log10(min(values)) - 1e-9), max(values) * 1.3

    def across(value: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * log10(max(value, low) / low) / log10(high / low)

    def up(value: float) -> float:
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * log10(max(value, low) / low) / log10(high / low)

    ticks = [step * 10**power for power in range(-1, 5) for step in (1, 2, 5) if low <= step * 10**power <= high]
    parts = [_text(across(tick), HEIGHT - MARGIN + 20, f"{tick:g}") for tick in ticks]
    parts += [_text(MARGIN - 8, up(tick) + 4, f"{tick:g}", "end") for tick in ticks]
    parts.append(_line([(across(low), up(low)), (across(high), up(high))], "#888", "4 4"))
    parts.append(_text(WIDTH / 2, HEIGHT - 10, "asked a second, if answers took no time"))
    parts.append(_text(MARGIN, 24, "answered a second", "start"))
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(across(point.offered), up(point.answered)) for point in line]
        parts.append(_line(places, colour))
        for (x, y), point in zip(places, line, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
            parts.append(_text(x, y + (20 if number else -10), str(point.people), colour=colour))
        parts.append(_text(WIDTH - MARGIN, 24 + 20 * number, name, "end", colour))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="13"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'


def _line(places: Sequence[tuple[float, float]], colour: str, dashes: str = "none") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
