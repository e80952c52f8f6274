"""Ends broken connections, and sessions with invalid or too many messages, without a traceback in the log."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import Any

from google.protobuf.message import DecodeError
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.state.common import GENERATED_ELEMENT_ID_PREFIX
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

from headlight_app.server.connections.held_messages import HeldMessage

PROTOCOL_ERROR, TOO_LARGE = 1002, 1009  # of a WebSocket
NO_MESSAGE = "This is not a message of the page."
TOO_MUCH = "The open pages hold more than this server keeps. Close some of them, and reload in two minutes."
MAX_STATES = 100  # widgets of one page
WIDGET_IDS = (GENERATED_ELEMENT_ID_PREFIX, STREAMLIT_INTERNAL_KEY_PREFIX)  # prefixes of valid widget ids


class QuietConnections:
    """Ends requests whose client has disconnected, and sessions that receive anything but Streamlit's messages.

    Streamlit keeps the widget states of a session's last message, so visitors and network addresses have a budget.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.held: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a connection on."""
        if scope["type"] == "websocket":
            await self._hold_session(scope, receive, send)
            return
        if scope["type"] == "lifespan":
            await self.app(scope, partial(_receive_to_the_end, receive), send)
            return
        with suppress(ClientDisconnect):  # the client has disconnected
            await self.app(scope, receive, send)

    async def _hold_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_closed = False
        held = HeldMessage(self.held)

        async def checked() -> Message:
            nonlocal is_closed
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            content = message.get("bytes") or b""
            if not (problem := _problem(content, has_room=held.replace(content))):
                return message
            is_closed = True
            logging.getLogger(__name__).warning("A browser's session ended: %s", problem["reason"])
            await send({"type": "websocket.close", **problem})
            return {"type": "websocket.disconnect", **problem}

        async def send_while_open(message: Message) -> None:
            nonlocal is_closed
            if is_closed:
                return
            try:
                await _send(send, message)
            except OSError:  # the browser disconnected before or during the send
                is_closed = True
                raise

        try:
            await self.app(scope, checked, send_while_open)
        except RuntimeError:  # Streamlit keeps receiving, then closes the closed socket
            if not is_closed:
                raise
        finally:
            held.release()


def _problem(content: bytes, *, has_room: bool) -> dict[str, Any]:
    """Code and reason of the end of a session that sends this; empty if it goes on."""
    if not has_room:
        return {"code": TOO_LARGE, "reason": TOO_MUCH}
    return {} if _is_message(content) else {"code": PROTOCOL_ERROR, "reason": NO_MESSAGE}


async def _send(send: Send, message: Message) -> None:
    """Send a message. Raises OSError if the connection is closed, also by uvicorn, as after an invalid frame."""
    try:
        await send(message)
    except RuntimeError as error:
        if message["type"] != "websocket.send":
            raise
        raise OSError(str(error)) from error


async def _receive_to_the_end(receive: Receive) -> Message:
    """Receive a lifespan message; if a stop during startup cancels this, return the shutdown message."""
    try:
        return await receive()
    except asyncio.CancelledError:
        return {"type": "lifespan.shutdown"}


def _is_message(content: bytes) -> bool:
    """Whether Streamlit can parse a WebSocket message. Text messages have no bytes, and pages send none.

    Widget states need a generated id: Streamlit takes other ids for session values, which do not exist.
    """
    message = BackMsg()
    try:
        message.ParseFromString(content or b"\0")
    except DecodeError:
        return False
    states = message.rerun_script.widget_states.widgets
    return len(states) <= MAX_STATES and all(state.id.startswith(WIDGET_IDS) for state in states)
