"""Ends broken connections, and sessions with invalid messages, without a traceback in the log."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial

from google.protobuf.message import DecodeError
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.state.common import GENERATED_ELEMENT_ID_PREFIX
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

PROTOCOL_ERROR = 1002  # of a WebSocket
NO_MESSAGE = "This is not a message of the page."
WIDGET_IDS = (GENERATED_ELEMENT_ID_PREFIX, STREAMLIT_INTERNAL_KEY_PREFIX)  # prefixes of valid widget ids


class QuietConnections:
    """Ends requests whose client has disconnected, and sessions that receive anything but Streamlit's messages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

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

        async def checked() -> Message:
            nonlocal is_closed
            message = await receive()
            if message["type"] != "websocket.receive" or _is_message(message.get("bytes")):
                return message
            is_closed = True
            logging.getLogger(__name__).warning("A browser sent an invalid message; its session ended.")
            await send({"type": "websocket.close", "code": PROTOCOL_ERROR, "reason": NO_MESSAGE})
            return {"type": "websocket.disconnect", "code": PROTOCOL_ERROR, "reason": NO_MESSAGE}

        async def send_while_open(message: Message) -> None:
            nonlocal is_closed
            if is_closed:
                return
            try:
                await send(message)
            except OSError:  # the browser disconnected during the send
                is_closed = True
                raise

        try:
            await self.app(scope, checked, send_while_open)
        except RuntimeError:  # Streamlit keeps receiving, then closes the closed socket
            if not is_closed:
                raise


async def _receive_to_the_end(receive: Receive) -> Message:
    """Receive a lifespan message; if a stop during startup cancels this, return the shutdown message."""
    try:
        return await receive()
    except asyncio.CancelledError:
        return {"type": "lifespan.shutdown"}


def _is_message(content: bytes | None) -> bool:
    """Whether Streamlit can parse a WebSocket message. Text messages have no bytes, and pages send none.

    Widget states need a generated id: Streamlit takes other ids for session values, which do not exist.
    """
    message = BackMsg()
    try:
        message.ParseFromString(content or b"\0")
    except DecodeError:
        return False
    return all(state.id.startswith(WIDGET_IDS) for state in message.rerun_script.widget_states.widgets)
