"""Input images and recordings, preprocessed once each for their model."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from cachetools import LRUCache

from headlight.config import Config, ImageConfig, SoundConfig
from headlight.errors import ImageError
from headlight.sound.frames import ProcessedSound, process_sound
from headlight.sound.recording import decode_recording
from headlight.vision.image import ProcessedImage, decode_image, process_image
from headlight.vision.shipped_images import shipped_image, shipped_image_names
from headlight_app.contract.question import IMAGE_GONE, OWN_IMAGE_PREFIX
from headlight_app.contract.reply import Reply
from headlight_app.engine.contract import CheckImageRequest, Done
from headlight_app.inference.context import current_request

MAX_PREPARED = 64  # preprocessed pictures and recordings kept in memory
ProcessedFile = ProcessedImage | ProcessedSound


class PreparedImages:
    """Preprocessed pictures and recordings, by the hash of the file and the model's preprocessing config."""

    def __init__(self) -> None:
        self.prepared: LRUCache[tuple[bytes, ImageConfig | SoundConfig], ProcessedFile] = LRUCache(MAX_PREPARED)

    def prepare(self, data: bytes, config: ImageConfig | SoundConfig) -> ProcessedFile:
        """A preprocessed picture or recording. Raises ImageError or SoundError if the bytes cannot be read."""
        key = sha256(data).digest(), config
        found = self.prepared.get(key)
        if found is None:
            found = self.prepared[key] = (
                process_sound(decode_recording(data), config)
                if isinstance(config, SoundConfig)
                else process_image(decode_image(data), config)
            )
        return found


@lru_cache(maxsize=1)
def prepared_images() -> PreparedImages:
    """The one instance of this process."""
    return PreparedImages()


def image_bytes(name: str) -> bytes:
    """The file of an image or a recording: a shipped one, or one sent with the request. Raises ImageError."""
    return own_file(name) if name.startswith(OWN_IMAGE_PREFIX) else shipped_image(name)


def own_file(name: str) -> bytes:
    """A file of the visitor's own, sent with the request. Raises ImageError if it is gone."""
    if name not in current_request().images:
        raise ImageError(IMAGE_GONE)
    return current_request().images[name]


def read_input_file(name: str, config: Config) -> ProcessedFile:
    """A preprocessed image or recording by its name; the empty name is the first shipped one that suits the model.

    Raises ImageError or SoundError.
    """
    data = image_bytes(name or shipped_image_names(config)[0])
    return prepared_images().prepare(data, config.sound if config.reads_sound else config.image)


def answer_check_image(request: CheckImageRequest) -> Reply[Done]:
    """Decode the files sent with the request. Raises HeadlightError if that fails."""
    read = decode_recording if request.recording else decode_image
    for data in current_request().images.values():
        read(data)
    return Reply(Done())
