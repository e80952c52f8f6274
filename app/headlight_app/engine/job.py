"""A request as it is sent to a worker, and the job that waits for its answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event

import msgspec

from headlight.errors import HeadlightError


class EngineError(HeadlightError):
    """The engine could not answer; the message says why."""


class VisitorFolder(msgspec.Struct, frozen=True):
    """A checkpoint that only one visitor may open: its name in URLs, its title, and its folder.

    `sent` is the folder of the whole upload, which may contain more than `folder`; empty if it is not an upload.
    """

    name: str
    title: str
    folder: str
    sent: str = ""


class EngineRequest(msgspec.Struct, frozen=True):
    """A route, the JSON of its request, and the visitor's own models and pictures that the request names.

    `images` maps names to file contents. A request that `is_local` is answered on the server's machine. Results from
    a `visitor`'s texts are cached for that visitor only, since the speed of a shared cache would reveal what was
    typed. Requests with the same non-empty `alike` may be answered together.
    """

    route: str
    body: bytes
    checkpoints: tuple[VisitorFolder, ...] = ()
    images: dict[str, bytes] = {}
    is_local: bool = False
    visitor: str = ""
    alike: str = ""


@dataclass(frozen=True)
class Stream:
    """The part of a page that sent a request, and the request's number: a higher number supersedes it."""

    client: str
    number: int


@dataclass(eq=False)
class Job:
    """A waiting or running request. A worker may take `seconds`; a newer job of its `stream` supersedes it.

    `address` is the network address of the component that asks. `took` is the job's part of the seconds in which a
    worker answered it and others together; 0 if none has. The functions of `at_end` are called once, when it is
    finished; callbacks of the future would refer to the job, and keep its answer until a garbage collection.
    """

    visitor: str
    request: EngineRequest
    seconds: float
    stream: Stream | None = None
    future: Future[bytes] = field(default_factory=Future)
    cancelled: Event = field(default_factory=Event)
    address: str = ""
    took: float = 0.0
    at_end: list[Callable[[], None]] = field(default_factory=list)

    def cancel(self) -> None:
        """Cancel it: a waiting job is never computed, a running one is stopped by its worker."""
        self.cancelled.set()

    def finish(self, outcome: bytes | Exception) -> None:
        """Pass the answer or the error to the waiting caller; later outcomes are ignored."""
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            if isinstance(outcome, Exception):
                self.future.set_exception(outcome)
            else:
                self.future.set_result(outcome)
        while self.at_end:
            self.at_end.pop()()
