"""Who is asking: a cookie that tells one visitor's browser from another's, and nothing else about anybody.

What is private to a visitor is found by it alone, so a link or a request from somebody else never opens it. The cookie
holds 256 random bits, ends with the browser's session, and no script can read it.
"""

from __future__ import annotations

import secrets
from contextvars import ContextVar
from hashlib import sha256

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.scriptrunner import get_script_run_ctx

COOKIE = "headlight_visitor"
NOBODY = ""
_ASKING: ContextVar[str] = ContextVar("asking", default=NOBODY)


def visitor() -> str:
    """The visitor for whom this thread works, in a request or in a run of the page; NOBODY where that is not known."""
    asking = _ASKING.get()
    if asking or get_script_run_ctx(suppress_warning=True) is None:
        return asking
    return named(str(st.context.cookies.get(COOKIE, "")))


def named(cookie: str) -> str:
    """What a visitor is called here: what the server keeps would not let anybody pass for them."""
    return sha256(cookie.encode()).hexdigest()[:32] if cookie else NOBODY


class Visitors:
    """Gives each browser its cookie with the page, and tells the routes whose request they answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on in the name of its visitor."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        cookie = HTTPConnection(scope).cookies.get(COOKIE, "")

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if not cookie and headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", _fresh(scope))
            await send(message)

        token = _ASKING.set(named(cookie))
        try:
            await self.app(scope, receive, with_cookie)
        finally:
            _ASKING.reset(token)


def _fresh(scope: Scope) -> str:
    # Lax: a link from elsewhere arrives with the cookie, a request that another site's page makes does not.
    ending = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{COOKIE}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; SameSite=Lax{ending}"
