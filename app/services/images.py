"""Pictures to look at: the drawn ones for everybody, and those that a visitor brought, which are theirs alone.

What somebody brings stays in this process's memory, is never written to disk, and goes when there is no more room.
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

from app.access.visitor import NOBODY, visitor
from app.packing import pack
from app.state.state import OWN
from model.config_groups import Picture
from model.errors import HeadlightError, PictureError
from model.paths import assets
from model.vision.image import View, decode, view

LARGEST = 8 << 20  # bytes of a file
EACH = 4  # pictures of one visitor
ALL = 128 << 20  # bytes of all pictures that visitors brought
VIEWS = 4  # models for which one picture stays prepared
KINDS = {b"\x89P": "image/png", b"\xff\xd8": "image/jpeg", b"RI": "image/webp"}  # by the first two bytes
GONE = "This picture is no longer here: what one brings is kept for a while only. Choose it again."


@dataclass(frozen=True)
class Hung:
    """A picture's file, and what models see of it, by what they read."""

    raw: bytes
    views: OrderedDict[Picture, View] = field(default_factory=OrderedDict)

    @property
    def kind(self) -> str:
        """The media type of the file."""
        return KINDS[self.raw[:2]]


class Gallery:
    """Pictures by visitor and name; the oldest go where a visitor has more than EACH, or all take more than `room`."""

    def __init__(self, room: int = ALL) -> None:
        self.room = room
        self.brought: OrderedDict[tuple[str, str], Hung] = OrderedDict()
        self.drawn: dict[str, Hung] = {name: Hung(_file(name)) for name in names()}
        self.lock = Lock()
        self.decoding = Lock()  # one at a time, for a large picture takes much memory

    def bring(self, visitor: str, raw: bytes) -> str:
        """Keep a visitor's picture; gives the name by which they, and nobody else, find it.

        Raises PictureError for what is no picture, is too large, or comes from nobody.
        """
        if visitor == NOBODY:
            raise PictureError("Your browser sends no cookie to this page, so nothing could be kept for you alone.")
        if len(raw) > LARGEST:
            raise PictureError(f"A picture may have {LARGEST >> 20} MB; make this one smaller.")
        with self.decoding:
            decode(raw)
        name = OWN + secrets.token_urlsafe(16)
        with self.lock:
            self.brought[visitor, name] = Hung(raw)
            mine = [key for key in self.brought if key[0] == visitor]
            for key in mine[:-EACH]:
                del self.brought[key]
            while sum(len(hung.raw) for hung in self.brought.values()) > self.room:
                self.brought.popitem(last=False)
        return name

    def find(self, visitor: str, name: str) -> Hung:
        """A picture by its name; the empty one is the first drawn. Raises PictureError for what is not there."""
        if not name.startswith(OWN):
            known = names()
            if (name or known[0]) not in known:
                raise PictureError(f"There is no picture {name[:40]!r}. Known: {', '.join(known)}, and your own.")
            return self.drawn[name or known[0]]
        with self.lock:
            if (visitor, name) not in self.brought:
                raise PictureError(GONE)
            self.brought.move_to_end((visitor, name))
            return self.brought[visitor, name]

    def seen(self, visitor: str, name: str, reads: Picture) -> View:
        """What a model sees of a picture."""
        hung = self.find(visitor, name)
        with self.decoding:
            if reads not in hung.views:
                hung.views[reads] = view(decode(hung.raw), reads)
                if len(hung.views) > VIEWS:
                    hung.views.popitem(last=False)
            return hung.views[reads]


@lru_cache(maxsize=1)
def gallery() -> Gallery:
    """The one gallery of this process."""
    return Gallery()


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The drawn pictures, in the order of their names."""
    return tuple(sorted(path.stem for path in (assets() / "pictures" / "inputs").glob("*.png")))


def _file(name: str) -> bytes:
    return (assets() / "pictures" / "inputs" / f"{name}.png").read_bytes()


# """Pictures come and go as files: one route takes what a visitor brings, another gives a picture to look at."""

SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}


async def bring(request: Request) -> Response:
    """Keep the picture in the body; the answer is its name, or the sentence that says why not."""
    try:
        raw = await _read(request)
        told = {"name": await asyncio.to_thread(gallery().bring, visitor(), raw)}
    except HeadlightError as error:
        told = {"error": str(error)}
    headers = {"Connection": "close", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(pack(told), headers=headers, media_type="application/octet-stream")


async def show(request: Request) -> Response:
    """The file of a drawn picture, or of one that this visitor brought."""
    name = request.path_params["name"]
    try:
        hung = gallery().find(visitor(), name)
    except PictureError as error:
        return PlainTextResponse(str(error), 404, SAFE)
    lasting = "no-store" if name.startswith(OWN) else "max-age=3600"
    return Response(hung.raw, headers=SAFE | {"Cache-Control": lasting}, media_type=hung.kind)


ROUTES = (
    Route("/api/picture", bring, methods=["POST"]),
    Route("/api/picture/{name}", show, methods=["GET"]),
)


async def _read(request: Request) -> bytes:
    """The body, of bounded size. Other sites' forms cannot send these content types without asking first."""
    if request.headers.get("content-type", "") not in KINDS.values():
        raise PictureError("This is no PNG, JPEG or WebP picture.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise PictureError(f"A picture may have {LARGEST >> 20} MB; make this one smaller.")
    return bytes(body)
