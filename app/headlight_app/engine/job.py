"""A request to the engine as it travels to a worker, and the job that waits for its answer."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event

import msgspec

from headlight.errors import HeadlightError


class EngineError(HeadlightError):
    """The engine could not answer: its sentence says why."""


class VisitorFolder(msgspec.Struct, frozen=True):
    """A checkpoint that only one visitor may open: its name in addresses, its title, and where it lies.

    `sent` is the folder of the whole upload, which may hold more than what is opened; empty for what is no upload.
    """

    name: str
    title: str
    folder: str
    sent: str = ""


class EngineRequest(msgspec.Struct, frozen=True):
    """A route, the JSON of its request, and the visitor's own models and pictures that the request names.

    `images` are the pictures' files by their names. One that `is_local` is answered on the page's machine. What is
    computed from a `visitor`'s texts is kept for them alone: its speed would tell others what was typed. Those whose
    `alike` is the same, and not empty, may be answered along with each other.
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
    """Where a request stands among those of one part of a page: a newer one makes it superfluous."""

    client: str
    number: int


@dataclass(eq=False)
class Job:
    """A request in the queue or at work. `seconds` is how long a worker may take, `stream` what supersedes it."""

    visitor: str
    request: EngineRequest
    seconds: float
    stream: Stream | None = None
    future: Future[bytes] = field(default_factory=Future)
    cancelled: Event = field(default_factory=Event)

    def cancel(self) -> None:
        """Stop it: where it waits it is never computed, where it runs its worker ends it."""
        self.cancelled.set()

    def finish(self, outcome: bytes | Exception) -> None:
        """Hand the answer or the error to the waiting request; the first outcome stands."""
        if self.future.done() or not self.future.set_running_or_notify_cancel():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)
