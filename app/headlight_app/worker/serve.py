"""What a worker process runs: the loop, with an answer to each route."""

from __future__ import annotations

from multiprocessing.connection import Connection

import msgspec

from headlight_app.engine.job import EngineRequest
from headlight_app.worker import loop
from headlight_app.worker.table import ANSWERS


def serve(connection: Connection) -> None:
    """Answer requests, one at a time."""
    loop.run(connection, answer)


def outcome(request: EngineRequest) -> tuple[bytes, bytes]:
    """ANSWER and the answer to a request, or SENTENCE and the sentence that says why there is none."""
    return loop.outcome(request, answer)


def answer(request: EngineRequest) -> bytes:
    """The reply to a request."""
    kind, function = ANSWERS[request.route]
    return function(msgspec.json.decode(request.body, type=kind)).encode()
