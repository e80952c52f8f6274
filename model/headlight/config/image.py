"""ImageConfig: the images that a model reads, and how they are prepared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headlight.errors import ConfigError

CHANNEL_COUNTS = (1, 3, 4)  # of an image: grey, RGB, RGBA
ResamplingFilter = Literal["nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"]  # in Pillow's order
MAX_PATCHES = 2**12  # bounds the cost of a hostile file: attention is quadratic in the number of patches
MAX_IMAGE_SIDE = 2**13  # pixels


@dataclass(frozen=True, kw_only=True)
class ImageProcessorConfig:
    """Image preprocessing, as in Hugging Face image processors: resize, center crop, rescale, normalize.

    Sizes are pixels.
    """

    resize: bool = True
    height: int = 0  # to which an image is resized; 0: the model's
    width: int = 0  # the same
    shortest_edge: int = 0  # if not 0, the shorter side is resized to it, and the longer one in proportion
    resample: ResamplingFilter = "bilinear"  # the filter for resizing
    crop_height: int = 0  # of the centre that is cut out; 0: no cropping
    crop_width: int = 0  # the same
    crop_to_even: bool = False  # a crop that cannot be central begins at the even one of two pixels, not the lower one
    rescale_factor: float = 1 / 255  # each channel is multiplied by it,
    mean: tuple[float, ...] = (0.5,)  # minus this (one number for all channels, or one for each),
    std: tuple[float, ...] = (0.5,)  # divided by this


@dataclass(frozen=True, kw_only=True)
class ImageConfig:
    """The images that a model reads instead of a text, in patches, row by row (Dosovitskiy et al. 2021).

    What is left at the right and at the bottom is not read.
    """

    channels: int = 0  # 0: the model reads no images
    height: int = 0  # pixels, as the next three
    width: int = 0
    patch_height: int = 0
    patch_width: int = 0
    processor: ImageProcessorConfig = ImageProcessorConfig()
    class_token: bool = True  # a class token precedes the patches
    extra_tokens: tuple[str, ...] = ()  # names of further tokens between class token and patches
    patch_bias: bool = True  # the patch embedding has a bias

    @property
    def first_tokens(self) -> int:
        """The number of tokens before the patches."""
        return self.class_token + len(self.extra_tokens)

    @property
    def patch_rows(self) -> int:
        """The number of rows of patches."""
        return self.height // max(self.patch_height, 1)

    @property
    def patch_columns(self) -> int:
        """The number of columns of patches."""
        return self.width // max(self.patch_width, 1)

    def check(self) -> None:
        """Raise ConfigError unless a model can read such images."""
        image_sides, processor = ("height", "width", "patch_height", "patch_width"), self.processor
        processor_sides = ("height", "width", "shortest_edge", "crop_height", "crop_width")
        sides = {name: (getattr(self, name), 1) for name in image_sides}
        sides |= {f"processor.{name}": (getattr(processor, name), 0) for name in processor_sides}
        for name, (side, minimum) in sides.items():
            if not minimum <= side <= MAX_IMAGE_SIDE:
                raise ConfigError(f"image.{name} is {side}; a side has {minimum} to {MAX_IMAGE_SIDE:,} pixels.")
        if bool(processor.crop_height) != bool(processor.crop_width):
            raise ConfigError("image.processor crops a height without a width, or a width without a height.")
        if self.channels not in CHANNEL_COUNTS:
            raise ConfigError(f"image.channels is {self.channels}; images have {', '.join(map(str, CHANNEL_COUNTS))}.")
        if not 0 < self.patch_rows * self.patch_columns <= MAX_PATCHES:
            raise ConfigError(
                f"{self.height} x {self.width} pixels are {self.patch_rows} x {self.patch_columns} patches of "
                f"{self.patch_height} x {self.patch_width}; a model reads 1 to {MAX_PATCHES:,} patches."
            )
        self._check_normalization()

    def _check_normalization(self) -> None:
        processor = self.processor
        for name, numbers in (("mean", processor.mean), ("std", processor.std)):
            if len(numbers) not in (1, self.channels):
                raise ConfigError(f"image.processor.{name} has {len(numbers)} numbers for {self.channels} channels.")
        numbers, divisors = (processor.rescale_factor, *processor.mean), processor.std
        if not all(abs(number) <= 1e6 for number in numbers) or not all(1e-6 <= abs(d) <= 1e6 for d in divisors):
            raise ConfigError(
                "image.processor's rescale_factor and mean are at most 1e6, its std 1e-6 to 1e6; "
                f"here they are {', '.join(f'{number:g}' for number in (*numbers, *divisors))}."
            )
