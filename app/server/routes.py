"""The HTTP routes that components ask directly, without a Streamlit rerun, on the same server.

Questions come as JSON in the body, so that no address and no log ever holds what somebody typed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.engine.client import submit
from app.engine.fair_queue import Superseded
from app.engine.handlers import HANDLERS
from app.engine.job import Job, Stream
from app.server.images import IMAGE_ROUTES
from app.state.request import integer_or_zero
from app.ui import modules
from app.ui.wire_format import pack
from model.errors import HeadlightError, TextError, unforeseen

MAX_BODY_BYTES = 2 << 20
MAX_CLIENT_LENGTH = 64  # characters by which a part of a page is told from others of the same visitor


def routes() -> list[Route]:
    """The routes of one server: pages, `/api/NAME` for each handler that components ask, images and modules."""

    def route(name: str) -> Route:
        async def ask(request: Request) -> Response:
            return await respond(request, name)

        return Route(f"/api/{name}", ask, methods=["POST"])

    answers = (route(name) for name, row in HANDLERS.items() if row.is_route)
    return [*answers, *IMAGE_ROUTES, modules.route(), Route("/explore", _lead_to_first_page)]


def _lead_to_first_page(request: Request) -> Response:
    """The first page has no path of its own for Streamlit; who types its name gets there with all that they asked."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


async def respond(request: Request, handler: str) -> Response:
    """One request: read it, let the engine answer; every failure becomes a sentence."""
    try:
        body = await _read_json(request)
        client, number = str(body.get("client_id", ""))[:MAX_CLIENT_LENGTH], integer_or_zero(body.get("request_number"))
        job = submit(handler, body, stream=Stream(client, number) if client else None)
        return _response(await _answer_while_wanted(job, request))
    except Superseded:
        return _response(pack({"superseded": True}))
    except HeadlightError as error:
        return _response(pack({"error": str(error)}))
    except Exception as error:  # the page must go on whatever happens; what was typed stays out of the log
        location = "".join(traceback.format_tb(error.__traceback__))
        logging.getLogger(__name__).error("%s\n%s", type(error).__name__, location)
        return _response(pack({"error": unforeseen(error, "Try another sentence or reload.")}))


async def _answer_while_wanted(job: Job, request: Request) -> bytes:
    """The answer to a job, which is stopped where whoever asked is gone."""
    answer: asyncio.Future[Any] = asyncio.wrap_future(job.future)
    gone: asyncio.Future[Any] = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            job.cancel()
        found: bytes = await answer
        return found
    finally:
        gone.cancel()


async def _disconnected(request: Request) -> None:
    """Wait until the browser has gone away; the body is read already, so nothing else can come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _read_json(request: Request) -> dict[str, Any]:
    """The JSON body, of bounded size. Other sites' forms cannot send this content type without asking first."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise TextError("Questions are sent as application/json.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise TextError("That is far more text than any model here reads. Shorten it.")
    try:
        question = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise TextError("The question is no JSON.") from error
    if not isinstance(question, dict):
        raise TextError("The question is no JSON object.")
    return question


def _response(packed: bytes) -> Response:
    # A sentence is an answer too: with another status the browser would report an error of its own.
    # On a kept-alive connection a small answer waits 40 ms for a delayed acknowledgement; closing avoids that.
    headers = {"Connection": "close", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(packed, headers=headers, media_type="application/octet-stream")
