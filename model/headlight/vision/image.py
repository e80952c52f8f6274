"""Images: decoding and preprocessing with Pillow.

Pillow is an optional extra, imported with the first image, so that text models work without it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from math import cos, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headlight.array_types import Float, Shaped
from headlight.config import ImageConfig, ResamplingFilter
from headlight.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image as Pillow


IMAGE_FORMATS = ("PNG", "JPEG", "WEBP")
MAX_FILE_BYTES = 2**25  # bytes
MAX_PIXELS = 2**25  # of a decoded image, even if its file is small
_MAX_PIXELS_TEXT = f"{MAX_PIXELS / 1e6:.0f} million"
_PILLOW_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
ImageArray = Shaped[np.ndarray, "height width *colour"]  # uint8: grey, RGB or RGBA
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, eq=False)
class ProcessedImage:
    """An image preprocessed for a model; the arrays are read-only.

    `rgb` is the resized and cropped image that became `pixel_values`. `width`, `height` and `crop_region` are in pixels
    of the original; the region may extend beyond it.
    """

    pixel_values: Float[np.ndarray, "colour height width"]
    rgb: Shaped[np.ndarray, "height width 3"]
    width: int
    height: int
    crop_region: Box


def read_image(path: str | Path) -> ImageArray:
    """The pixels of an image file. Raises ImageError for another file, and for one that is too large."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ImageError(f"{path} cannot be read: {error.strerror}.") from error
    return decode_image(raw, path.name)


def decode_image(raw: bytes, name: str = "This file") -> ImageArray:
    """The pixels of a PNG, JPEG or WebP file, upright. Raises ImageError for another file, and for a large one."""
    if len(raw) > MAX_FILE_BYTES:
        raise ImageError(f"{name} is larger than {MAX_FILE_BYTES >> 20} MB; make it smaller.")
    require_pillow()
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            opened = Image.open(BytesIO(raw), formats=IMAGE_FORMATS)
        _check_pixel_count(*opened.size, name)
        upright = ImageOps.exif_transpose(opened)
        return np.array(_to_standard_mode(upright), dtype=np.uint8)
    except ImageError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(f"{name} has far more than the {_MAX_PIXELS_TEXT} pixels that are read.") from error
    except Exception as error:  # a broken or hostile file makes Pillow raise errors of any kind
        raise ImageError(f"{name} is not a PNG, JPEG or WebP picture that can be read.") from error


def process_image(array: ImageArray, config: ImageConfig) -> ProcessedImage:
    """An image resized, cropped and normalized by the model's config, to the size that it reads.

    Raises ImageError for a model that reads no images.
    """
    if not config.channels:
        raise ImageError("This model reads texts, not images.")
    image = _convert_channels(_to_pillow(array), config.channels)
    width, height = image.size
    image, region = _resize_and_crop(image, config)
    image = _resize(image, config.width, config.height, config.processor.resample)
    byte_values = np.asarray(image, dtype=np.float64).reshape(config.height, config.width, config.channels)
    # Rounded after each step, like the reference.
    scaled = (byte_values * config.processor.rescale_factor).astype(np.float32)
    mean, std = (np.array(numbers, np.float32) for numbers in (config.processor.mean, config.processor.std))
    normed = np.ascontiguousarray(((scaled - mean) / std).transpose(2, 0, 1))
    rgb = np.array(image.convert("RGB"))
    normed.flags.writeable = rgb.flags.writeable = False
    return ProcessedImage(normed, rgb, width, height, region)


def _resize_target(width: int, height: int, config: ImageConfig) -> tuple[int, int]:
    """The width and height of an image after resizing, before cropping."""
    processor = config.processor
    if not processor.shortest_edge:
        return processor.width or config.width, processor.height or config.height
    short_edge, input_long_edge = sorted((width, height))
    long_edge = processor.shortest_edge * input_long_edge // short_edge
    resized_width, resized_height = (
        (processor.shortest_edge, long_edge) if width <= height else (long_edge, processor.shortest_edge)
    )
    _check_pixel_count(resized_width, resized_height, "Resized for this model, the image")
    return resized_width, resized_height


