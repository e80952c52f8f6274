"""Middleware: a cookie for each visitor, and a limit on uploads in progress."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import exists, get_instance
from streamlit.runtime.stats import CacheStat

from app.access.settings import settings
from app.access.visitor import COOKIE_NAME, CURRENT_VISITOR, visitor_id

UPLOAD_PATH = "/_stcore/upload_file/"
PENDING_FACTOR = 4  # times one upload's limit that files may take in memory before they are unpacked


class UploadLimiter:
    """Lets a file in only while there is memory for it: Streamlit holds what is sent until the page has taken it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.incoming_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 411 or 507."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            await PlainTextResponse("Say how long the file is.", 411)(scope, receive, send)
            return
        size = int(length)
        if self.incoming_bytes + _pending_bytes() + size > PENDING_FACTOR * (settings().upload_limit << 20):
            await PlainTextResponse("There is no room for uploads now.", 507)(scope, receive, send)
            return
        self.incoming_bytes += size
        try:
            await self.app(scope, receive, send)
        finally:
            self.incoming_bytes -= size


def _pending_bytes() -> int:
    """Bytes of files that were sent and not taken yet."""
    if not exists():
        return 0
    stats_by_kind = get_instance().uploaded_file_mgr.get_stats()
    return sum(stat.byte_length for stats in stats_by_kind.values() for stat in stats if isinstance(stat, CacheStat))


class VisitorMiddleware:
    """Gives each browser its cookie with the page, and tells the routes whose request they answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on in the name of its visitor."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        cookie = HTTPConnection(scope).cookies.get(COOKIE_NAME, "")

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if not cookie and headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", _new_cookie(scope))
            await send(message)

        token = CURRENT_VISITOR.set(visitor_id(cookie))
        try:
            await self.app(scope, receive, with_cookie)
        finally:
            CURRENT_VISITOR.reset(token)


def _new_cookie(scope: Scope) -> str:
    # Lax: a link from elsewhere arrives with the cookie, a request that another site's page makes does not.
    ending = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{COOKIE_NAME}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; SameSite=Lax{ending}"
