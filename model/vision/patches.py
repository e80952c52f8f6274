"""An image as patches, described the way tokens are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import tokenizers
from tokenizers import models

from model.array_types import Float, Shaped
from model.config_groups import Picture
from model.text.tokenizer import Encoded, Tokenizer
from model.vision.image import Box, View

CLASS = "[CLS]"


@dataclass(frozen=True)
class Patched(Encoded):
    """The class token and a picture's patches as tokens: `pieces` are "row,column", counted from 0 at the top left.

    `region` is what the patches cover, in pixels of the picture itself, of which `seen` tells the size; `patch` is the
    height and width of one in pixels of what the model reads.
    """

    rows: int
    columns: int
    region: Box
    seen: View
    patch: tuple[int, int]

    def covered(self) -> Shaped[np.ndarray, "covered_height covered_width 3"]:
        """What the patches cover, as the model sees it: red, green and blue bytes."""
        height, width = self.patch
        return self.seen.shown[: self.rows * height, : self.columns * width]


def patched(seen: View, reads: Picture, start: Encoded) -> Patched:
    """The tokens in `start` and the patches behind them, numbered on."""
    names = tuple(f"{row},{column}" for row in range(reads.rows) for column in range(reads.columns))
    left, top, right, bottom = seen.region
    covered = (
        left,
        top,
        left + (right - left) * reads.columns * reads.patch_width / reads.width,
        top + (bottom - top) * reads.rows * reads.patch_height / reads.height,
    )
    return Patched(
        text=start.text,
        ids=start.ids + tuple(range(len(start.ids), len(start.ids) + len(names))),
        tokens=start.tokens + names,
        pieces=start.pieces + names,
        spans=start.spans + ((0, 0),) * len(names),
        special=start.special + (False,) * len(names),
        rows=reads.rows,
        columns=reads.columns,
        region=covered,
        seen=seen,
        patch=(reads.patch_height, reads.patch_width),
    )


def numbers(text: Encoded) -> tuple[int, ...]:
    """The token numbers that a model is given: all of a text's, and of a picture what stands before its patches."""
    return text.ids[: len(text.ids) - text.rows * text.columns] if isinstance(text, Patched) else text.ids


def pixels(text: Encoded) -> Float[np.ndarray, "colour height width"] | None:
    """The pixels that a model is given beside them; None with a text."""
    return text.seen.pixels if isinstance(text, Patched) else None


def class_token() -> Tokenizer:
    """The tokenizer of a model that reads pictures: it knows the one token that stands before the patches."""
    backend = tokenizers.Tokenizer(models.WordLevel({CLASS: 0}, CLASS))
    backend.add_special_tokens([CLASS])
    return Tokenizer(backend)
