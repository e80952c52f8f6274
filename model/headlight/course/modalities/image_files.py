"""The shipped images on a screen: the control that chooses one, and pixels as a browser shows them."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import numpy as np

from headlight.array_types import Shaped
from headlight.course.controls import ChoiceControl
from headlight.vision.image import require_pillow
from headlight.vision.shipped_images import all_shipped_image_names


def _title(name: str) -> str:
    """What a picture is called: "Yellow square right of red triangle"."""
    words = name.replace("-right-", "-right-of-").replace("-left-", "-left-of-")
    return words.replace("-", " ").capitalize()


PICTURE = ChoiceControl(
    title="Picture",
    default="yellow-square-right-red-triangle",
    options={name: _title(name) for name in all_shipped_image_names()},
)


def png_url(rgb: Shaped[np.ndarray, "pixel_row pixel_column 3"]) -> str:
    """The pixels, bytes, as a PNG file in a data URL. Raises ImageError where Pillow is missing."""
    require_pillow()
    from PIL import Image

    file = BytesIO()
    Image.fromarray(rgb).save(file, "PNG")
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
