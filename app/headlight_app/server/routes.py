"""The HTTP routes that components call directly, without a Streamlit rerun, on the same server.

Questions are sent as JSON in the body, so that typed text appears in no URL and no log.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from headlight.errors import HeadlightError, unforeseen
from headlight_app.compare import contract as compare
from headlight_app.contract import views
from headlight_app.contract.reply import Refusal, Replaced, Reply, WaitingAnswer
from headlight_app.contract.request import Request
from headlight_app.course import contract as course
from headlight_app.engine.client import submit, waiting_sentence
from headlight_app.engine.fair_queue import QueueFull, Superseded
from headlight_app.engine.job import Job
from headlight_app.engine.requests import decode_request
from headlight_app.explore import contract as explore
from headlight_app.export import contract as export
from headlight_app.generate import contract as generate
from headlight_app.lesson import contract as lesson
from headlight_app.room.rooms import Rooms
from headlight_app.server.images import IMAGE_ROUTES
from headlight_app.server.replies import read_json, response
from headlight_app.server.rooms import room_routes
from headlight_app.tasks import contract as tasks

CONTRACTS = (views, explore, tasks, compare, generate, course, lesson, export)
FULL_SECONDS = 1.0  # before a refusal, so that who asks again at once does not occupy the server with refusals


def http_requests() -> tuple[type[Request[Any]], ...]:
    """The requests that components send, in the order of the contracts."""
    kinds = (kind for contract in CONTRACTS for kind in vars(contract).values() if isinstance(kind, type))
    asked = (kind for kind in kinds if issubclass(kind, Request) and hasattr(kind, "route") and kind.is_http)
    return tuple(dict.fromkeys(asked))


def routes(rooms: Rooms) -> list[Route]:
    """The routes of one server: `/api/ROUTE` for each component request, and the routes of rooms and images."""

    def route(kind: type[Request[Any]]) -> Route:
        decoder = msgspec.json.Decoder(kind)

        async def ask(request: HttpRequest) -> Response:
            return await respond(request, decoder)

        return Route(f"/api/{kind.route}", ask, methods=["POST"])

    return [
        *map(route, http_requests()),
        Route("/api/waiting", tell_waiting, methods=["GET"]),
        *room_routes(rooms),
        *IMAGE_ROUTES,
        Route("/explore", _lead_to_first_page),
        Route("/reach", lambda request: Response(status_code=204), methods=["POST"]),  # asked by a page that waits
    ]


def tell_waiting(request: HttpRequest) -> Response:
    """Answer why the visitor's question is still waiting."""
    return response(Reply(WaitingAnswer(sentence=waiting_sentence())).encode())


def _lead_to_first_page(request: HttpRequest) -> Response:
    """Redirect /explore to the first page, with the query: Streamlit gives the first page no path of its own."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


async def respond(request: HttpRequest, decoder: msgspec.json.Decoder[Request[Any]]) -> Response:
    """Read one request and let the engine answer it; every failure becomes a sentence."""
    try:
        body = await read_json(request)
        return response(await _answer_while_wanted(submit(decode_request(decoder, body), body), request))
    except Superseded:
        return response(Reply(Replaced()).encode())
    except HeadlightError as error:
        if isinstance(error, QueueFull):
            await asyncio.sleep(FULL_SECONDS)
        return response(Reply(Refusal(error=str(error))).encode())
    except ClientDisconnect:
        raise
    except Exception as error:  # the page continues after any error; typed text is not logged
        location = "".join(traceback.format_tb(error.__traceback__))
        logging.getLogger(__name__).error("%s\n%s", type(error).__name__, location)
        return response(Reply(Refusal(error=unforeseen(error, "Try another sentence or reload."))).encode())


async def _answer_while_wanted(job: Job, request: HttpRequest) -> bytes:
    """The answer to a job; the job is cancelled if its client disconnects."""
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


async def _disconnected(request: HttpRequest) -> None:
    """Wait until the client disconnects; the body has been read, so no other message can arrive."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
