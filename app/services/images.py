"""Input images: the shipped ones, which everybody sees, and uploads, which only their visitor sees.

Uploads stay in this process's memory, are never written to disk, and are dropped when there are too many bytes.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.access.visitor import UNKNOWN_VISITOR, current_visitor
from app.state.state import OWN_IMAGE_PREFIX
from app.ui.wire_format import pack
from model.config_groups import ImageConfig
from model.errors import HeadlightError, ImageError
from model.paths import assets_dir
from model.vision.image import ProcessedImage, decode_image, process_image

MAX_FILE_BYTES = 8 << 20  # bytes of a file
MAX_PER_VISITOR = 4  # pictures of one visitor
MAX_TOTAL_BYTES = 128 << 20  # bytes of all pictures that visitors brought
MAX_PREPARED = 4  # models for which one picture stays prepared
MEDIA_TYPES = {b"\x89P": "image/png", b"\xff\xd8": "image/jpeg", b"RI": "image/webp"}  # by the first two bytes
IMAGE_GONE = "This picture is no longer here: what one brings is kept for a while only. Choose it again."


@dataclass(frozen=True)
class StoredImage:
    """A picture's file, and what models see of it, by what they read."""

    data: bytes
    prepared: OrderedDict[ImageConfig, ProcessedImage] = field(default_factory=OrderedDict)

    @property
    def media_type(self) -> str:
        """The media type of the file."""
        return MEDIA_TYPES[self.data[:2]]


class ImageStore:
    """Images by visitor and name; the oldest are dropped past MAX_PER_VISITOR each or `max_bytes` of all."""

    def __init__(self, max_bytes: int = MAX_TOTAL_BYTES) -> None:
        self.max_bytes = max_bytes
        self.uploaded: OrderedDict[tuple[str, str], StoredImage] = OrderedDict()
        self.shipped: dict[str, StoredImage] = {
            name: StoredImage(_read_shipped(name)) for name in shipped_image_names()
        }
        self.lock = Lock()
        self.decode_lock = Lock()  # one at a time, for a large picture takes much memory

    def add(self, visitor: str, data: bytes) -> str:
        """Keep a visitor's picture; gives the name by which they, and nobody else, find it.

        Raises ImageError for what is not an image, is too large, or comes without a cookie.
        """
        if visitor == UNKNOWN_VISITOR:
            raise ImageError("Your browser sends no cookie to this page, so nothing could be kept for you alone.")
        if len(data) > MAX_FILE_BYTES:
            raise ImageError(f"A picture may have {MAX_FILE_BYTES >> 20} MB; make this one smaller.")
        with self.decode_lock:
            decode_image(data)
        name = OWN_IMAGE_PREFIX + secrets.token_urlsafe(16)
        with self.lock:
            self.uploaded[visitor, name] = StoredImage(data)
            own_keys = [key for key in self.uploaded if key[0] == visitor]
            for key in own_keys[:-MAX_PER_VISITOR]:
                del self.uploaded[key]
            while sum(len(image.data) for image in self.uploaded.values()) > self.max_bytes:
                self.uploaded.popitem(last=False)
        return name

    def find(self, visitor: str, name: str) -> StoredImage:
        """An image by its name; the empty name is the first shipped one. Raises ImageError for an unknown name."""
        if not name.startswith(OWN_IMAGE_PREFIX):
            known = shipped_image_names()
            if (name or known[0]) not in known:
                raise ImageError(f"There is no picture {name[:40]!r}. Known: {', '.join(known)}, and your own.")
            return self.shipped[name or known[0]]
        with self.lock:
            if (visitor, name) not in self.uploaded:
                raise ImageError(IMAGE_GONE)
            self.uploaded.move_to_end((visitor, name))
            return self.uploaded[visitor, name]

    def prepare(self, visitor: str, name: str, config: ImageConfig) -> ProcessedImage:
        """What a model sees of a picture."""
        image = self.find(visitor, name)
        with self.decode_lock:
            if config not in image.prepared:
                image.prepared[config] = process_image(decode_image(image.data), config)
                if len(image.prepared) > MAX_PREPARED:
                    image.prepared.popitem(last=False)
            return image.prepared[config]


@lru_cache(maxsize=1)
def image_store() -> ImageStore:
    """The one image store of this process."""
    return ImageStore()


@lru_cache(maxsize=1)
def shipped_image_names() -> tuple[str, ...]:
    """The names of the shipped images, sorted."""
    return tuple(sorted(path.stem for path in (assets_dir() / "pictures" / "inputs").glob("*.png")))


def _read_shipped(name: str) -> bytes:
    return (assets_dir() / "pictures" / "inputs" / f"{name}.png").read_bytes()


# The routes: one takes an image that a visitor uploads, another serves an image.
SECURITY_HEADERS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}


async def receive_image(request: Request) -> Response:
    """Keep the picture in the body; the answer is its name, or the sentence that says why not."""
    try:
        data = await _read_body(request)
        payload = {"name": await asyncio.to_thread(image_store().add, current_visitor(), data)}
    except HeadlightError as error:
        payload = {"error": str(error)}
    headers = {"Connection": "close", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(pack(payload), headers=headers, media_type="application/octet-stream")


async def send_image(request: Request) -> Response:
    """The file of a shipped image, or of one that this visitor uploaded."""
    name = request.path_params["name"]
    try:
        image = image_store().find(current_visitor(), name)
    except ImageError as error:
        return PlainTextResponse(str(error), 404, SECURITY_HEADERS)
    cache_control = "no-store" if name.startswith(OWN_IMAGE_PREFIX) else "max-age=3600"
    return Response(
        image.data, headers=SECURITY_HEADERS | {"Cache-Control": cache_control}, media_type=image.media_type
    )


IMAGE_ROUTES = (
    Route("/api/image", receive_image, methods=["POST"]),
    Route("/api/image/{name}", send_image, methods=["GET"]),
)


async def _read_body(request: Request) -> bytes:
    """The body, of bounded size. Other sites' forms cannot send these content types without asking first."""
    if request.headers.get("content-type", "") not in MEDIA_TYPES.values():
        raise ImageError("This is no PNG, JPEG or WebP picture.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FILE_BYTES:
            raise ImageError(f"A picture may have {MAX_FILE_BYTES >> 20} MB; make this one smaller.")
    return bytes(body)
