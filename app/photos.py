"""Pictures come and go as files: one route takes what a visitor brings, another gives a picture to look at."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.gallery import KINDS, LARGEST, gallery
from app.packing import pack
from app.state import OWN
from app.visitor import visitor
from model.errors import HeadlightError, PictureError

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
