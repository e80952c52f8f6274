"""A server of uvicorn with the limits of this package, on a free port."""

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from headlight_app.server import status
from headlight_app.server.connections.http_protocol import LimitedProtocol

PATIENCE = 60.0  # seconds; what is tested ends long before
GET = b"GET / HTTP/1.1\r\nHost: here\r\n"
LARGE = 32 << 20  # bytes, more than the system takes for a client that does not read


class Site:
    """A running server whose page at /slow answers once it is let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = threading.Semaphore(0), threading.Event()
        routes = [
            Route("/", self.text),
            Route("/slow", self.slow, methods=["GET", "POST"]),
            Route("/large", self.large),
            WebSocketRoute("/ws", self.echo),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), http=LimitedProtocol, ws="websockets-sansio", log_level="critical", lifespan="off"
        )
        self.server, self.listening = uvicorn.Server(config), socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.thread = threading.Thread(target=self.server.run, args=([self.listening],))

    async def text(self, request: Request) -> Response:
        return PlainTextResponse("answered")

    async def slow(self, request: Request) -> Response:
        self.asked.release()
        await asyncio.to_thread(self.let_go.wait, PATIENCE)
        return PlainTextResponse("answered late")

    async def large(self, request: Request) -> Response:
        return PlainTextResponse("x" * LARGE)

    async def echo(self, page: WebSocket) -> None:
        await page.accept()
        async for message in page.iter_bytes():
            await page.send_bytes(message)

    def line(self, *parts: bytes) -> socket.socket:
        """A new connection over which these bytes were sent."""
        found = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        for part in parts:
            found.sendall(part)
        return found

    def asks(self, *parts: bytes) -> bytes:
        """All that the server answers to these bytes until it closes the connection."""
        with closing(self.line(*parts)) as line:
            return read(line)


def read(line: socket.socket) -> bytes:
    """All bytes until the server closes the connection."""
    found = b""
    try:
        while part := line.recv(1 << 16):
            found += part
    except ConnectionError:  # it closed while bytes of ours were on their way
        pass
    return found


def figures() -> Counter[str]:
    """The operator's figures of connections and of the log, by name or by the reason."""
    samples = [sample for metric in status._connections() for sample in metric.samples]
    return Counter({sample.labels.get("why", sample.name): int(sample.value) for sample in samples})


def wait_until(is_done: Callable[[], bool]) -> None:
    """Wait for something that the server does by itself."""
    until = time.monotonic() + PATIENCE
    while not is_done():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)
