"""What a server does beside the page: it bounds what uploads take of its memory, and sweeps away what nobody needs."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import exists, get_instance
from streamlit.runtime.stats import CacheStat

from app.cached import forget, opened, shelf
from app.listing import cards
from app.prose import literal
from app.settings import settings
from app.uploads import clear_forsaken, guests
from model.errors import HeadlightError

PATH = "/_stcore/upload_file/"
WAITING = 4  # times one upload's limit that files may take in memory before they are unpacked
PAUSE = 15.0  # seconds between two sweeps


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
    """While the server runs, sweep; before and after, leave no upload behind."""
    await asyncio.to_thread(clear_forsaken)
    for store in (guests, opened, shelf):  # two visitors who come at the same moment must not make two
        store()
    tasks = [asyncio.create_task(_sweep()), asyncio.create_task(asyncio.to_thread(_look_around))]
    try:
        yield {}
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        guests().close()
        gc.unfreeze()


def _look_around() -> None:
    """A first look at dozens of models takes a second, which no visitor should wait for.

    What lives as long as the server, nearly all of it modules, is then no longer searched for garbage: that takes a
    quarter of a second each time, in which nobody is answered.
    """
    cards()
    gc.collect()
    gc.freeze()


async def _sweep() -> None:
    while True:
        await asyncio.sleep(PAUSE)
        for guest in await asyncio.to_thread(guests().sweep, get_instance().is_active_session):
            forget(guest.folder)


def apologise(error: Exception) -> bool:
    """A sentence in place of a traceback, which would show the server's paths; Streamlit writes that one to the log."""
    wrong = f"Something went wrong inside Headlight ({type(error).__name__}). Reload; the server's log tells more."
    st.error(literal(str(error) if isinstance(error, HeadlightError) else wrong))
    return True


class Gate:
    """Lets a file in only while there is memory for it: Streamlit holds what is sent until the page has taken it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.coming = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 411 or 507."""
        if scope["type"] != "http" or scope["method"] != "PUT" or PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            await PlainTextResponse("Say how long the file is.", 411)(scope, receive, send)
            return
        size = int(length)
        if self.coming + _waiting() + size > WAITING * (settings().upload_limit << 20):
            await PlainTextResponse("There is no room for uploads now.", 507)(scope, receive, send)
            return
        self.coming += size
        try:
            await self.app(scope, receive, send)
        finally:
            self.coming -= size


def _waiting() -> int:
    """Bytes of files that were sent and not taken yet."""
    if not exists():
        return 0
    told = get_instance().uploaded_file_mgr.get_stats()
    return sum(stat.byte_length for stats in told.values() for stat in stats if isinstance(stat, CacheStat))
