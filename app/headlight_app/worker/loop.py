"""The loop of a worker process: a request in, bytes out, until the pipe closes.

It knows no route, so a worker of tests starts without torch.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic

import msgspec

from headlight.cancellation import Cancelled, cancellable
from headlight.errors import HeadlightError, unforeseen
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.worker_process import ANSWER, ASK, CANCEL, READY, SENTENCE
from headlight_app.inference.context import answering

TRIM_SECONDS = 30.0  # between two times that memory is given back, which takes a hundredth of a second


class Inbox(Thread):
    """Reads the pipe beside the work, so that a request can be cancelled while it is answered."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(daemon=True, name="inbox")
        self.connection = connection
        self.requests: SimpleQueue[tuple[bytes, bytes]] = SimpleQueue()
        self.cancelled = Event()
        self.current = b""

    def run(self) -> None:
        """Read until the server is gone, then end: no one waits for the answer any more."""
        try:
            while True:
                message = self.connection.recv_bytes()
                if message[:1] == ASK:
                    self.cancelled.clear()
                    self.current = message[1:9]
                    self.requests.put((message[1:9], message[9:]))
                elif message[:1] == CANCEL and message[1:9] == self.current:
                    self.cancelled.set()
        except (EOFError, OSError):
            os._exit(0)


def run(connection: Connection, answer: Callable[[EngineRequest], bytes]) -> None:
    """Answer requests, one at a time."""
    inbox = Inbox(connection)
    inbox.start()
    connection.send_bytes(READY)
    trimmed_at = monotonic()
    while True:
        number, encoded = inbox.requests.get()
        with cancellable(inbox.cancelled.is_set):
            kind, content = outcome(msgspec.msgpack.decode(encoded, type=EngineRequest), answer)
        connection.send_bytes(kind + number + content)
        if monotonic() - trimmed_at > TRIM_SECONDS:
            give_back_memory()
            trimmed_at = monotonic()


def give_back_memory() -> None:
    """Return to the system what lies free between what is kept: caches that are full leave ever more of such holes."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # musl has none
    if trim:
        trim(0)


def outcome(request: EngineRequest, answer: Callable[[EngineRequest], bytes]) -> tuple[bytes, bytes]:
    """ANSWER and the answer to a request, or SENTENCE and the sentence that says why there is none."""
    try:
        with answering(request):
            return ANSWER, answer(request)
    except Cancelled:
        return SENTENCE, b"cancelled"
    except HeadlightError as error:
        return SENTENCE, str(error).encode("utf-8", "replace")
    except MemoryError:
        return SENTENCE, b"This needs more memory than a question may take here. Shorten the text."
    except BaseException as error:  # a panic of the tokenizers library is no Exception
        location = "".join(traceback.format_tb(error.__traceback__))  # typed text stays out of the log
        logging.getLogger(__name__).error("%s\n%s", type(error).__name__, location)
        return SENTENCE, unforeseen(error, "Try another sentence or reload.").encode()
