"""A small proxy in front of a server, as nginx, Caddy and JupyterHub forward requests."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True)
class Proxy:
    """A proxy for the server at `port`, which answers below `prefix`, and strips it if `strips`.

    `host` replaces Host. Each connection forwards one request.
    """

    port: int
    prefix: str = ""
    strips: bool = False
    host: str = ""
    has_websockets: bool = True

    def forward(self, browser: socket.socket) -> None:
        """Forward a request and its answer, or a WebSocket."""
        request = b""
        while b"\r\n\r\n" not in request:
            if not (data := browser.recv(1 << 16)):
                return
            request += data
        head, _, body = request.partition(b"\r\n\r\n")
        changed = self._changed(head + b"\r\n")
        if not changed:
            browser.sendall(NOT_FOUND)
            return
        with socket.create_connection(("127.0.0.1", self.port)) as server:
            server.sendall(changed + b"\r\n" + body)
            Thread(target=_copy, args=(browser, server), daemon=True).start()
            _copy(server, browser)

    def _changed(self, head: bytes) -> bytes:
        method, path, rest = head.split(b" ", 2)
        if not path.startswith(self.prefix.encode()):
            return b""
        if self.strips:
            path = b"/" + path[len(self.prefix) :].removeprefix(b"/")
        if self.host:
            rest = re.sub(rb"(?im)^host: *[^\r\n]+", b"Host: " + self.host.encode(), rest)
        if not self.has_websockets or b"upgrade: websocket" not in rest.lower():
            rest = re.sub(rb"(?im)^(upgrade|connection): *[^\r\n]+\r\n", b"", rest)
            rest = rest.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        return b" ".join((method, path, rest))


class _Server(ThreadingTCPServer):
    daemon_threads, block_on_close = True, False


@contextmanager
def running(proxy: Proxy) -> Iterator[str]:
    """The origin of a proxy that runs until the block ends."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                proxy.forward(self.request)

    with _Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until the source ends, and tell the target of the end."""
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
