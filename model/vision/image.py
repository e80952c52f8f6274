"""Pictures: files to pixels, pixels to what a model reads, and its patches told as tokens are.

Pillow decodes and resizes; it is loaded when the first picture comes, as an extra that texts do without.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from model.array_types import Float, Shaped
from model.config_groups import Picture
from model.errors import PictureError

if TYPE_CHECKING:
    from PIL.Image import Image as Pillow

FORMATS = ("PNG", "JPEG", "WEBP")
LARGEST_FILE = 2**25  # bytes
MOST_PIXELS = 2**25  # of a decoded picture, however small its file
_MOST = f"{MOST_PIXELS / 1e6:.0f} million"
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
Raster = Shaped[np.ndarray, "height width *colour"]  # uint8: grey, red green blue, or this with transparency
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, eq=False)
class View:
    """A picture as a model reads it: its numbers, read-only, and which part of the picture they show.

    `shown` are the bytes that became numbers. `width` and `height` are the picture's own, in pixels; so is `region`,
    which may reach beyond them.
    """

    pixels: Float[np.ndarray, "colour height width"]
    shown: Shaped[np.ndarray, "height width 3"]
    width: int
    height: int
    region: Box


def read_picture(path: str | Path) -> Raster:
    """The pixels of a file. Raises PictureError for what is none, or too large."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise PictureError(f"{path} cannot be read: {error.strerror}.") from error
    return decode(raw, path.name)


def decode(raw: bytes, name: str = "This file") -> Raster:
    """The pixels of a PNG, JPEG or WebP file, the right way up. Raises PictureError for all else, and beyond a size."""
    if len(raw) > LARGEST_FILE:
        raise PictureError(f"{name} is larger than {LARGEST_FILE >> 20} MB; make it smaller.")
    _require_pillow()
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            opened = Image.open(BytesIO(raw), formats=FORMATS)
        _require_room(*opened.size, name)
        turned = ImageOps.exif_transpose(opened)
        return np.array(_simple(turned), dtype=np.uint8)
    except PictureError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureError(f"{name} has far more than the {_MOST} pixels that are read.") from error
    except Exception as error:  # whatever a broken or hostile file makes Pillow raise
        raise PictureError(f"{name} is no PNG, JPEG or WebP picture that can be read.") from error


def view(picture: Raster, reads: Picture) -> View:
    """A picture resized, cut and normalised as a model was trained to read it.

    What then has not the size that the model reads is resized to it. Raises PictureError for a model of texts.
    """
    if not reads.channels:
        raise PictureError("This model reads texts; it has no use for a picture.")
    image = _coloured(_drawn(picture), reads.channels)
    width, height = image.size
    image, region = _cut(image, reads)
    image = _resized(image, reads.width, reads.height, reads.prepare.resample)
    bytewise = np.asarray(image, dtype=np.float64).reshape(reads.height, reads.width, reads.channels)
    # Rounded after each step, as the reference does it.
    scaled = (bytewise * reads.prepare.factor).astype(np.float32)
    mean, deviation = (np.array(numbers, np.float32) for numbers in (reads.prepare.mean, reads.prepare.deviation))
    normed = np.ascontiguousarray(((scaled - mean) / deviation).transpose(2, 0, 1))
    shown = np.array(image.convert("RGB"))
    normed.flags.writeable = shown.flags.writeable = False
    return View(normed, shown, width, height, region)


def _target(width: int, height: int, reads: Picture) -> tuple[int, int]:
    """Width and height to which a picture is resized first."""
    prepare = reads.prepare
    if not prepare.shortest:
        return prepare.width or reads.width, prepare.height or reads.height
    short, long = sorted((width, height))
    longer = prepare.shortest * long // short
    across, down = (prepare.shortest, longer) if width <= height else (longer, prepare.shortest)
    _require_room(across, down, "Resized as this model wants it, the picture")
    return across, down


def _resized(image: Pillow, width: int, height: int, resample: str) -> Pillow:
    from PIL import Image

    return image if image.size == (width, height) else image.resize((width, height), Image.Resampling[resample.upper()])


def _simple(image: Pillow) -> Pillow:
    """Grey, red green blue, or these with transparency."""
    from PIL import Image

    if image.has_transparency_data:
        return image.convert("RGBA")
    if image.mode.startswith("I"):  # 16 bits, of which the upper eight say enough
        return Image.fromarray((np.asarray(image).clip(0, 2**16 - 1) >> 8).astype(np.uint8))
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def _drawn(picture: Raster) -> Pillow:
    _require_pillow()
    from PIL import Image

    grey = picture.ndim == 2
    if (
        picture.dtype != np.uint8
        or not picture.size
        or not (grey or (picture.ndim == 3 and picture.shape[2] in (3, 4)))
    ):
        raise PictureError("A picture is an array of bytes, [height width] if it is grey, else [height width 3 or 4].")
    return Image.fromarray(picture)


def _coloured(image: Pillow, channels: int) -> Pillow:
    """With as many colours as the model reads; what is transparent is laid on white."""
    from PIL import Image

    if image.mode == "RGBA" and channels < 4:
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert(_MODES[channels])


def _require_room(width: int, height: int, name: str) -> None:
    if width * height > MOST_PIXELS:
        raise PictureError(f"{name} has {width:,} x {height:,} pixels; at most {_MOST} are read.")


def _require_pillow() -> None:
    if find_spec("PIL") is None:
        raise PictureError("Pictures need Pillow, which is not here: pip install 'attention-headlight[image]'.")


def _cut(image: Pillow, reads: Picture) -> tuple[Pillow, Box]:
    """The picture resized and its middle cut out, and what is left in pixels of the picture as it came."""
    prepare, (width, height) = reads.prepare, image.size
    if prepare.resize:
        image = _resized(image, *_target(width, height, reads), prepare.resample)
    across, down = image.size
    if not prepare.crop_height:
        return image, (0.0, 0.0, float(width), float(height))
    left, top = (across - prepare.crop_width) // 2, (down - prepare.crop_height) // 2
    box = (left, top, left + prepare.crop_width, top + prepare.crop_height)
    scales = (width / across, height / down) * 2
    region = [side * scale for side, scale in zip(box, scales, strict=True)]
    return image.crop(box), (region[0], region[1], region[2], region[3])
