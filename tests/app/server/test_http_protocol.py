"""Whatever arrives before a request is known has a size, a time and a number; attacked over the wire."""

import asyncio
import logging
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from headlight_app.server import http_protocol as subject
from headlight_app.server import status
from headlight_app.server.http_protocol import MAX_HEADERS, MAX_MESSAGE, LimitedProtocol
from headlight_app.server.log_rate import LINES, log_limit

PATIENCE = 60.0  # seconds; what is tested ends long before
GET = b"GET / HTTP/1.1\r\nHost: here\r\n"
LIMIT = 6  # connections
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


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    site.thread.start()
    try:
        assert b"answered" in site.asks(GET + b"Connection: close\r\n\r\n")
        yield site
    finally:
        site.let_go.set()
        site.server.should_exit = True
        site.thread.join(PATIENCE)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with room for LIMIT connections."""
    monkeypatch.setattr(subject, "connection_limit", lambda: LIMIT)


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"], ids=["unfinished", "complete"])
@pytest.mark.parametrize("head", [GET + b"Cookie: ", b"GET /?"], ids=["cookie", "address"])
def test_headers_end_where_no_browser_needs_more(site: Site, head: bytes, end: bytes) -> None:
    assert b"431" in site.asks(head + b"a=1;" * (MAX_HEADERS // 4), end)
    with closing(
        site.line(GET + b"Cookie: a=" + b"1" * (MAX_HEADERS - 500) + b"\r\nConnection: close\r\n\r\n")
    ) as line:
        assert read(line).endswith(b"answered")


def test_headers_without_end_are_refused_however_small_their_parts(site: Site) -> None:
    with closing(site.line(GET)) as line, pytest.raises(ConnectionError):
        for _ in range(100_000):
            line.sendall(b"X-More: " + b"y" * 1_000 + b"\r\n")


CHUNKED = b"POST /slow HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "begun",
    [CHUNKED + b"1\r\nx\r\n0\r\n", CHUNKED + b"1;", GET.replace(b"/ ", b"/slow ") + b"\r\n" + GET],
    ids=["after a body", "of a chunk", "behind a request"],
)
@pytest.mark.parametrize("part", [b"X: " + b"y" * 1_000 + b"\r\n", b"X" * 1_000], ids=["many", "one"])
def test_headers_have_an_end_where_the_request_before_them_has_none(site: Site, begun: bytes, part: bytes) -> None:
    with closing(site.line(begun)) as line, pytest.raises(ConnectionError):
        for _ in range(100_000):
            line.sendall(part)


@pytest.mark.parametrize("sent", [b"", GET, GET + b"\r\n"], ids=["nothing", "half a request", "no second request"])
def test_who_sends_no_request_is_not_waited_for(site: Site, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "HEADER_SECONDS", 0.1)
    site.server.config.timeout_keep_alive = 0
    answer = site.asks(sent)  # returns once the server has closed the connection
    assert answer.startswith({b"": b"", GET: b"HTTP/1.1 408"}.get(sent, b"HTTP/1.1 200"))


def test_a_second_request_whose_headers_do_not_end_is_not_waited_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "HEADER_SECONDS", 0.1)
    with closing(site.line(GET + b"\r\n")) as line:
        assert line.recv(1 << 16)
        line.sendall(GET)
        assert b"408" in read(line)


@pytest.mark.usefixtures("few")
def test_connections_that_send_nothing_give_way_to_those_that_ask(site: Site) -> None:
    with ExitStack() as lines:
        idle = [lines.enter_context(closing(site.line())) for _ in range(5 * LIMIT)]
        assert site.asks(GET + b"Connection: close\r\n\r\n").endswith(b"answered")
        assert read(idle[0]) == b""  # the oldest was closed


@pytest.mark.usefixtures("few")
def test_a_connection_with_a_request_is_kept_and_who_finds_no_room_gets_a_sentence(site: Site) -> None:
    slow = GET.replace(b"/ ", b"/slow ") + b"Connection: close\r\n\r\n"
    with ExitStack() as lines:
        asking = []
        for _ in range(LIMIT // 2):  # as many as one address may have
            asking.append(lines.enter_context(closing(site.line(slow))))
            assert site.asked.acquire(timeout=PATIENCE)
        assert b"no free connection" in site.asks(GET)
        site.let_go.set()
        assert all(read(line).endswith(b"answered late") for line in asking)


@pytest.mark.usefixtures("few")
def test_the_operator_sees_connections_that_ask_nothing_and_those_that_were_ended(site: Site) -> None:
    before = figures()
    with ExitStack() as lines:
        idle = [lines.enter_context(closing(site.line())) for _ in range(5 * LIMIT)]
        assert b"431" in site.asks(GET + b"Cookie: " + b"a=1;" * MAX_HEADERS)
        assert read(idle[0]) == b""
        seen = figures()
    assert 0 < seen["headlight_waiting_connections"] <= seen["headlight_connections"] <= LIMIT
    assert seen["gave way"] - before["gave way"] >= 4 * LIMIT and seen["431"] - before["431"] == 1
    line = log_limit(), logging.LogRecord("of strangers", logging.WARNING, "", 0, "A line.", (), None)
    for _ in range(LINES + 7):
        line[0].filter(line[1])
    assert figures()["headlight_unlogged_total"] - seen["headlight_unlogged_total"] == 7


@pytest.mark.parametrize("requests", [1, 3])
def test_who_does_not_read_an_answer_is_not_waited_for(
    site: Site, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "UNREAD_SECONDS", 0.3)
    before = figures()
    with closing(site.line(GET.replace(b"/ ", b"/large ") + b"\r\n")) as line:
        for _ in range(10):  # one who reads slowly is
            time.sleep(0.1)
            line.recv(1 << 20, socket.MSG_WAITALL)
        line.sendall((GET.replace(b"/ ", b"/large ") + b"\r\n") * (requests - 1))
        time.sleep(1.5)
        assert figures()["not read"] - before["not read"] == 1
        assert len(read(line)) < LARGE


EMPTY, PING = b"\x00\x80\0\0\0\0", b"\x89\xfd\0\0\0\0" + b"p" * 125


@pytest.mark.parametrize("frames", [b"\x02\x80\0\0\0\0" + EMPTY * 5_000, PING * 5_000], ids=["parts", "pings"])
def test_frames_of_a_page_have_a_number_however_small_they_are(site: Site, frames: bytes) -> None:
    before = figures()
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    with closing(site.line(GET.replace(b"/ ", b"/ws ") + upgrade + key)) as line:
        assert b"101" in line.recv(1 << 16)
        line.sendall(frames)
        read(line)  # returns once the server has closed the connection
    assert figures()["too many frames"] - before["too many frames"] == 1


def test_a_message_of_a_page_has_a_size(site: Site) -> None:
    with connect(f"ws://127.0.0.1:{site.port}/ws", max_size=None) as page:
        page.send(b"x" * (MAX_MESSAGE - 100))
        assert len(page.recv()) == MAX_MESSAGE - 100
        with pytest.raises(ConnectionClosed) as ended:
            page.send(b"x" * (MAX_MESSAGE + 100))
            page.recv()
        assert ended.value.rcvd is not None and ended.value.rcvd.code == 1009
