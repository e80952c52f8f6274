"""An image as patches, which are represented like tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tokenizers
from tokenizers import models

from headlight.array_types import Float, Shaped
from headlight.config import ImageConfig
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.vision.image import Box, ProcessedImage

CLASS_TOKEN = "[CLS]"


@dataclass(frozen=True)
class EncodedImage(Encoded):
    """An image's patches as tokens, named "row,column" from 0 at the top left, after the class token if any.

    `covered_region` is the area of the patches, in pixels of the original image; `patch_size` is the height and width
    of a patch, in pixels of the model's input.
    """

    patch_rows: int
    patch_columns: int
    covered_region: Box
    image: ProcessedImage
    patch_size: tuple[int, int]

    @property
    def first_patch(self) -> int:
        """The index of the first patch, which is the number of tokens before the patches."""
        return len(self.ids) - self.patch_rows * self.patch_columns

    @property
    def input_ids(self) -> tuple[int, ...]:
        """The tokens before the patches."""
        return self.ids[: self.first_patch]

    @property
    def signal(self) -> Float[np.ndarray, "color_channel height width"]:
        """The pixel values."""
        return self.image.pixel_values

    def patch_boxes(self) -> tuple[Box, ...]:
        """The region of each patch, in pixels of the original image."""
        left, top, right, bottom = self.covered_region
        width, height = (right - left) / self.patch_columns, (bottom - top) / self.patch_rows
        return tuple(
            (left + column * width, top + row * height, left + (column + 1) * width, top + (row + 1) * height)
            for row in range(self.patch_rows)
            for column in range(self.patch_columns)
        )

    def covered_pixels(self) -> Shaped[np.ndarray, "covered_height covered_width 3"]:
        """The part of the preprocessed image that the patches cover, as RGB bytes."""
        height, width = self.patch_size
        return self.image.rgb[: self.patch_rows * height, : self.patch_columns * width]


def encode_image(image: ProcessedImage, config: ImageConfig, start: Encoded) -> EncodedImage:
    """The tokens of `start` followed by the patches, with consecutive ids."""
    patch_names = tuple(f"{row},{column}" for row in range(config.patch_rows) for column in range(config.patch_columns))
    left, top, right, bottom = image.crop_region
    covered_region = (
        left,
        top,
        left + (right - left) * config.patch_columns * config.patch_width / config.width,
        top + (bottom - top) * config.patch_rows * config.patch_height / config.height,
    )
    return EncodedImage(
        text=start.text,
        ids=start.ids + tuple(range(len(start.ids), len(start.ids) + len(patch_names))),
        tokens=start.tokens + patch_names,
        token_texts=start.token_texts + patch_names,
        offsets=start.offsets + ((0, 0),) * len(patch_names),
        special_mask=start.special_mask + (False,) * len(patch_names),
        patch_rows=config.patch_rows,
        patch_columns=config.patch_columns,
        covered_region=covered_region,
        image=image,
        patch_size=(config.patch_height, config.patch_width),
    )


def class_token_tokenizer(extra_tokens: Sequence[str] = ()) -> Tokenizer:
    """The tokenizer of a model that reads images: its vocabulary is the tokens before the patches."""
    tokens = [CLASS_TOKEN, *extra_tokens]
    backend = tokenizers.Tokenizer(models.WordLevel({token: n for n, token in enumerate(tokens)}, CLASS_TOKEN))
    backend.add_special_tokens(tokens)
    return Tokenizer(backend)
