"""Limits on a connection before its request is known: the size and time of the headers.

uvicorn bounds neither: it collects unfinished headers without end, and waits forever for the first byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from time import monotonic
from typing import cast

from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headlight_app.server.connections.open_connections import (
    LimitedConnection,
    connection_figures,
    connection_limit,
    make_room,
    raise_file_limit,
)
from headlight_app.server.connections.websocket_protocol import MAX_MESSAGE, LimitedWebSocket

MAX_HEADERS = 16 << 10  # bytes of a request's first line and headers
HEADER_SECONDS = 10.0  # from a connection, or the first byte of its next request, to the end of the headers
HEADERS_TOO_LARGE = (431, "The headers of this request are too large.")
HEADERS_TOO_SLOW = (408, "The headers of this request arrived too slowly.")
TOO_MANY_CONNECTIONS = (503, "This server has no free connection now. Close other pages, or try again in a moment.")


class LimitedProtocol(LimitedConnection, HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on headers and connections."""

    header_bytes = 0  # received since the last headers or piece of a body were complete
    known_bytes = 0  # of the request's address and headers, and of the headers after its body
    header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, in place of a waiting one if there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # so that all that is not read counts
        connections = cast(Collection[LimitedConnection], self.connections)  # this protocol, and that of WebSockets
        connection_figures().connections = connections
        self.opened_at = monotonic()
        self._start_header_timer()
        if not make_room(self, connections, connection_limit()):
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
    def is_waiting(self) -> bool:  # type: ignore[override]
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
