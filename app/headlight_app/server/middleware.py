"""Middleware: a cookie for each visitor, a limit on uploads in progress, and something to see at once."""

from __future__ import annotations

from http import HTTPStatus

from cachetools import TTLCache
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import exists, get_instance
from streamlit.runtime.stats import CacheStat

from headlight_app.access.settings import settings
from headlight_app.access.visitor import (
    CURRENT_ADDRESS,
    CURRENT_VISITOR,
    UNKNOWN_VISITOR,
    cookie_name,
    new_cookie,
    visitor_id,
)

UPLOAD_PATH = "/_stcore/upload_file/"
ROOT_ELEMENT = b'<div id="root">'  # where Streamlit draws
COOKIES_PER_ADDRESS = 500  # in COOKIE_SECONDS; more than a lecture hall behind one router fetches
COOKIE_SECONDS = 600
MAX_ADDRESSES = 10_000  # that are counted
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
    """Gives each browser its cookie with the page, and tells the routes whose request they answer.

    An address that has fetched too many cookies gets the page without one: all such visitors share a queue.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.given: TTLCache[str, int] = TTLCache(MAX_ADDRESSES, COOKIE_SECONDS)  # cookies by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on in the name of its visitor."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        visitor = visitor_id(request.cookies.get(cookie_name(), ""))
        address = request.client.host if request.client else ""

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and visitor == UNKNOWN_VISITOR:
                headers = MutableHeaders(scope=message)
                if _is_page(request, message["status"], headers) and self._may_have_cookie(address):
                    headers.append("set-cookie", _set_cookie(scope))
            await send(message)

        tokens = CURRENT_VISITOR.set(visitor), CURRENT_ADDRESS.set(address)
        try:
            await self.app(scope, receive, with_cookie)
        finally:
            CURRENT_VISITOR.reset(tokens[0])
            CURRENT_ADDRESS.reset(tokens[1])

    def _may_have_cookie(self, address: str) -> bool:
        """Counts a cookie for an address. A full count starts anew COOKIE_SECONDS after the last cookie."""
        given = self.given.get(address, 0)
        if given >= COOKIES_PER_ADDRESS:
            return False
        self.given[address] = given + 1
        return True


def _is_page(request: HTTPConnection, status: int, answer: MutableHeaders) -> bool:
    if status == HTTPStatus.NOT_MODIFIED:  # says no type; a browser that was closed kept the page and not the cookie
        return "text/html" in request.headers.get("accept", "")
    return answer.get("content-type", "").startswith("text/html")


def _set_cookie(scope: Scope) -> str:
    # Lax: a link from elsewhere arrives with the cookie, a request that another site's page makes does not.
    ending = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{cookie_name()}={new_cookie()}; Path=/; HttpOnly; SameSite=Lax{ending}"


class SkeletonMiddleware:
    """Puts the outline of a page into Streamlit's empty HTML, to be seen until the page draws itself."""

    def __init__(self, app: ASGIApp, skeleton: bytes) -> None:
        self.app = app
        self.skeleton = skeleton

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; where HTML is asked for, it comes uncompressed, which it has to be for this."""
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        await self.app({**scope, "headers": headers}, receive, self._completed(send))

    def _completed(self, send: Send) -> Send:
        """The same for whoever answers, with the skeleton in what is HTML."""
        start: Message | None = None
        body = b""

        async def complete(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_html(message):
                start = message
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    body = body.replace(ROOT_ELEMENT, self.skeleton + ROOT_ELEMENT)
                    MutableHeaders(scope=start)["content-length"] = str(len(body))
                    await send(start)
                    await send({**message, "body": body})

        return complete


def _is_html(start: Message) -> bool:
    content_type = Headers(raw=start["headers"]).get("content-type", "")
    return bool(start["status"] == 200) and content_type.startswith("text/html")
