"""Draws the pictures in this folder: python assets/pictures/drawings/draw.py writes them anew.

They are held-out examples of the task `caption`, five times as large as its model reads them.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from headlight.data.examples import Example
from headlight.data.generated import CAPTION

SEED, COUNT, SCALE = 4, 6, 5


def drawing_name(example: Example) -> str:
    """The caption without its little words."""
    return "-".join(word for word in example.answer.split() if word not in ("a", "of"))


def examples() -> list[Example]:
    """The first in bright colours: on black figures nobody sees which patches are lit."""
    drawn = CAPTION.held_out_examples(SEED, 4 * COUNT)
    return [example for example in drawn if "black" not in example.answer][:COUNT]


if __name__ == "__main__":
    for example in examples():
        assert example.drawing is not None
        Image.fromarray(example.drawing.render(SCALE)).save(Path(__file__).parent / f"{drawing_name(example)}.png")
