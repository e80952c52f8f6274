"""The addresses of the single pages."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

# Without it Streamlit's script looks for its server beneath the page's own address first, and the browser reports that
# nothing is there.
SERVER_ADDRESS = '<script>window.__streamlit = {BACKEND_BASE_URL: new URL(".", location.href).href}</script>'


def deep_link_route(path: str) -> Route:
    """Serves Streamlit's document at the address of a page."""
    return Route(f"/{path}", _serve, methods=["GET"])


async def _serve(_request: Request) -> Response:
    return HTMLResponse(_document(), headers={"Cache-Control": "no-cache"})


@lru_cache(maxsize=1)
def _document() -> str:
    text = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return text.replace("<head>", f"<head>{SERVER_ADDRESS}", 1)
