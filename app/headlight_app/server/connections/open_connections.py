"""The open connections: how many there may be, and when one ends whose client asks nothing or does not read."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections import Counter, defaultdict
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest

from headlight_app.access.addresses import network_address

MAX_CONNECTIONS = 2_048
SPARE_FILES = 256  # open files that connections leave to workers, uploads and the log
UNREAD_SECONDS, MIN_READ = 20.0, 16 << 10  # in which a client has to read so many bytes of what is sent to it


@dataclass
class ConnectionFigures:
    """The open connections, and why the server has ended others since it started."""

    connections: Collection[LimitedConnection] = ()
    ended: Counter[str] = field(default_factory=Counter)
    unfinished: Counter[str] = field(default_factory=Counter)  # bytes of incomplete messages of each address

    def waiting(self) -> int:
        """How many open connections wait for a request."""
        return sum(each.is_waiting for each in tuple(self.connections))


@lru_cache(maxsize=1)
def connection_figures() -> ConnectionFigures:
    """The one instance of this process."""
    return ConnectionFigures()


class LimitedConnection(asyncio.Protocol):
    """A connection that ends if its client does not read what is sent to it, since it holds memory and an open file."""

    transport: asyncio.Transport
    client: tuple[str, int] | None
    unread_timer: asyncio.TimerHandle | None = None
    opened_at = 0.0
    is_waiting = False  # for a request

    @property
    def address(self) -> str:
        """The network address of the client; "" without one."""
        return network_address(self.client[0] if self.client else "")

    def end(self, reason: str) -> None:
        """End the connection at once, and count it for the operator."""
        connection_figures().ended[reason] += 1
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a closed connection."""
        self._stop_unread_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """Go on, since the client has read everything."""
        super().resume_writing()
        self._stop_unread_timer()

    def _stop_unread_timer(self) -> None:
        if self.unread_timer is not None:
            self.unread_timer.cancel()
            self.unread_timer = None

    def _expect_reading(self) -> None:
        unread = self.transport.get_write_buffer_size() + queued_bytes(self.transport)
        self.unread_timer = asyncio.get_running_loop().call_later(UNREAD_SECONDS, self._end_unread, unread)

    def _end_unread(self, before: int) -> None:
        unread = self.transport.get_write_buffer_size() + queued_bytes(self.transport)
        if unread and before - unread < MIN_READ:
            self.end("not read")
        elif unread:
            self._expect_reading()


def make_room(newest: LimitedConnection, connections: Collection[LimitedConnection], limit: int) -> bool:
    """Whether a new connection may stay: one address has at most half of `limit`, and all together have `limit`.

    Beyond that, some connections that have waited longest for a request are closed: of the same address, or of the one
    with the most connections. If all of those are answering a request or hold a page, there is no room.
    """
    if len(connections) <= limit // 2:
        return True
    by_address = defaultdict(list)
    for each in connections:
        if each is not newest and not each.transport.is_closing():
            by_address[each.address].append(each)
    own = by_address[newest.address]
    if len(own) < limit // 2 and sum(map(len, by_address.values())) < limit:
        return True
    crowd = own if len(own) >= limit // 2 else max(by_address.values(), key=len)
    waiting = [each for each in crowd if each.is_waiting]
    for each in nsmallest(1 + len(waiting) // 8, waiting, key=lambda each: each.opened_at):  # counting takes long
        connection_figures().ended["gave way"] += 1
        each.transport.close()
    return bool(waiting)


def queued_bytes(transport: asyncio.Transport) -> int:
    """Bytes that the system has taken and the client has not received; 0 where the system does not tell.

    Linux takes megabytes, and then no more until a client has read a third of them, which takes a slow one longer than
    UNREAD_SECONDS.
    """
    if sys.platform != "linux":
        return 0
    from fcntl import ioctl
    from termios import TIOCOUTQ

    line: socket.socket = transport.get_extra_info("socket")
    with suppress(OSError):
        return int.from_bytes(ioctl(line.fileno(), TIOCOUTQ, bytes(4)), sys.byteorder)
    return 0


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
