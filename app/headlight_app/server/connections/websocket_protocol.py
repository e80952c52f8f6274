"""Limits on what a page sends through its WebSocket, before a message is complete."""

from __future__ import annotations

import asyncio
from time import monotonic

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from headlight_app.server.connections.open_connections import LimitedConnection, connection_figures

MAX_MESSAGE = 512 << 10  # bytes of one message
FRAMES, FRAMES_PER_SECOND = 500, 25.0  # at once, and then; a browser sends a few a second
MESSAGE_SECONDS = 20.0  # from the first byte of a message to its last
OWN_UNFINISHED, ALL_UNFINISHED = 8 << 20, 64 << 20  # bytes of incomplete messages, of a network address and of all
PIECE = 4 << 10  # bytes read before their frames are counted: 700 empty ones


class LimitedWebSocket(LimitedConnection, WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol with limits on frames, however small they are, and on incomplete messages.

    Each frame takes time, each part of a message a place in a list, each ping an answer, and each incomplete message
    memory.
    """

    frames_until = 0.0  # when all frames so far would have arrived at FRAMES_PER_SECOND
    unfinished = 0  # bytes of an incomplete message
    message_timer: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Read frames until there are too many, or too much of incomplete messages."""
        for start in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + PIECE])
            self._hold(len(self.conn.reader.buffer) + sum(map(len, self.frames)))

    def handle_events(self) -> None:
        """Count the frames, then handle them."""
        for _ in self.conn.events:
            self._count_frame()
        super().handle_events()

    def send_receive_event_to_app(self) -> None:
        """Hand on a complete message."""
        self._stop_timer()
        super().send_receive_event_to_app()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a closed connection, and what it has sent of a message."""
        self._hold(0)
        super().connection_lost(exc)

    def _count_frame(self) -> None:
        now = monotonic()
        self.frames_until = max(self.frames_until, now) + 1 / FRAMES_PER_SECOND
        if self.frames_until - now > FRAMES / FRAMES_PER_SECOND and not self.transport.is_closing():
            self.end("too many frames")

    def _hold(self, size: int) -> None:
        """Record the bytes of an incomplete message; if there is no room for more, the largest one goes."""
        everybodys, more = connection_figures().unfinished, size - self.unfinished
        self.unfinished = size
        everybodys[self.address] += more
        if not everybodys[self.address]:
            del everybodys[self.address]
        if not size:
            self._stop_timer()
        elif self.message_timer is None:
            self._start_timer()
        is_crowd = everybodys[self.address] > OWN_UNFINISHED
        if more > 0 and (is_crowd or everybodys.total() > ALL_UNFINISHED):
            self._end_largest(self.address if is_crowd else "")

    def _end_largest(self, address: str) -> None:
        """End the page with the most of an incomplete message, of one network address if it is given.

        A proxy is one address for all its visitors, so the newest message may be of somebody else.
        """
        pages = [each for each in self.connections if isinstance(each, LimitedWebSocket)]
        largest = max(
            (each for each in pages if each.address == address or not address), key=lambda each: each.unfinished
        )
        largest._hold(0)
        largest.end("unfinished messages")

    def _start_timer(self) -> None:
        self.message_timer = self.loop.call_later(MESSAGE_SECONDS, self._end_slow_message)

    def _stop_timer(self) -> None:
        if self.message_timer is not None:
            self.message_timer.cancel()
            self.message_timer = None

    def _end_slow_message(self) -> None:
        if self.read_paused:  # the rest may have arrived, but the page handles an earlier message
            self._start_timer()
        else:
            self.end("slow message")
