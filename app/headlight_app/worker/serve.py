"""The worker process's entry point: the loop, with a function for each route."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

import msgspec
import torch

from headlight.errors import CheckpointError, HeadlightError
from headlight_app.engine.job import EngineRequest
from headlight_app.explore.contract import QueryRequest
from headlight_app.inference.context import answering
from headlight_app.inference.shared_runs import planned_runs, run_together
from headlight_app.worker import loop
from headlight_app.worker.cache_sizes import shrink_caches
from headlight_app.worker.first_table import FIRST_ANSWERS, Row

DEVICE_FULL = (
    "The memory of the GPU is full, so this has no answer. Shorten the text, choose a smaller model, or let "
    "the processor compute it."
)


def serve(connection: Connection) -> None:
    """Answer requests one after the other; requests of several visitors share one forward pass."""
    loop.run(connection, answer, prepare, when_idle=(all_rows,), at_rest=shrink_caches)


def prepare(requests: Sequence[EngineRequest]) -> None:
    """Compute the runs for several requests, with one forward pass per model."""
    planned = []
    for request in requests:
        kind, _ = _row(request.route)
        if kind.shares_runs and issubclass(kind, QueryRequest):
            with answering(request), suppress(HeadlightError):  # reported when the request is answered
                asked = msgspec.json.decode(request.body, type=kind)
                planned += planned_runs(asked.question, asked.query, is_alone=len(requests) == 1)
    with _device_memory():
        run_together(planned)


def outcome(request: EngineRequest) -> tuple[bytes, bytes]:
    """ANSWER and the answer to a request, or SENTENCE and the error sentence."""
    return loop.outcome(request, answer)


def answer(request: EngineRequest) -> bytes:
    """The reply to a request."""
    kind, function = _row(request.route)
    with _device_memory():
        return function(msgspec.json.decode(request.body, type=kind)).encode()


def _row(route: str) -> Row:
    """A request's row; the rows outside `first_table` are imported when idle or first needed."""
    return FIRST_ANSWERS.get(route) or all_rows()[route]


def all_rows() -> Mapping[str, Row]:
    """The rows of all requests; a template calls this before it forks."""
    from headlight_app.worker.table import ANSWERS

    return ANSWERS


@contextmanager
def _device_memory() -> Iterator[None]:
    """Turn an out-of-memory error of the GPU into a sentence, and free its unused cached memory."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        raise CheckpointError(DEVICE_FULL) from error
