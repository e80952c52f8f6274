"""Broken connections and malformed messages end without a traceback."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext, suppress
from typing import Any

import msgspec
import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette.starlette_websocket import create_websocket_routes

from headlight_app.access.visitor import cookie_name, new_cookie
from headlight_app.explore.contract import TraceRequest
from headlight_app.server.connections.sessions import (
    MAX_HELD,
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


def test_the_sessions_of_a_visitor_share_a_budget_and_others_keep_theirs() -> None:
    runtime = Runtime()
    [stream] = create_websocket_routes(runtime, None)  # type: ignore[arg-type]
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="$$ID-5909-text", string_value="x" * (MAX_HELD // 4))
    site = VisitorMiddleware(QuietConnections(stream))
    ann, ben = (TestClient(site, cookies={cookie_name(): new_cookie()}) for _ in range(2))
    with ExitStack() as pages:
        for _ in range(3):
            page = pages.enter_context(ann.websocket_connect("/_stcore/stream"))
            for _ in range(3):  # each message takes the place of the one before it
                page.send_bytes(message.SerializeToString())
        page = pages.enter_context(ann.websocket_connect("/_stcore/stream"))
        page.send_bytes(message.SerializeToString())
        with pytest.raises(WebSocketDisconnect) as ended:
            page.receive_bytes()
        assert (ended.value.code, ended.value.reason) == (1009, TOO_MUCH)
        other = pages.enter_context(ben.websocket_connect("/_stcore/stream"))
        for _ in range(3):
            other.send_bytes(message.SerializeToString())
    with ann.websocket_connect("/_stcore/stream") as page:
        for _ in range(10):
            page.send_bytes(message.SerializeToString())
    assert len(runtime.messages) == 3 * 3 + 3 + 10


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
