"""The loop of a worker process: reads requests and writes replies until the pipe closes.

It does not import the request table, so a test worker starts without torch.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

import msgspec

from headlight.cancellation import Cancelled, cancellable
from headlight.errors import HeadlightError, unforeseen
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.memory import give_back_memory
from headlight_app.engine.worker_process import ANSWER, ASK, CANCEL, READY, SENTENCE
from headlight_app.inference.context import answering

IDLE_SECONDS = 0.2  # without a request, as during the first page run; then the worker prepares for later requests
REST_SECONDS = 30.0  # without a request; then the worker gives memory back
TRIM_SECONDS = 30.0  # between two returns of free memory, which take 10 ms each


Asked = tuple[bytes, EngineRequest]  # a request and its number
_MESSAGE: msgspec.msgpack.Decoder[list[Asked]] = msgspec.msgpack.Decoder(list[Asked])


class Inbox(Thread):
    """Reads the pipe in a thread, so that a running request can be cancelled."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(daemon=True, name="inbox")
        self.connection = connection
        self.requests: SimpleQueue[list[Asked]] = SimpleQueue()
        self.cancelled: set[bytes] = set()  # numbers of cancelled requests in the last message

    def run(self) -> None:
        """Read until the server closes the pipe, then end the process."""
        try:
            while True:
                message = self.connection.recv_bytes()
                if message[:1] == ASK:
                    self.cancelled.clear()
                    self.requests.put(_MESSAGE.decode(message[1:]))
                elif message[:1] == CANCEL:
                    self.cancelled.add(message[1:9])
        except (EOFError, OSError):
            os._exit(0)


def run(
    connection: Connection,
    answer: Callable[[EngineRequest], bytes],
    prepare: Callable[[Sequence[EngineRequest]], None] = lambda requests: None,
    when_idle: Sequence[Callable[[], object]] = (),
    at_rest: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests, one after the other.

    For requests that arrive together, `prepare` first computes their shared parts. The functions of `when_idle` are
    called one by one, each after IDLE_SECONDS without a request, and `at_rest` after REST_SECONDS.
    """
    inbox = Inbox(connection)
    inbox.start()
    connection.send_bytes(READY)
    trimmed_at = monotonic()
    ahead = list(when_idle)
    while True:
        asked = next_requests(inbox, ahead, at_rest)
        with cancellable(partial(inbox.cancelled.issuperset, [number for number, _ in asked])):
            _prepare_all([request for number, request in asked if number not in inbox.cancelled], prepare)
        for number, request in asked:
            with cancellable(partial(inbox.cancelled.__contains__, number)):
                kind, content = outcome(request, answer)
            connection.send_bytes(kind + number + content)
        if monotonic() - trimmed_at > TRIM_SECONDS:
            give_back_memory()
            trimmed_at = monotonic()


def next_requests(
    inbox: Inbox, ahead: list[Callable[[], object]], at_rest: Callable[[], None] = lambda: None
) -> list[Asked]:
    """Wait for the next requests; meanwhile, start the idle tasks in `ahead` in threads, and give memory back."""
    while ahead:
        with suppress(Empty):
            return inbox.requests.get(timeout=IDLE_SECONDS)
        Thread(target=ahead.pop(0), daemon=True, name="ahead").start()
    with suppress(Empty):
        return inbox.requests.get(timeout=REST_SECONDS)
    at_rest()
    give_back_memory()
    return inbox.requests.get()


def _prepare_all(requests: Sequence[EngineRequest], prepare: Callable[[Sequence[EngineRequest]], None]) -> None:
    """Prepare. If that fails, each request computes everything itself and reports its own error."""
    try:
        prepare(requests)
    except (Cancelled, HeadlightError, MemoryError):
        return
    except BaseException as error:
        _log(error)


def outcome(request: EngineRequest, answer: Callable[[EngineRequest], bytes]) -> tuple[bytes, bytes]:
    """ANSWER and the answer to a request, or SENTENCE and the error sentence."""
    try:
        with answering(request):
            return ANSWER, answer(request)
    except Cancelled:
        return SENTENCE, b"cancelled"
    except HeadlightError as error:
        return SENTENCE, str(error).encode("utf-8", "replace")
    except MemoryError:
        return SENTENCE, b"This needs more memory than a question may take here. Shorten the text."
    except BaseException as error:  # a panic of the tokenizers library is not an Exception
        _log(error)
        return SENTENCE, unforeseen(error, "Try another sentence or reload.").encode()


def _log(error: BaseException) -> None:
    location = "".join(traceback.format_tb(error.__traceback__))  # typed text is not logged
    logging.getLogger(__name__).error("%s\n%s", type(error).__name__, location)
