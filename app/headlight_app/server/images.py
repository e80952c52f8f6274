"""The routes that receive and serve pictures and recordings."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from headlight.errors import HeadlightError, ImageError
from headlight_app.access.images import IMAGE_TOO_LARGE, MAX_IMAGE_BYTES, MEDIA_TYPES, RECORDING_TYPE, image_store
from headlight_app.access.visitor import current_visitor
from headlight_app.contract.question import OWN_IMAGE_PREFIX
from headlight_app.contract.reply import ImageAnswer, Refusal, Reply
from headlight_app.engine.client import check_image
from headlight_app.server.replies import read_body, response

ICON = Path(__file__).parent.parent / "frame" / "static" / "icon.png"
SECURITY_HEADERS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}


async def receive_image(request: Request) -> Response:
    """Store the picture or recording in the body. The answer is its name, or an error sentence."""
    try:
        data = await _read_body(request)
        check = check_image(data, recording=_media_type(request) == RECORDING_TYPE)
        await asyncio.wrap_future(check.future)  # not in a thread: there are few, and a newcomer may wait for long
        reply: Reply[ImageAnswer | Refusal] = Reply(ImageAnswer(name=image_store().add(current_visitor(), data)))
    except HeadlightError as error:
        reply = Reply(Refusal(error=str(error)))
    return response(reply.encode())


async def send_image(request: Request) -> Response:
    """Send the file of a shipped image or of this visitor's upload."""
    name = request.path_params["name"]
    try:
        image = image_store().find(current_visitor(), name)
    except ImageError as error:
        return PlainTextResponse(str(error), 404, SECURITY_HEADERS)
    cache_control = "no-store" if name.startswith(OWN_IMAGE_PREFIX) else "max-age=3600"
    return Response(
        image.data, headers=SECURITY_HEADERS | {"Cache-Control": cache_control}, media_type=image.media_type
    )


def send_icon(request: Request) -> Response:
    """Send the icon of the page, at the path in Streamlit's HTML."""
    headers = SECURITY_HEADERS | {"Cache-Control": "max-age=3600"}
    return Response(ICON.read_bytes(), headers=headers, media_type="image/png")


IMAGE_ROUTES = (
    Route("/favicon.png", send_icon, methods=["GET"]),
    Route("/api/image", receive_image, methods=["POST"]),
    Route("/api/image/{name}", send_image, methods=["GET"]),
)


async def _read_body(request: Request) -> bytes:
    """The body, of bounded size. Forms of other sites cannot send these content types without a CORS preflight."""
    if _media_type(request) not in (*MEDIA_TYPES.values(), RECORDING_TYPE):
        raise ImageError("This is not a PNG, JPEG or WebP picture.")
    return await read_body(request, MAX_IMAGE_BYTES, ImageError(IMAGE_TOO_LARGE))


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "")
