"""Middleware: visitor cookies, security headers, and a page skeleton."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from http import HTTPStatus
from time import monotonic
from urllib.parse import parse_qs

from cachetools import LRUCache
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headlight_app.access.addresses import network_address
from headlight_app.access.visitor import (
    CURRENT_ADDRESS,
    CURRENT_VISITOR,
    UNKNOWN_VISITOR,
    cookie_name,
    new_cookie,
    visitor_id,
)
from headlight_app.server.paths import COMPLETE_ADDRESS

METRICS_PATH = "/_stcore/metrics"
# Nothing is loaded from other hosts. Streamlit and Plotly need inline scripts, inline styles and eval.
PAGE_POLICY = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src 'self' ws: wss: data: blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'"
)
HEAD_ELEMENT = b"<head>"
ROOT_ELEMENT = b'<div id="root">'  # where Streamlit renders
COOKIE_LIMITS = re.compile(rb"; *(SameSite=\w+|Secure)(?=;|$)", re.IGNORECASE)
COOKIES_PER_ADDRESS = 500  # at once, and again in COOKIE_SECONDS: more than a lecture hall behind one router fetches
COOKIE_SECONDS = 600
MAX_ADDRESSES = 10_000  # counted


class SecurityHeaders:
    """Adds headers that limit what a page loads and who may frame it, and hides Streamlit's metrics page.

    The sites of `embed_in` may frame every page.
    """

    def __init__(self, app: ASGIApp, embed_in: Sequence[str] = ()) -> None:
        self.app, self.embed_in = app, embed_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"].endswith(METRICS_PATH):
            await PlainTextResponse("There is nothing here.", 404)(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Content-Type-Options"] = "nosniff"
                if headers.get("content-type", "").startswith("text/html"):
                    headers.update(page_headers(scope, self.embed_in))
            await send(message)

        await self.app(scope, receive, with_headers)


def page_headers(scope: Scope, embed_in: Sequence[str] = ()) -> dict[str, str]:
    """The headers of a page. With `embedded=1` in its address (Copy embed), any site may frame it.

    X-Frame-Options cannot name other sites.
    """
    if "1" in parse_qs(scope["query_string"].decode("latin-1")).get("embedded", ()):
        return {"Content-Security-Policy": PAGE_POLICY}
    policy = {"Content-Security-Policy": " ".join((f"{PAGE_POLICY}; frame-ancestors 'self'", *embed_in))}
    return policy if embed_in else {**policy, "X-Frame-Options": "SAMEORIGIN"}


class VisitorMiddleware:
    """Sets the visitor's cookie with the page, and the context variables of visitor and address.

    An address that has fetched too many cookies gets the page without one: these visitors share a queue. `in_frames`
    makes browsers send cookies in frames of other sites, if the page is served over https.
    """

    def __init__(self, app: ASGIApp, *, in_frames: bool = False) -> None:
        self.app, self.in_frames = app, in_frames
        # By address, the time at which all cookies so far would be given, one after the other in COOKIE_SECONDS.
        self.given_at: LRUCache[str, float] = LRUCache(MAX_ADDRESSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its visitor and address set."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        visitor = visitor_id(request.cookies.get(cookie_name(), ""))
        address = network_address(request.client.host if request.client else "")

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_new = visitor == UNKNOWN_VISITOR and _is_page(request, message["status"], headers)
                if is_new and self._may_have_cookie(address):
                    headers.append("set-cookie", _set_cookie(scope))
                if self.in_frames and scope.get("scheme") == "https":
                    message["headers"] = [(name, _for_frames(name, value)) for name, value in message["headers"]]
            await send(message)

        tokens = CURRENT_VISITOR.set(visitor), CURRENT_ADDRESS.set(address)
        try:
            await self.app(scope, receive, with_cookie)
        finally:
            CURRENT_VISITOR.reset(tokens[0])
            CURRENT_ADDRESS.reset(tokens[1])

    def _may_have_cookie(self, address: str) -> bool:
        """Count a cookie for an address; False at the limit (the generic cell rate algorithm, as in `Pace`)."""
        now = monotonic()
        given_at, each = max(self.given_at.get(address, now), now), COOKIE_SECONDS / COOKIES_PER_ADDRESS
        if given_at - now > COOKIE_SECONDS - each / 2:
            return False
        self.given_at[address] = given_at + each
        return True


def _is_page(request: HTTPConnection, status: int, answer: MutableHeaders) -> bool:
    if status == HTTPStatus.NOT_MODIFIED:  # has no content type; a reopened browser has the cached page but no cookie
        return "text/html" in request.headers.get("accept", "")
    return answer.get("content-type", "").startswith("text/html")


def _set_cookie(scope: Scope) -> str:
    # Lax: links from other sites carry the cookie, requests by pages of other sites do not.
    ending = "; Secure" if scope.get("scheme") == "https" else ""
    # Without Path, the cookie is for the folder of the page, and so for no other server behind the same proxy.
    return f"{cookie_name()}={new_cookie()}; HttpOnly; SameSite=Lax{ending}"


def _for_frames(name: bytes, value: bytes) -> bytes:
    """A header whose cookie is also sent in frames; each framing site has a cookie of its own (Partitioned)."""
    if name.lower() != b"set-cookie":
        return value
    return COOKIE_LIMITS.sub(b"", value) + b"; SameSite=None; Secure; Partitioned"


class SkeletonMiddleware:
    """Puts a skeleton into Streamlit's empty HTML, visible until the page is rendered.

    The first page also gets `preloads`: HTML that makes the browser fetch its script in parallel with Streamlit's. It
    is made when the server starts, once Streamlit has read its options.
    """

    def __init__(self, app: ASGIApp, skeleton: bytes, preloads: Callable[[], bytes]) -> None:
        self.app = app
        self.skeleton, self.preloads = skeleton, preloads()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; HTML is requested uncompressed, so that the skeleton can be inserted."""
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        is_first = scope["path"] in ("", "/")
        await self.app({**scope, "headers": headers}, receive, self._completed(send, is_first=is_first))

    def _completed(self, send: Send, *, is_first: bool) -> Send:
        """A `send` that completes HTML responses."""
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
                    body = body.replace(ROOT_ELEMENT, self.skeleton + self.preloads * is_first + ROOT_ELEMENT)
                    body = body.replace(HEAD_ELEMENT, HEAD_ELEMENT + COMPLETE_ADDRESS * is_first)
                    MutableHeaders(scope=start)["content-length"] = str(len(body))
                    await send(start)
                    await send({**message, "body": body})

        return complete


def _is_html(start: Message) -> bool:
    content_type = Headers(raw=start["headers"]).get("content-type", "")
    return bool(start["status"] == 200) and content_type.startswith("text/html")
