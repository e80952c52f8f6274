"""Broken connections and malformed messages end without a traceback."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from typing import Any

import msgspec
import pytest
from starlette.requests import Request
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette.starlette_websocket import create_websocket_routes

from headlight_app.access.visitor import cookie_name, new_cookie
from headlight_app.explore.contract import TraceRequest
from headlight_app.server.connections.held_messages import ADDRESS_HELD, SMALL_MESSAGE, VISITOR_HELD
from headlight_app.server.connections.sessions import (
    MAX_STATES,
    NO_MESSAGE,
    TOO_MUCH,
    QuietConnections,
    _is_message,
)
from headlight_app.server.images import receive_image
from headlight_app.server.middleware import VisitorMiddleware
from headlight_app.server.routes import respond

TRACE: msgspec.json.Decoder[Any] = msgspec.json.Decoder(TraceRequest)


class Runtime:
    """The part of Streamlit's runtime that its WebSocket uses."""

    def __init__(self) -> None:
        self.messages: list[BackMsg] = []
        self.sessions = 0

    def connect_session(self, **_: Any) -> str:
        self.sessions += 1
        return "session"

    def disconnect_session(self, *_: Any, **__: Any) -> None:
        self.sessions -= 1

    def handle_backmsg(self, _: str, message: BackMsg, **__: Any) -> None:
        self.messages.append(message)


def of_widget(name: str) -> bytes:
    """A message with the state of a widget."""
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id=name, bool_value=True)
    content: bytes = message.SerializeToString()
    return content


@pytest.mark.parametrize("nonsense", [b"\xff\xfe\xfd", "a text", b"\x0a\xff", of_widget(""), of_widget("_session")])
def test_a_message_that_is_none_ends_its_session_with_one_line(
    nonsense: bytes | str, caplog: pytest.LogCaptureFixture
) -> None:
    runtime = Runtime()
    [stream] = create_websocket_routes(runtime, None)  # type: ignore[arg-type]
    message = BackMsg()
    message.ParseFromString(of_widget("$$ID-5909-help"))
    with TestClient(QuietConnections(stream)).websocket_connect("/_stcore/stream") as page:
        page.send_bytes(message.SerializeToString())
        page.send_text(nonsense) if isinstance(nonsense, str) else page.send_bytes(nonsense)
        with pytest.raises(WebSocketDisconnect) as ended:
            page.receive_bytes()
    assert (ended.value.code, ended.value.reason) == (1002, NO_MESSAGE)
    assert runtime.messages == [message] and not runtime.sessions
    [line] = caplog.records
    assert line.levelno == logging.WARNING and not line.exc_info


def test_a_page_has_so_many_widgets() -> None:
    message = BackMsg()
    for number in range(MAX_STATES + 1):
        message.rerun_script.widget_states.widgets.add(id=f"$$ID-{number}", bool_value=True)
    assert not _is_message(message.SerializeToString())
    message.rerun_script.widget_states.widgets.pop()
    assert _is_message(message.SerializeToString())


@pytest.fixture
def site() -> tuple[Runtime, Callable[[str], TestClient]]:
    """A runtime, and a new visitor of a network address."""
    runtime = Runtime()
    [stream] = create_websocket_routes(runtime, None)  # type: ignore[arg-type]
    app = VisitorMiddleware(QuietConnections(stream))
    return runtime, lambda address: TestClient(app, cookies={cookie_name(): new_cookie()}, client=(address, 1))


def of_size(size: int) -> bytes:
    """A message with so long a text."""
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="$$ID-5909-text", string_value="x" * size)
    return bytes(message.SerializeToString())


def is_refused(page: WebSocketTestSession) -> bool:
    """Whether the session ends for what it holds; otherwise Streamlit has its message."""
    with pytest.raises(WebSocketDisconnect) as ended:
        page.receive_bytes()
    return (ended.value.code, ended.value.reason) == (1009, TOO_MUCH)


