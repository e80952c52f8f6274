"""Input images as models see them, each prepared once."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any

from cachetools import LRUCache

from app.state.images import IMAGE_GONE, OWN_IMAGE_PREFIX
from app.ui.wire_format import pack
from app.worker.context import current_request
from model.config import Config
from model.config_groups import ImageConfig
from model.course.modalities.recording import decode_recording
from model.errors import ImageError
from model.vision.image import ProcessedImage, decode_image, process_image
from model.vision.shipped_images import shipped_image, shipped_image_names

MAX_PREPARED = 64  # pictures that stay prepared


class PreparedImages:
    """What models see of pictures, by the picture's bytes and what the model reads."""

    def __init__(self) -> None:
        self.prepared: LRUCache[tuple[bytes, ImageConfig], ProcessedImage] = LRUCache(MAX_PREPARED)

    def prepare(self, data: bytes, config: ImageConfig) -> ProcessedImage:
        """What a model sees of a picture. Raises ImageError for what is none."""
        key = sha256(data).digest(), config
        found = self.prepared.get(key)
        if found is None:
            found = self.prepared[key] = process_image(decode_image(data), config)
        return found


@lru_cache(maxsize=1)
def prepared_images() -> PreparedImages:
    """The one store of this process."""
    return PreparedImages()


def image_bytes(name: str) -> bytes:
    """The file of an image by its name: a shipped one, or one that came with the request. Raises ImageError."""
    return own_file(name) if name.startswith(OWN_IMAGE_PREFIX) else shipped_image(name)


def own_file(name: str) -> bytes:
    """A file of the visitor's own, which came with the request. Raises ImageError where it is gone."""
    if name not in current_request().images:
        raise ImageError(IMAGE_GONE)
    return current_request().images[name]


def read_image(name: str, config: Config) -> ProcessedImage:
    """An image by its name as a model sees it; the empty name is the first that suits it. Raises ImageError."""
    return prepared_images().prepare(image_bytes(name or shipped_image_names(config)[0]), config.image)


def handle_check_image(body: dict[str, Any]) -> bytes:
    """Whether the pictures, or the `recording`, that came with the request can be read. Raises HeadlightError."""
    read = decode_recording if body.get("recording") is True else decode_image
    for data in current_request().images.values():
        read(data)
    return pack({})
