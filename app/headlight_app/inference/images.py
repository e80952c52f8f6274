"""Input images as models see them, each prepared once."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from cachetools import LRUCache

from headlight.config import Config
from headlight.config_groups import ImageConfig
from headlight.course.modalities.recording import decode_recording
from headlight.errors import ImageError
from headlight.vision.image import ProcessedImage, decode_image, process_image
from headlight.vision.shipped_images import shipped_image, shipped_image_names
from headlight_app.contract.question import IMAGE_GONE, OWN_IMAGE_PREFIX
from headlight_app.contract.reply import Reply
from headlight_app.engine.contract import CheckImageRequest, Done
from headlight_app.inference.context import current_request

MAX_PREPARED = 64  # pictures that stay prepared


class PreparedImages:
    """Pictures as models read them, by the picture's bytes and the model's processor."""

    def __init__(self) -> None:
        self.prepared: LRUCache[tuple[bytes, ImageConfig], ProcessedImage] = LRUCache(MAX_PREPARED)

    def prepare(self, data: bytes, config: ImageConfig) -> ProcessedImage:
        """A picture as a model reads it. Raises ImageError where the bytes are not a picture."""
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


def answer_check_image(request: CheckImageRequest) -> Reply[Done]:
    """Read the pictures, or the recording, that came with the request. Raises HeadlightError where that fails."""
    read = decode_recording if request.recording else decode_image
    for data in current_request().images.values():
        read(data)
    return Reply(Done())
