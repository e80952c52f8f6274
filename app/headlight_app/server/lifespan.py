"""The server's own work beside the page: what it does when it starts and stops, and what it sweeps in between."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from threading import Thread, current_thread, main_thread
from time import monotonic, sleep
from types import FrameType
from typing import Any

import psutil
import streamlit as st
from streamlit.runtime import get_instance

from headlight.errors import HeadlightError, unforeseen
from headlight_app.access.presence import presence
from headlight_app.access.uploads import delete_abandoned, upload_store
from headlight_app.engine.engine import Engine, engine
from headlight_app.engine.models import listed_models
from headlight_app.frame.sidebar import offered
from headlight_app.room.rooms import Rooms
from headlight_app.ui.markdown import escape_markdown

SWEEP_SECONDS = 15.0  # seconds between two sweeps
STOP_SECONDS = 1.5  # after a signal until the process ends at the latest


@asynccontextmanager
async def lifespan(app: Any, rooms: Rooms | None = None) -> AsyncIterator[dict[str, Any]]:  # as Starlette wants it
    """While the server runs, sweep; before and after, leave no upload behind."""
    await asyncio.to_thread(delete_abandoned)
    for made_once in (upload_store, engine):  # two visitors who come at the same moment must not make two
        made_once()
    _stop_on_signals()
    _send_without_delay()
    sweeping, warming = (
        asyncio.create_task(_sweep_forever(rooms or Rooms())),
        asyncio.create_task(asyncio.to_thread(_warm_up)),
    )
    try:
        yield {}
    finally:
        sweeping.cancel()
        await asyncio.to_thread(engine().close)
        await asyncio.gather(sweeping, warming, return_exceptions=True)  # a thread goes on when its task is cancelled
        engine.cache_clear()
        upload_store().close()
        gc.unfreeze()


def _send_without_delay() -> None:
    """Each write leaves at once, on every connection that comes from now on.

    An answer is two writes. Without this the second waits 40 ms for the browser to acknowledge the first, and the 140
    modules of the first page take a second over six connections. A connection inherits it from the listening socket.
    """
    with suppress(psutil.Error, OSError):  # where a system lists no sockets, answers are only slower
        for found in psutil.Process().net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.fd >= 0:
                with socket.socket(fileno=os.dup(found.fd)) as listening:
                    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _stop_on_signals() -> None:
    """The server waits for answers that are under way before it ends, so that work ends at once, beside it."""
    if current_thread() is not main_thread():
        return  # a test; signals come to the main thread alone
    running = engine()
    for number in (signal.SIGTERM, signal.SIGINT):
        end = signal.getsignal(number)

        def stop(number: int, frame: FrameType | None, end: Any = end) -> None:
            Thread(target=_stop, args=(number, running), daemon=True, name="stopping").start()
            if callable(end):
                end(number, frame)

        signal.signal(number, stop)


def _stop(number: int, running: Engine) -> None:
    """End workers, then delete uploads; where a slow connection keeps the server, the process ends all the same."""
    until = monotonic() + STOP_SECONDS
    running.close()
    upload_store().close()
    sleep(max(0.0, until - monotonic()))
    upload_store().close()  # one that was being unpacked
    os._exit(128 + number)


def _warm_up() -> None:
    """A first look at dozens of models takes a second, which no visitor should wait for.

    What lives as long as the server, nearly all of it modules, is then no longer searched for garbage: that takes a
    quarter of a second each time, and no request is answered meanwhile.
    """
    listed_models()
    offered()
    gc.collect()
    gc.freeze()


async def _sweep_forever(rooms: Rooms) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        rooms.drop_expired()  # in this thread, as all that the routes do with them
        await asyncio.to_thread(presence().sweep, get_instance().is_active_session)
        await asyncio.to_thread(upload_store().sweep, get_instance().is_active_session)


def on_script_error(error: Exception) -> bool:
    """A sentence in place of a traceback, which would show the server's paths; Streamlit writes that one to the log."""
    message = unforeseen(error, "Reload; the server's log tells more.")
    st.error(escape_markdown(str(error) if isinstance(error, HeadlightError) else message))
    return True
