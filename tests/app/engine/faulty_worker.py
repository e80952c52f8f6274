"""A worker whose requests misbehave as a malicious file could make them."""

import ctypes
import json
import os
import time
from multiprocessing.connection import Connection

from headlight.cancellation import check_cancelled
from headlight.errors import TextError
from headlight_app.engine.engine import WorkerPool
from headlight_app.engine.job import EngineRequest, Job, Stream
from headlight_app.engine.worker_process import POLL_SECONDS
from headlight_app.inference.context import current_request
from headlight_app.worker import loop


def serve(connection: Connection) -> None:
    """The real worker loop with the handlers of these tests."""
    loop.run(connection, answer)


def answer(request: EngineRequest) -> bytes:
    """Run the handler that the route names."""
    body = json.loads(request.body)
    return {
        "echo": lambda: str(body["text"]).encode(),
        "process": lambda: str(os.getpid()).encode(),
        "folders": lambda: ",".join(one.name for one in current_request().checkpoints).encode(),
        "refuse": _refuse,
        "fail": lambda: str(1 / 0).encode(),
        "crash": lambda: ctypes.string_at(0),
        "hang": _hang,
        "spin": _spin,
        "sleep": lambda: _sleep(float(body["seconds"])),
        "fill": _fill,
    }[request.route]()


def _refuse() -> bytes:
    raise TextError("This text cannot be read.")


def _hang() -> bytes:
    """Hold the interpreter lock, as the tokenizers library does, so that no thread of this process runs."""
    ctypes.PyDLL(None).sleep(1_000)
    return b""


def _spin() -> bytes:
    """Loop forever."""
    while True:
        pass


def _sleep(seconds: float) -> bytes:
    """Work in steps; the job can be stopped between two of them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        check_cancelled()
        time.sleep(0.01)
    return b"slept"


def _fill() -> bytes:
    kept = []
    while True:
        kept.append(b"x" * (64 << 20))


def request(handler: str, body: str = "{}", alike: str = "") -> EngineRequest:
    """A request to this worker."""
    return EngineRequest(handler, body.encode(), alike=alike)


def put(
    lane: WorkerPool,
    handler: str,
    body: str = "{}",
    visitor: str = "anna",
    seconds: float = 60.0,
    stream: Stream | None = None,
    alike: str = "",
) -> Job:
    """Put a request to this worker into the queue of a lane."""
    job = Job(visitor, request(handler, body, alike), seconds, stream)
    lane.queue.put(job)
    return job


def put_to_work(lane: WorkerPool, handler: str, body: str = "{}", stream: Stream | None = None) -> Job:
    """Like `put` for long work; returns after a worker has started it."""
    job = put(lane, handler, body, seconds=2_000.0, stream=stream)
    while job.visitor not in lane.queue.running:
        time.sleep(POLL_SECONDS)
    return job
