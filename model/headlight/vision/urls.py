"""Images as addresses."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import numpy as np

from headlight.array_types import Shaped
from headlight.vision.image import require_pillow


def png_url(rgb: Shaped[np.ndarray, "pixel_row pixel_column 3"]) -> str:
    """The pixels, as bytes, in a data URL of a PNG file. Raises ImageError if Pillow is missing."""
    require_pillow()
    from PIL import Image

    file = BytesIO()
    Image.fromarray(rgb).save(file, "PNG")
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
