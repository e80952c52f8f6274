"""The server's startup and shutdown, and its periodic cleanup in between."""

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
from headlight_app.access.images import image_store
from headlight_app.access.presence import presence
from headlight_app.access.uploads import delete_abandoned, upload_store
from headlight_app.engine.engine import Engine, engine
from headlight_app.engine.memory import give_back_memory
from headlight_app.engine.models import listed_models
from headlight_app.frame.sidebar import offered
from headlight_app.room.rooms import Rooms
from headlight_app.server.log_rate import limit_log
from headlight_app.ui.markdown import escape_markdown

SWEEP_SECONDS = 15.0  # between two cleanups
STOP_SECONDS = 1.5  # from a signal to the forced end of the process


@asynccontextmanager
async def lifespan(app: Any, rooms: Rooms) -> AsyncIterator[dict[str, Any]]:
    """Clean up periodically while the server runs; before, delete what killed servers left; after, all uploads."""
    await asyncio.to_thread(delete_abandoned)
    for made_once in (upload_store, engine):  # now: simultaneous first requests would create two
        made_once()
    limit_log()
    _stop_on_signals()
    _send_without_delay()
    sweeping, warming = (
        asyncio.create_task(_sweep_forever(rooms)),
        asyncio.create_task(asyncio.to_thread(_warm_up)),
    )
    try:
        yield {}
    finally:
        sweeping.cancel()
        await asyncio.to_thread(engine().close)
        await asyncio.gather(sweeping, warming, return_exceptions=True)  # cancelling a task does not stop its thread
        engine.cache_clear()
        upload_store().close()
        gc.unfreeze()


def _send_without_delay() -> None:
    """Set TCP_NODELAY on the listening sockets; new connections inherit it.

    A response is two writes. With Nagle's algorithm the second one waits 40 ms for the browser to acknowledge the
    first, so the hundred files of the first page take 0.7 s over six connections.
    """
    with suppress(psutil.Error, OSError):  # if the system lists no sockets, responses are just slower
        for found in psutil.Process().net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.fd >= 0:
                with socket.socket(fileno=os.dup(found.fd)) as listening:
                    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _stop_on_signals() -> None:
    """On SIGTERM and SIGINT, stop the engine at once in a thread: the server itself waits for pending answers."""
    if current_thread() is not main_thread():
        return  # in a test; only the main thread may set signal handlers
    running = engine()
    for number in (signal.SIGTERM, signal.SIGINT):
        end = signal.getsignal(number)

        def stop(number: int, frame: FrameType | None, end: Any = end) -> None:
            Thread(target=_stop, args=(number, running), daemon=True, name="stopping").start()
            if callable(end):
                end(number, frame)

        signal.signal(number, stop)


def _stop(number: int, running: Engine) -> None:
    """End the workers, delete the uploads, and after STOP_SECONDS end the process despite open connections."""
    until = monotonic() + STOP_SECONDS
    running.close()
    upload_store().close()
    sleep(max(0.0, until - monotonic()))
    upload_store().close()  # an upload that was still being unpacked
    os._exit(128 + number)


def _warm_up() -> None:
    """Read the list of models, which takes a second, before the first visitor needs it.

    Then exempt all current objects (nearly all are modules) from garbage collection: collecting them takes a quarter
    of a second each time and blocks all requests.
    """
    listed_models()
    offered()
    gc.collect()
    gc.freeze()


async def _sweep_forever(rooms: Rooms) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        rooms.drop_expired()  # in the event loop's thread, like all other uses of `rooms`
        await asyncio.to_thread(upload_store().sweep, presence().is_here)  # before those who left since are forgotten
        await asyncio.to_thread(presence().sweep, get_instance().is_active_session)
        await asyncio.to_thread(image_store().sweep, presence().is_here)
        await asyncio.to_thread(give_back_memory)  # of large questions and pictures


def on_script_error(error: Exception) -> bool:
    """Show a sentence in place of the traceback, which contains server paths; Streamlit logs the traceback."""
    message = unforeseen(error, "Reload; the server's log says more.")
    st.error(escape_markdown(str(error) if isinstance(error, HeadlightError) else message))
    return True
