"""What components ask the backend directly, past Streamlit: routes on the same server.

Questions come as JSON in the body, so that no address and no log ever holds what somebody typed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import perf_counter
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.compare.api import compare_work
from app.explore.api import metrics_work, points_work, thumbs_work, view_work
from app.explore.export import api
from app.explore.layer_analysis import (
    ablation_work,
    contributions_work,
    depths_work,
    flow_work,
    stream_work,
    surprise_work,
)
from app.explore.walkthrough import code_work, steps_work
from app.generate.api import generate_work
from app.packing import pack
from app.services.attention_payload import answer
from app.services.images import ROUTES
from app.services.model_listing import look_once
from app.services.traces import value
from app.state.request import question_of, whole
from model.errors import EditError, HeadlightError, TextError
from model.registry import Registry

LARGEST_BODY = 2 << 20
SITES = ("weights", "scores")
VISITORS = 1_000  # whose latest question is remembered
Work = Callable[[dict[str, Any]], bytes]


class Desk:
    """Does the model's work outside the event loop, a few at a time; what nobody waits for any more is dropped."""

    def __init__(self, workers: int = 2) -> None:
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="headlight")
        self.latest: OrderedDict[str, int] = OrderedDict()

    def enter(self, visitor: str, number: int) -> None:
        """Remember that a visitor has asked question `number`."""
        self.latest[visitor] = max(number, self.latest.pop(visitor, 0))
        if len(self.latest) > VISITORS:
            self.latest.popitem(last=False)

    def superseded(self, visitor: str, number: int) -> bool:
        """Whether the visitor has asked something newer since."""
        return self.latest.get(visitor, 0) > number

    async def answer(self, request: Request, work: Work) -> Response:
        """One request: read it, work in a thread, answer; every failure becomes a sentence."""
        try:
            body = await _read(request)
            visitor, number = str(body.get("visitor", "")), whole(body.get("number", 0))
            if visitor:
                self.enter(visitor, number)

            def job() -> bytes:
                if visitor and self.superseded(visitor, number):
                    return pack({"superseded": True})
                look_once()
                return work(body)

            # With the request's context, which knows the visitor: without it nobody's uploads are found.
            packed = await asyncio.get_running_loop().run_in_executor(self.pool, copy_context().run, job)
            return _response(packed)
        except HeadlightError as error:
            return _response(pack({"error": str(error)}))
        except Exception as error:  # the page must go on whatever happens; what was typed stays out of the log
            where = "".join(traceback.format_tb(error.__traceback__))
            logging.getLogger(__name__).error("%s\n%s", type(error).__name__, where)
            told = f"Something went wrong inside Headlight ({type(error).__name__}). Try another sentence or reload."
            return _response(pack({"error": told}))


def routes() -> list[Route]:
    """The routes of one server: `/api/NAME` for each name in WORKS, with a desk of its own, and pictures as files."""
    desk = Desk()

    def route(name: str) -> Route:
        async def ask(request: Request) -> Response:
            return await desk.answer(request, WORKS[name])

        return Route(f"/api/{name}", ask, methods=["POST"])

    return [*(route(name) for name in WORKS), *ROUTES]


def trace_work(body: dict[str, Any]) -> bytes:
    """All heads as bytes, tokens and predictions; see `app.answers.answer`."""
    start = perf_counter()
    meta, numbers = answer(question_of(body), whole(body.get("query", -1)))
    return pack({**meta, "milliseconds": (perf_counter() - start) * 1_000}, numbers)


def values_work(body: dict[str, Any]) -> bytes:
    """The exact float32 numbers of one head at one attention site, [query key], row after row."""
    path, head = str(body.get("path", "")), whole(body.get("head", 0))
    if path.rpartition(".")[2] not in SITES:
        raise EditError(f"{path!r} cannot be asked for; possible are {', '.join(SITES)} of an attention.")
    array = value(question_of(body), path)
    if not 0 <= head < len(array):
        raise EditError(f"There is no head {head}; this layer has {len(array)}, counted from 0.")
    numbers = np.ascontiguousarray(array[head], dtype="<f4")
    return pack({"rows": numbers.shape[0], "columns": numbers.shape[1]}, numbers.tobytes())


WORKS: Registry[Work] = Registry(
    "route",
    {
        "trace": trace_work,
        "values": values_work,
        "view": view_work,
        "thumbs": thumbs_work,
        "points": points_work,
        "metrics": metrics_work,
        "generate": generate_work,
        "compare": compare_work,
        "steps": steps_work,
        "code": code_work,
        "depths": depths_work,
        "stream": stream_work,
        "contributions": contributions_work,
        "surprise": surprise_work,
        "flow": flow_work,
        "ablation": ablation_work,
        **api.WORKS,
    },
)


async def _read(request: Request) -> dict[str, Any]:
    """The JSON body, of bounded size. Other sites' forms cannot send this content type without asking first."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise TextError("Questions are sent as application/json.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise TextError("That is far more text than any model here reads. Shorten it.")
    try:
        read = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise TextError("The question is no JSON.") from error
    if not isinstance(read, dict):
        raise TextError("The question is no JSON object.")
    return read


def _response(packed: bytes) -> Response:
    # A sentence is an answer too: with another status the browser would report an error of its own.
    # On a kept-alive connection a small answer waits 40 ms for a delayed acknowledgement; closing avoids that.
    headers = {"Connection": "close", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(packed, headers=headers, media_type="application/octet-stream")
