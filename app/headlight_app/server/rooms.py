"""The routes of rooms, and the short URL of a room."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from headlight.errors import HeadlightError
from headlight_app.access.addresses import page_site, shared_address
from headlight_app.access.settings import settings
from headlight_app.access.visitor import CURRENT_ADDRESS, current_visitor
from headlight_app.contract.reply import Refusal, Reply
from headlight_app.contract.request import Answer
from headlight_app.engine.requests import decode_request
from headlight_app.frame.places import KnownPlaces
from headlight_app.room.contract import (
    OfferedScenesRequest,
    RoomAnswerRequest,
    RoomEndRequest,
    RoomHandInRequest,
    RoomHandInsRequest,
    RoomLeaveRequest,
    RoomOpenRequest,
    RoomPanelRequest,
    RoomVisitRequest,
)
from headlight_app.room.panel import room_cookie
from headlight_app.room.rooms import CODE_LENGTH, LETTERS, Browser, RoomError, Rooms
from headlight_app.room.scenes import offered_scenes
from headlight_app.server.replies import read_json, response

CODE = re.compile(f"[{LETTERS}]{{{CODE_LENGTH}}}")
Act = Callable[[Browser, Any], Answer]


def room_routes(rooms: Rooms) -> list[Route]:
    """The route `/api/ROUTE` for each room request, and `/room/CODE`, which redirects to the room's view."""
    acts: Mapping[Any, Act] = {
        RoomOpenRequest: rooms.open,
        RoomPanelRequest: rooms.panel,
        RoomEndRequest: rooms.end,
        RoomVisitRequest: rooms.visit,
        RoomAnswerRequest: rooms.answer,
        RoomHandInRequest: rooms.hand_in,
        RoomHandInsRequest: rooms.hand_ins,
        RoomLeaveRequest: rooms.leave,
        OfferedScenesRequest: offered_scenes,
    }

    places = KnownPlaces()

    def route(kind: Any, act: Act) -> Route:
        decoder = msgspec.json.Decoder(kind)

        async def ask(request: HttpRequest) -> Response:
            return await _respond(request, decoder, act, places)

        return Route(f"/api/{kind.route}", ask, methods=["POST"])

    async def enter(request: HttpRequest) -> Response:
        return _lead_into(rooms, request.path_params["code"].upper())

    return [*(route(kind, act) for kind, act in acts.items()), Route("/room/{code}", enter)]


async def _respond(request: HttpRequest, decoder: msgspec.json.Decoder[Any], act: Act, places: KnownPlaces) -> Response:
    try:
        asked = decode_request(decoder, await read_json(request))
        names_place = isinstance(asked, RoomVisitRequest | RoomAnswerRequest | RoomHandInRequest)
        if names_place and not await places.has(asked.place):
            raise RoomError(f"This server has no place {asked.place}: it names a page, a screen or a step of a lesson.")
        visited = _visited(request)
        site = shared_address(visited) or page_site(visited)
        answer = act(Browser(current_visitor(), CURRENT_ADDRESS.get(), site), asked)
    except HeadlightError as error:
        answer = Refusal(error=str(error))
    return response(Reply(answer).encode())


def _visited(request: HttpRequest) -> str:
    """The address of the page that sent a request, or else of its folder.

    Behind a proxy the server's own address may lack the prefix and have another host or http in place of https.
    """
    origin = request.headers.get("origin") or f"{request.url.scheme}://{request.url.netloc}"
    referer = request.headers.get("referer", "")
    return referer if referer.startswith(f"{origin}/") else f"{origin}{settings().base_path}/"


def _lead_into(rooms: Rooms, code: str) -> Response:
    """Redirect to a room's view. A cookie gives the page the code; the page joins, or says that no room exists."""
    view = rooms.view_of(code)
    where = f"{view.page}{'?' if view.query else ''}{view.query}" if view else ""
    answer = RedirectResponse(f"../{where}", headers={"Cache-Control": "no-store"})
    if CODE.fullmatch(code):
        answer.set_cookie(room_cookie(), code, samesite="lax")
    return answer