def test_the_sessions_of_a_visitor_share_a_budget_and_others_keep_theirs(
    site: tuple[Runtime, Callable[[str], TestClient]],
) -> None:
    runtime, visitor = site
    ann, ben, message = visitor("10.0.0.7"), visitor("10.0.0.7"), of_size(VISITOR_HELD // 4 + SMALL_MESSAGE)
    with ExitStack() as pages:
        for _ in range(3):
            page = pages.enter_context(ann.websocket_connect("/_stcore/stream"))
            for _ in range(3):  # each message takes the place of the one before it
                page.send_bytes(message)
        page = pages.enter_context(ann.websocket_connect("/_stcore/stream"))
        page.send_bytes(message)
        assert is_refused(page)
        other = pages.enter_context(ben.websocket_connect("/_stcore/stream"))
        for _ in range(3):
            other.send_bytes(message)
    with ann.websocket_connect("/_stcore/stream") as page:
        for _ in range(10):
            page.send_bytes(message)
    assert len(runtime.messages) == 3 * 3 + 3 + 10


def test_an_address_has_a_budget_for_pages_also_closed_ones_and_small_messages_always_pass(
    site: tuple[Runtime, Callable[[str], TestClient]],
) -> None:
    runtime, visitor = site
    large, small = of_size(ADDRESS_HELD // 8), of_size(SMALL_MESSAGE // 2)
    taken = 0
    for _ in range(20):  # each of a new visitor, who closes the page
        with visitor("10.0.0.7").websocket_connect("/_stcore/stream") as page:
            page.send_bytes(large)
        taken = len(runtime.messages)
    assert 7 <= taken <= 9
    with visitor("10.0.0.7").websocket_connect("/_stcore/stream") as page:
        for _ in range(3):
            page.send_bytes(small)
    with visitor("10.0.0.8").websocket_connect("/_stcore/stream") as page:
        page.send_bytes(large)
    assert len(runtime.messages) == taken + 4


def test_what_is_told_after_uvicorn_has_closed_a_session_finds_nobody() -> None:
    async def tell(scope: Scope, receive: Receive, send: Send) -> None:
        page = WebSocket(scope, receive, send)
        await page.accept()
        with pytest.raises(WebSocketDisconnect):  # which Streamlit expects; it logs any other error with a traceback
            await page.send_bytes(b"the page")

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        if message["type"] == "websocket.send":
            raise RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'.")

    asyncio.run(QuietConnections(tell)({"type": "websocket"}, receive, send))


@pytest.mark.parametrize("has_left", [True, False])
def test_a_browser_that_leaves_while_it_is_told_something_leaves_no_traceback(has_left: bool) -> None:
    async def tell(scope: Scope, receive: Receive, send: Send) -> None:
        page = WebSocket(scope, receive, send)
        await page.accept()
        with suppress(WebSocketDisconnect):
            await page.send_bytes(b"the page")
        await page.close()
        await page.close()  # Streamlit, too, closes a socket that is already closed

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        if has_left and message["type"] == "websocket.send":
            raise OSError("nobody is there")

    with nullcontext() if has_left else pytest.raises(RuntimeError, match="close"):
        asyncio.run(QuietConnections(tell)({"type": "websocket"}, receive, send))


@pytest.mark.parametrize("kind", ["application/json", "image/png"])
def test_a_request_that_breaks_off_leaves_no_traceback(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    begun: Message = {"type": "http.request", "body": b"{", "more_body": True}
    parts: Iterator[Message] = iter([begun, {"type": "http.disconnect"}])

    async def receive() -> Message:
        return next(parts)

    async def send(message: Message) -> None:
        raise AssertionError("the browser has disconnected")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        answer = await (respond(request, TRACE) if kind == "application/json" else receive_image(request))
        await answer(scope, receive, send)

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
    asyncio.run(QuietConnections(app)(scope, receive, send))
    assert not caplog.records
