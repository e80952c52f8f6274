"""What every route has in common: a body of bounded size comes in, and a sentence or an answer goes out."""

from __future__ import annotations

import sys

from starlette.requests import Request
from starlette.responses import Response

from headlight.errors import HeadlightError, TextError

MAX_BODY_BYTES = 2 << 20
# The next letter comes over the same connection. On Windows, which does not tell which socket listens (see
# `_send_without_delay`), a small answer would then wait 40 ms for the acknowledgement of its first part.
ENDING = {"Connection": "close"} if sys.platform == "win32" else {}
HEADERS = {**ENDING, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


async def read_json(request: Request) -> bytes:
    """The body of a question. Other sites' forms cannot send this content type without asking first."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise TextError("Questions are sent as application/json.")
    return await read_body(
        request, MAX_BODY_BYTES, TextError("That is far more text than any model here reads. Shorten it.")
    )


async def read_body(request: Request, longest: int, too_long: HeadlightError) -> bytes:
    """The body of a request; raises `too_long` once more bytes than `longest` have come."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > longest:
            raise too_long
    return bytes(body)


def response(encoded: bytes) -> Response:
    """An encoded reply. A sentence is one too: with another status the browser would report an error of its own."""
    return Response(encoded, headers=HEADERS, media_type="application/octet-stream")
