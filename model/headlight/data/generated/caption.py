"""Captions: a drawing of two figures, and a sentence that names both and says where the wider one is."""

from __future__ import annotations

from random import Random

from headlight.data.examples import Example, GeneratedTask, Link
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import train_tokenizer
from headlight.vision.drawing import OUTLINES, Drawing, Figure, Shade

SIDE = 48  # pixels
COLOURS: dict[str, Shade] = {
    "red": (214, 48, 44),
    "yellow": (240, 200, 40),
    "green": (46, 148, 74),
    "blue": (40, 98, 206),
    "purple": (132, 62, 168),
    "black": (36, 36, 40),
}
THINGS = tuple((colour, shape) for colour in COLOURS for shape in OUTLINES)
RELATIONS = ("above", "below", "left of", "right of")
LARGE, SMALL = (10.0, 12.0), (6.5, 8.5)  # radii
GAP, MARGIN = 1.5, 1.0  # at least so many pixels between the figures, and to the edge
SHADE_SPREAD = 18  # by which red, green and blue of a colour vary
GROUND = (232, 255)  # the lightness of the ground


def draw_caption(random: Random) -> Example:
    """Two different things; the wider is named first, so that only one of "A above B" and "B below A" is right."""
    (colour, shape), (other_colour, other_shape) = random.sample(THINGS, 2)
    relation, radii = random.choice(RELATIONS), (random.uniform(*LARGE), random.uniform(*SMALL))
    (x, y), (other_x, other_y) = _draw_centres(random, relation, radii)
    large = Figure(shape, colour, _vary(random, COLOURS[colour]), x, y, radii[0])
    small = Figure(other_shape, other_colour, _vary(random, COLOURS[other_colour]), other_x, other_y, radii[1])
    lightness = random.randint(*GROUND)
    drawing = Drawing(SIDE, (lightness, lightness, lightness), (large, small))
    answer = f"a {large.name} {relation} a {small.name}"
    first, last = len("a "), len(answer) - len(small.name)
    links = (Link((first, first + len(large.name)), box=large.box), Link((last, len(answer)), box=small.box))
    return Example("", answer, links, drawing)


def _draw_centres(
    random: Random, relation: str, radii: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Centres of two figures, the first of which stands in a relation to the second, along one axis clearly."""
    large, small = radii
    distance = random.uniform(large + small + GAP, SIDE - 2 * MARGIN - large - small)
    start = random.uniform(MARGIN, SIDE - MARGIN - large - distance - small)
    is_first = relation in ("above", "left of")
    along = (start + large, start + large + distance) if is_first else (start + small + distance, start + small)
    middle = random.uniform(MARGIN + large, SIDE - MARGIN - large)
    beside = middle + random.uniform(-distance / 2, distance / 2)
    across = (middle, min(max(beside, MARGIN + small), SIDE - MARGIN - small))
    if relation in ("left of", "right of"):
        return (along[0], across[0]), (along[1], across[1])
    return (across[0], along[0]), (across[1], along[1])


def _vary(random: Random, shade: Shade) -> Shade:
    red, green, blue = (min(255, max(0, part + random.randint(-SHADE_SPREAD, SHADE_SPREAD))) for part in shade)
    return red, green, blue


def combination(example: Example) -> str:
    """The two things of a drawing, whichever is wider: what is held out is a pair of things in every place."""
    assert example.drawing is not None
    return " and ".join(sorted(figure.name for figure in example.drawing.figures))


def caption_tokenizer() -> Tokenizer:
    """Each word is a token."""
    words = dict.fromkeys(" ".join(("a", *COLOURS, *OUTLINES, *RELATIONS)).split())
    return train_tokenizer("word", [" ".join(words)], len(words) + 4, ("<s>", "</s>", "<pad>"))


CAPTION = GeneratedTask("caption", draw_caption, caption_tokenizer, split_key=combination)
