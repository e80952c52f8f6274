"""Limits on the bodies of requests while they arrive: uploads, questions, pictures and recordings."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from time import monotonic

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import exists, get_instance
from streamlit.runtime.stats import CacheStat

from headlight.errors import HeadlightError
from headlight_app.access.settings import settings
from headlight_app.access.visitor import CURRENT_ADDRESS, current_queue
from headlight_app.server.rate import MAX_WAIT, Rate

UPLOAD_PATH = "/_stcore/upload_file/"
API_PATH = "/api/"
SLOW_SECONDS = 20.0  # longest pause between two chunks, and grace time before the minimum rate applies
MIN_BYTES_PER_SECOND = 32 << 10
SMALL_BODY = 64 << 10  # bytes of a question, picture or recording that always have room, as letters do
OWN_BODIES, ALL_BODIES = 128 << 20, 512 << 20  # bytes beyond, of a network address and of all
BYTES_PER_SECOND, BYTES_AT_ONCE = 8 << 20, 64 << 20  # the same of an address, as they arrive
TAKE_SECONDS = 60.0  # after which an uploaded file that no page has taken is dropped
NO_ROOM = "There is no room for uploads now."
TOO_SLOW = "This upload was stopped because it arrived too slowly."
SLOW_QUESTION = "This question was stopped because it arrived too slowly. Try again."
NO_ROOM_FOR_BODY = "This server is busy with other large questions and pictures now. Wait a moment, then try again."
OWN_FACTOR = 2  # times the upload limit: one visitor's incoming files
PENDING_FACTOR = 4  # times the upload limit: all files in memory before they are unpacked


class UploadLimiter:
    """Bounds the memory of incoming uploads, which Streamlit keeps in memory until the page takes them.

    Bytes are counted as they arrive. Each visitor has a share of the room, uploads that arrive too slowly are refused,
    and a file that no page takes is dropped.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.arriving: Counter[str] = Counter()  # bytes by queue name
        self.last_sent: dict[str, float] = {}  # when a session last sent something

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 408, 411 or 507."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            await PlainTextResponse("Say how long the file is.", 411)(scope, receive, send)
            return
        self._drop_forgotten()
        visitor = current_queue()
        if not self._has_room(visitor, int(length)):
            await PlainTextResponse(NO_ROOM, 507)(scope, receive, send)
            return
        session = scope["path"].partition(UPLOAD_PATH)[2].partition("/")[0]
        is_open = exists() and get_instance().is_active_session(session)  # no other has files
        counted = CountedBody(receive, lambda size: self._arrive(visitor, size), HTTPException(408, TOO_SLOW))
        try:
            await self.app(scope, counted.receive, send)
        finally:
            self.arriving[visitor] -= counted.size
            self.arriving += Counter()  # removes zero counts
            if is_open:
                self.last_sent[session] = monotonic()

    def _arrive(self, visitor: str, size: int) -> None:
        self.arriving[visitor] += size
        if not self._has_room(visitor, 0):
            raise HTTPException(507, NO_ROOM)

    def _has_room(self, visitor: str, size: int) -> bool:
        limit = settings().upload_limit << 20
        own, everybodys = self.arriving[visitor] + size, self.arriving.total() + _pending_bytes() + size
        return own <= OWN_FACTOR * limit and everybodys <= PENDING_FACTOR * limit

    def _drop_forgotten(self) -> None:
        """Drop the files of sessions that sent nothing for TAKE_SECONDS: a page takes its files almost at once."""
        forgotten = [session for session, last in self.last_sent.items() if monotonic() - last > TAKE_SECONDS]
        for session in forgotten:
            del self.last_sent[session]
            get_instance().uploaded_file_mgr.remove_session_files(session)


class BodyLimiter:
    """Bounds the memory and time of questions, pictures and recordings, from their first byte to their answer.

    A visitor may send many at once, and each is in memory while it arrives and waits, so an address has a budget. Each
    byte takes time of the event loop that forwards keystrokes, so the bytes of an address also have a rate.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.held: Counter[str] = Counter()  # bytes by address
        self.rate = Rate(BYTES_PER_SECOND, BYTES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Its route gets a HeadlightError in place of a body that is too slow or has no room."""
        if scope["type"] != "http" or API_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        address, kept, wait = CURRENT_ADDRESS.get(), 0, 0.0

        def arrive(size: int) -> None:
            nonlocal kept, wait
            more = max(0, counted.size - SMALL_BODY) - kept
            self.held[address] += more
            kept += more
            if more and (self.held[address] > OWN_BODIES or self.held.total() > ALL_BODIES):
                raise HeadlightError(NO_ROOM_FOR_BODY)
            wait = min(self.rate.wait(address, more), MAX_WAIT) if more else 0.0

        async def paced() -> Message:
            message = await counted.receive()
            if wait and message["type"] == "http.request":
                counted.begun += wait
                await asyncio.sleep(wait)
            return message

        counted = CountedBody(receive, arrive, HeadlightError(SLOW_QUESTION))
        try:
            await self.app(scope, paced, send)
        finally:
            self.held[address] -= kept
            self.held += Counter()  # removes zero counts


class CountedBody:
    """The body of a request. Raises `too_slow` if it arrives too slowly."""

    def __init__(self, receive: Receive, arrive: Callable[[int], None], too_slow: Exception) -> None:
        self.wrapped, self.arrive, self.too_slow = receive, arrive, too_slow
        self.size, self.begun, self.is_complete = 0, monotonic(), False

    async def receive(self) -> Message:
        """The next chunk; after the last, the end of the connection."""
        if self.is_complete:
            return await self.wrapped()
        try:
            async with asyncio.timeout(SLOW_SECONDS):
                message = await self.wrapped()
        except TimeoutError as error:
            raise self.too_slow from error
        self.is_complete = not message.get("more_body")
        size = len(message.get("body", b""))
        self.size += size
        self.arrive(size)
        if self.size < MIN_BYTES_PER_SECOND * (monotonic() - self.begun - SLOW_SECONDS):
            raise self.too_slow
        return message


def _pending_bytes() -> int:
    """Bytes of the uploaded files that no page has taken yet."""
    if not exists():
        return 0
    stats_by_kind = get_instance().uploaded_file_mgr.get_stats()
    return sum(stat.byte_length for stats in stats_by_kind.values() for stat in stats if isinstance(stat, CacheStat))
