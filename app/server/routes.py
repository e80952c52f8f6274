"""The HTTP routes that components ask directly, without a Streamlit rerun, on the same server.

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

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.compare.api import handle_compare
from app.explore.api import handle_head_metrics, handle_head_view, handle_qk_projection, handle_thumbnails
from app.explore.export import api
from app.explore.export.data import value_array
from app.explore.layer_analysis import (
    handle_head_ablation,
    handle_information_flow,
    handle_logit_attribution,
    handle_logit_lens,
    handle_negative_log_likelihood,
    handle_residual_norms,
)
from app.explore.walkthrough import handle_step_code, handle_walkthrough
from app.generate.api import handle_generate
from app.services.attention_payload import build_payload
from app.services.images import IMAGE_ROUTES
from app.services.resolved_question import resolve
from app.state.request import integer_or_zero, parse_question
from app.ui import modules
from app.ui.wire_format import pack
from model.errors import EditError, HeadlightError, TextError
from model.registry import Registry

MAX_BODY_BYTES = 2 << 20
HEAD_MATRIX_HOOK_POINTS = ("weights", "scores")
MAX_MATRIX_CELLS = 1 << 24  # numbers of one head: 64 MB
MAX_VISITORS = 1_000  # whose latest question is remembered
Handler = Callable[[dict[str, Any]], bytes]


class RequestWorker:
    """Runs handlers in a few threads outside the event loop; a superseded request is dropped before it is computed."""

    def __init__(self, workers: int = 2) -> None:
        self.executor = ThreadPoolExecutor(workers, thread_name_prefix="headlight")
        self.latest_request: OrderedDict[str, int] = OrderedDict()

    def record_request(self, visitor: str, number: int) -> None:
        """Remember that a client has sent request `number`."""
        self.latest_request[visitor] = max(number, self.latest_request.pop(visitor, 0))
        if len(self.latest_request) > MAX_VISITORS:
            self.latest_request.popitem(last=False)

    def is_superseded(self, visitor: str, number: int) -> bool:
        """Whether the visitor has asked something newer since."""
        return self.latest_request.get(visitor, 0) > number

    async def respond(self, request: Request, handler: Handler) -> Response:
        """One request: read it, work in a thread, answer; every failure becomes a sentence."""
        try:
            body = await _read_json(request)
            visitor, number = str(body.get("client_id", "")), integer_or_zero(body.get("request_number", 0))
            if visitor:
                self.record_request(visitor, number)

            def compute() -> bytes:
                if visitor and self.is_superseded(visitor, number):
                    return pack({"superseded": True})
                return handler(body)

            # With the request's context, which knows the visitor: without it nobody's uploads are found.
            packed = await asyncio.get_running_loop().run_in_executor(self.executor, copy_context().run, compute)
            return _response(packed)
        except HeadlightError as error:
            return _response(pack({"error": str(error)}))
        except Exception as error:  # the page must go on whatever happens; what was typed stays out of the log
            location = "".join(traceback.format_tb(error.__traceback__))
            logging.getLogger(__name__).error("%s\n%s", type(error).__name__, location)
            message = f"Something went wrong inside Headlight ({type(error).__name__}). Try another sentence or reload."
            return _response(pack({"error": message}))


def routes() -> list[Route]:
    """The routes of one server: `/api/NAME` for each of HANDLERS, and images as files."""
    worker = RequestWorker()

    def route(name: str) -> Route:
        async def ask(request: Request) -> Response:
            return await worker.respond(request, HANDLERS[name])

        return Route(f"/api/{name}", ask, methods=["POST"])

    return [*(route(name) for name in HANDLERS), *IMAGE_ROUTES, modules.route()]


def handle_trace(body: dict[str, Any]) -> bytes:
    """All heads as bytes, tokens and predictions; see `build_payload`."""
    start = perf_counter()
    meta, numbers = build_payload(resolve(parse_question(body)), integer_or_zero(body.get("query", -1)))
    return pack({**meta, "milliseconds": (perf_counter() - start) * 1_000}, numbers)


def handle_head_matrix(body: dict[str, Any]) -> bytes:
    """The exact float32 numbers of one head at one hook point of an attention, [query key], row by row."""
    path, head = str(body.get("path", "")), integer_or_zero(body.get("head", 0))
    if path.rpartition(".")[2] not in HEAD_MATRIX_HOOK_POINTS:
        raise EditError(
            f"{path!r} cannot be asked for; possible are {', '.join(HEAD_MATRIX_HOOK_POINTS)} of an attention."
        )
    matrix = value_array(resolve(parse_question(body)), f"{path}[{head}]", MAX_MATRIX_CELLS).values.astype("<f4")
    return pack({"rows": matrix.shape[0], "columns": matrix.shape[1]}, matrix.tobytes())


HANDLERS: Registry[Handler] = Registry(
    "route",
    {
        "trace": handle_trace,
        "head_matrix": handle_head_matrix,
        "head_view": handle_head_view,
        "thumbnails": handle_thumbnails,
        "qk_projection": handle_qk_projection,
        "head_metrics": handle_head_metrics,
        "generate": handle_generate,
        "compare": handle_compare,
        "walkthrough": handle_walkthrough,
        "step_code": handle_step_code,
        "logit_lens": handle_logit_lens,
        "residual_norms": handle_residual_norms,
        "logit_attribution": handle_logit_attribution,
        "negative_log_likelihood": handle_negative_log_likelihood,
        "information_flow": handle_information_flow,
        "head_ablation": handle_head_ablation,
        **api.EXPORT_HANDLERS,
    },
)


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
