"""What a server does beside the page: it bounds what uploads take of its memory, and sweeps away what nobody needs."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from streamlit.runtime import get_instance

from app.access.uploads import clear_forsaken, guests
from app.services.model_listing import cards
from app.services.traces import forget, opened, shelf
from app.ui.markdown import literal
from model.errors import HeadlightError

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
