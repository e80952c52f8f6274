"""Limits on a connection before its request is known: the size and time of the headers, and who may hold how many.

uvicorn bounds neither: it collects unfinished headers without end, and waits forever for the first byte.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest
from time import monotonic
from typing import Any

from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from headlight_app.access.addresses import network_address

MAX_HEADERS = 16 << 10  # bytes of a request's first line and headers
HEADER_SECONDS = 10.0  # from a connection, or the first byte of its next request, to the end of the headers
MAX_CONNECTIONS = 2_048
SPARE_FILES = 256  # open files that connections leave to workers, uploads and the log
MAX_MESSAGE = 512 << 10  # bytes of one WebSocket message from a page
FRAMES, FRAMES_PER_SECOND = 500, 25.0  # of a page's WebSocket: at once, and then; a browser sends a few a second
PIECE = 4 << 10  # bytes of a WebSocket read before its frames are counted: 700 empty ones
UNREAD_SECONDS, MIN_READ = 20.0, 16 << 10  # in which a client has to read so many bytes of what is sent to it
HEADERS_TOO_LARGE = (431, "The headers of this request are too large.")
HEADERS_TOO_SLOW = (408, "The headers of this request arrived too slowly.")
TOO_MANY_CONNECTIONS = (503, "This server has no free connection now. Close other pages, or try again in a moment.")


@dataclass
class ConnectionFigures:
    """The open connections, and why the server has ended others since it started."""

    connections: Collection[Any] = ()
    ended: Counter[str] = field(default_factory=Counter)

    def waiting(self) -> int:
        """How many open connections wait for a request."""
        return sum(isinstance(each, LimitedProtocol) and each.is_waiting for each in tuple(self.connections))


@lru_cache(maxsize=1)
def connection_figures() -> ConnectionFigures:
    """The one instance of this process."""
    return ConnectionFigures()


class ReadInTime(asyncio.Protocol):
    """Ends connections whose client does not read what is sent to it: they hold memory and an open file."""

    transport: asyncio.Transport
    unread_timer: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """Go on, since the client has read everything."""
        super().resume_writing()
        if self.unread_timer is not None:
            self.unread_timer.cancel()

    def _expect_reading(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self.unread_timer = asyncio.get_running_loop().call_later(UNREAD_SECONDS, self._end_unread, unread)

    def _end_unread(self, before: int) -> None:
        unread = self.transport.get_write_buffer_size()
        if unread and before - unread < MIN_READ:
            connection_figures().ended["not read"] += 1
            self.transport.abort()
        elif unread:
            self._expect_reading()


class LimitedWebSocket(ReadInTime, WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol with limits on frames, however small they are.

    Each frame takes time, each part of a message a place in a list, and each ping an answer.
    """

    frames_until = 0.0  # when all frames so far would have arrived at FRAMES_PER_SECOND

    def data_received(self, data: bytes) -> None:
        """Read frames until there are too many."""
        for start in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + PIECE])

    def handle_cont(self, event: Frame) -> None:
        """Count a further part of a message."""
        self._count_frame()
        super().handle_cont(event)

    def handle_text(self, event: Frame) -> None:
        """Count a message."""
        self._count_frame()
        super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """Count a message."""
        self._count_frame()
        super().handle_bytes(event)

    def handle_ping(self) -> None:
        """Count a ping, and answer it."""
        self._count_frame()
        super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Count a pong."""
        self._count_frame()
        super().handle_pong(event)

    def _count_frame(self) -> None:
        now = monotonic()
        self.frames_until = max(self.frames_until, now) + 1 / FRAMES_PER_SECOND
        if self.frames_until - now > FRAMES / FRAMES_PER_SECOND and not self.transport.is_closing():
            connection_figures().ended["too many frames"] += 1
            self.transport.abort()


class LimitedProtocol(ReadInTime, HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on headers and connections."""

    header_bytes = 0  # received since the last headers or piece of a body were complete
    known_bytes = 0  # of the request's address and headers, and of the headers after its body
    header_timer: asyncio.TimerHandle | None = None
    opened_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, in place of a waiting one if there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # so that all that is not read counts
        connection_figures().connections = self.connections
        self.opened_at = monotonic()
        self._start_header_timer()
        if not make_room(self, self.connections, connection_limit()):
            self._refuse(*TOO_MANY_CONNECTIONS)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; end the connection if its headers are too large, also while another is answered."""
        if self.is_waiting and self.header_timer is None:
            self._start_header_timer()
        self.header_bytes += len(data)
        super().data_received(data)
        if not self.is_waiting:
            self._stop_header_timer()
        if self.header_bytes > MAX_HEADERS:
            self._refuse(*HEADERS_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        self.known_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, unless all are too large; some come after a body in chunks."""
        self.known_bytes += len(name) + len(value) + 4
        self._require_small()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the request, unless its headers are too large."""
        self._require_small()
        self.header_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of a body."""
        self.header_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self.header_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is none, unless it was refused already."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection to the WebSocket protocol, with limits for a page's messages."""
        self._stop_header_timer()
        self.ws_protocol_class = LimitedWebSocket
        self.config.ws_max_size = MAX_MESSAGE  # else the size of the largest message to a page
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a closed connection."""
        self._stop_header_timer()
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being answered: none has begun, or the last one is done."""
        return self.cycle is None or self.cycle.response_complete

    def _require_small(self) -> None:
        if self.known_bytes + len(self.url) > MAX_HEADERS:
            self._refuse(*HEADERS_TOO_LARGE)
            raise ValueError("too large")  # ends the parser

    def _start_header_timer(self) -> None:
        self.header_timer = self.loop.call_later(HEADER_SECONDS, self._end_slow_headers)

    def _stop_header_timer(self) -> None:
        if self.header_timer is not None:
            self.header_timer.cancel()
            self.header_timer = None

    def _end_slow_headers(self) -> None:
        if self.header_bytes:
            self._refuse(*HEADERS_TOO_SLOW)
        else:
            connection_figures().ended["no request"] += 1
            self.transport.close()

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer with a sentence, and end the connection."""
        self._stop_header_timer()
        if self.transport.is_closing():
            return
        connection_figures().ended[str(status)] += 1
        head = f"HTTP/1.1 {status} \r\ncontent-type: text/plain\r\ncontent-length: {len(sentence)}\r\nconnection: close"
        with suppress(OSError):
            self.transport.write(f"{head}\r\n\r\n{sentence}".encode())
        self.transport.close()


def use_limits() -> None:
    """Make the server that Streamlit starts use this protocol, for which Streamlit has no option."""
    raise_file_limit()
    HTTP_PROTOCOLS["auto"] = f"{__name__}:{LimitedProtocol.__name__}"


def make_room(newest: LimitedProtocol, connections: Collection[Any], limit: int) -> bool:
    """Whether a new connection may stay: one address has at most half of `limit`, and all together have `limit`.

    Beyond that, some connections that have waited longest for a request are closed: of the same address, or of the one
    with the most connections. If all of those are answering a request or hold a page, there is no room.
    """
    if len(connections) <= limit // 2:
        return True
    by_address = defaultdict(list)
    for each in connections:
        if each is not newest and not each.transport.is_closing():
            by_address[_address(each)].append(each)
    own = by_address[_address(newest)]
    if len(own) < limit // 2 and sum(map(len, by_address.values())) < limit:
        return True
    crowd = own if len(own) >= limit // 2 else max(by_address.values(), key=len)
    waiting = [each for each in crowd if isinstance(each, LimitedProtocol) and each.is_waiting]
    for each in nsmallest(1 + len(waiting) // 8, waiting, key=lambda each: each.opened_at):  # counting takes long
        connection_figures().ended["gave way"] += 1
        each.transport.close()
    return bool(waiting)


def _address(connection: Any) -> str:
    return network_address(connection.client[0] if connection.client else "")


def raise_file_limit() -> None:
    """Allow this process as many open files as the system lets it have without further rights, within reason."""
    if os.name == "nt":
        return  # has no such limit
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        reachable = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (reachable, hard))


@lru_cache(maxsize=1)
def connection_limit() -> int:
    """The most connections at a time, so that open files are left for the rest of the server."""
    if os.name == "nt":
        return MAX_CONNECTIONS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(16, min(MAX_CONNECTIONS, soft - SPARE_FILES))