def _resize(image: Pillow, width: int, height: int, resample: ResamplingFilter) -> Pillow:
    from PIL import Image

    return image if image.size == (width, height) else image.resize((width, height), Image.Resampling[resample.upper()])


def _to_standard_mode(image: Pillow) -> Pillow:
    """Grey, RGB or RGBA."""
    from PIL import Image

    if image.has_transparency_data:
        return image.convert("RGBA")
    if image.mode.startswith("I"):  # 16 bits; the upper eight are kept
        return Image.fromarray((np.asarray(image).clip(0, 2**16 - 1) >> 8).astype(np.uint8))
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def _to_pillow(array: ImageArray) -> Pillow:
    require_pillow()
    from PIL import Image

    is_grey = array.ndim == 2
    if array.dtype != np.uint8 or not array.size or not (is_grey or (array.ndim == 3 and array.shape[2] in (3, 4))):
        raise ImageError("An image is an array of bytes, [height width] if it is grey, else [height width 3 or 4].")
    return Image.fromarray(array)


def _convert_channels(image: Pillow, channels: int) -> Pillow:
    """The image with the channels that the model reads; transparency is blended with white."""
    from PIL import Image

    if image.mode == "RGBA" and channels < 4:
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert(_PILLOW_MODES[channels])


def _check_pixel_count(width: int, height: int, name: str) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(f"{name} has {width:,} x {height:,} pixels; at most {_MAX_PIXELS_TEXT} are read.")


def require_pillow() -> None:
    """Raise ImageError if Pillow is missing."""
    if find_spec("PIL") is None:
        raise ImageError("Pictures need Pillow, which is not installed: pip install 'attention-headlight[image]'.")


def _resize_and_crop(image: Pillow, config: ImageConfig) -> tuple[Pillow, Box]:
    """The image resized and center-cropped, and the remaining region in pixels of the original."""
    processor, (width, height) = config.processor, image.size
    if processor.resize:
        image = _resize(image, *_resize_target(width, height, config), processor.resample)
    resized_width, resized_height = image.size
    if not processor.crop_height:
        return image, (0.0, 0.0, float(width), float(height))
    margins = (resized_width - processor.crop_width, resized_height - processor.crop_height)
    left, top = (round(margin / 2) if processor.crop_to_even else margin // 2 for margin in margins)
    box = (left, top, left + processor.crop_width, top + processor.crop_height)
    scales = (width / resized_width, height / resized_height) * 2
    region = [side * scale for side, scale in zip(box, scales, strict=True)]
    return image.crop(box), (region[0], region[1], region[2], region[3])


FINE = 4  # drawn larger by this factor and averaged down, for smooth edges
Point = tuple[float, float]
Shade = tuple[int, int, int]  # red, green, blue


def _around(*radii: float) -> tuple[Point, ...]:
    """The points around the centre, starting at the top."""
    turns = (2 * pi * index / len(radii) for index in range(len(radii)))
    return tuple((radius * sin(turn), -radius * cos(turn)) for radius, turn in zip(radii, turns, strict=True))


# Outlines around (0, 0) that extend about 1 to each side; y grows downwards.
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
    """A shape (a key of OUTLINES) in the named `colour`; centre and radius in pixels."""

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
    """Figures on a background of one shade, `side` x `side` pixels."""

    side: int
    ground: Shade
    figures: tuple[Figure, ...]

    def __str__(self) -> str:
        def place(figure: Figure) -> str:
            return f"{figure.name} at ({figure.x:.0f}, {figure.y:.0f}), radius {figure.radius:.0f}"

        return "; ".join(map(place, self.figures))

    def render(self, scale: int = 1) -> ImageArray:
        """The pixels, [height width 3], each side `scale` times as long. Raises ImageError if Pillow is missing."""
        require_pillow()
        from PIL import Image, ImageDraw

        side, fine = self.side * scale, scale * FINE
        image = Image.new("RGB", (side * FINE, side * FINE), self.ground)
        pen = ImageDraw.Draw(image)
        for figure in self.figures:
            pen.polygon([(x * fine, y * fine) for x, y in figure.outline], fill=figure.shade)
        return np.array(image.resize((side, side), Image.Resampling.BOX))
