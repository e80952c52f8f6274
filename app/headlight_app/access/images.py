"""The pictures for image models: shipped ones for all visitors, and uploads for their own visitor only.

The server only stores the bytes; workers decode them. Uploads stay in this process's memory, are never written to
disk, and are dropped if they take too many bytes, or their visitor has left.
"""

from __future__ import annotations

import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from time import monotonic

from headlight.errors import ImageError
from headlight.vision.shipped_images import shipped_image
from headlight_app.access.uploads import GRACE_SECONDS
from headlight_app.access.visitor import UNKNOWN_VISITOR
from headlight_app.contract.question import IMAGE_GONE, OWN_IMAGE_PREFIX

MAX_IMAGE_BYTES = 8 << 20  # bytes of a file
MAX_PER_VISITOR = 4  # pictures of one visitor
MAX_TOTAL_BYTES = 128 << 20  # bytes of all uploaded pictures
ARRIVAL_SECONDS = 30.0  # in place of GRACE_SECONDS for a visitor who has had no page, since pages send pictures
MEDIA_TYPES = {b"\x89P": "image/png", b"\xff\xd8": "image/jpeg", b"RI": "image/webp"}  # by the first two bytes
RECORDING_TYPE = "audio/wav"  # a recording, which is stored like a picture
IMAGE_TOO_LARGE = f"A picture or a sound may have at most {MAX_IMAGE_BYTES >> 20} MB; make this one smaller."


@dataclass(frozen=True)
class StoredImage:
    """A picture's file."""

    data: bytes

    @property
    def media_type(self) -> str:
        """The media type of the file."""
        return RECORDING_TYPE if self.data[8:12] == b"WAVE" else MEDIA_TYPES[self.data[:2]]


class ImageStore:
    """Images by visitor and name. Beyond MAX_PER_VISITOR, a visitor's oldest are dropped.

    Beyond `max_bytes` in total, the oldest images of the visitor with the most bytes are dropped.
    """

    def __init__(self, max_bytes: int = MAX_TOTAL_BYTES) -> None:
        self.max_bytes = max_bytes
        self.uploaded: OrderedDict[tuple[str, str], StoredImage] = OrderedDict()
        self.last_seen: dict[str, float] = {}  # when a visitor with pictures had a page
        self.lock = Lock()

    def add(self, visitor: str, data: bytes) -> str:
        """Store a visitor's picture. Returns its name, under which only this visitor can find it.

        Raises ImageError if the picture is too large or the visitor has no cookie.
        """
        if visitor == UNKNOWN_VISITOR:
            raise ImageError("Your browser sends no cookie of this server, so nothing can be stored for you.")
        if len(data) > MAX_IMAGE_BYTES:
            raise ImageError(IMAGE_TOO_LARGE)
        name = OWN_IMAGE_PREFIX + secrets.token_urlsafe(16)
        with self.lock:
            self.uploaded[visitor, name] = StoredImage(data)
            self.last_seen.setdefault(visitor, monotonic() - GRACE_SECONDS + ARRIVAL_SECONDS)
            own_keys = [key for key in self.uploaded if key[0] == visitor]
            for key in own_keys[:-MAX_PER_VISITOR]:
                del self.uploaded[key]
            while (sizes := self._sizes()).total() > self.max_bytes:
                del self.uploaded[self._oldest_of(sizes.most_common(1)[0][0])]
        return name

    def sweep(self, is_here: Callable[[str], bool]) -> None:
        """Drop the pictures of visitors who had no page for GRACE_SECONDS, or never one."""
        with self.lock:
            now = monotonic()
            for visitor in {visitor for visitor, _ in self.uploaded}:
                if is_here(visitor):
                    self.last_seen[visitor] = now
            for visitor, name in list(self.uploaded):
                if now - self.last_seen[visitor] > GRACE_SECONDS:
                    del self.uploaded[visitor, name]
            here = {visitor for visitor, _ in self.uploaded}
            self.last_seen = {visitor: seen for visitor, seen in self.last_seen.items() if visitor in here}

    def _sizes(self) -> Counter[str]:
        """The bytes of each visitor's pictures."""
        sizes: Counter[str] = Counter()
        for (visitor, _), image in self.uploaded.items():
            sizes[visitor] += len(image.data)
        return sizes

    def _oldest_of(self, visitor: str) -> tuple[str, str]:
        return next(key for key in self.uploaded if key[0] == visitor)

    def find(self, visitor: str, name: str) -> StoredImage:
        """An image by its name; the empty name is the first shipped one. Raises ImageError for an unknown name."""
        if not name.startswith(OWN_IMAGE_PREFIX):
            return StoredImage(shipped_image(name))
        own = self.find_own(visitor, (name,))
        if name not in own:
            raise ImageError(IMAGE_GONE)
        return own[name]

    def find_own(self, visitor: str, names: Iterable[str]) -> dict[str, StoredImage]:
        """The visitor's own pictures among these names."""
        with self.lock:
            keys = [(visitor, name) for name in names if (visitor, name) in self.uploaded]
            for key in keys:
                self.uploaded.move_to_end(key)
            return {name: self.uploaded[visitor, name] for _, name in keys}


@lru_cache(maxsize=1)
def image_store() -> ImageStore:
    """The one image store of this process."""
    return ImageStore()
