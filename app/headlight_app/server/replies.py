"""Shared by all routes: reading a body of bounded size, and sending an encoded reply."""

from __future__ import annotations

import sys

from starlette.requests import Request
from starlette.responses import Response

from headlight.errors import HeadlightError, TextError

MAX_BODY_BYTES = 2 << 20
# Keep-alive would reuse the connection. On Windows the listening sockets cannot be found (see `_send_without_delay`),
# so the second write of a small answer would wait 40 ms for the acknowledgement of the first.
ENDING = {"Connection": "close"} if sys.platform == "win32" else {}
HEADERS = {**ENDING, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


async def read_json(request: Request) -> bytes:
    """The JSON body of a request. Forms of other sites cannot send this content type without a CORS preflight."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise TextError("Questions are sent as application/json.")
    return await read_body(
        request, MAX_BODY_BYTES, TextError("That is far more text than any model here reads. Shorten it.")
    )


async def read_body(request: Request, longest: int, too_long: HeadlightError) -> bytes:
    """The body of a request. Raises `too_long` once more than `longest` bytes have arrived."""
    chunks, size = list[bytes](), 0
    async for chunk in request.stream():
        chunks.append(chunk)
        size += len(chunk)
        if size > longest:
            raise too_long
    return b"".join(chunks)


def response(encoded: bytes) -> Response:
    """The response with an encoded reply, always status 200: other statuses would log errors in the browser."""
    return Response(encoded, headers=HEADERS, media_type="application/octet-stream")
