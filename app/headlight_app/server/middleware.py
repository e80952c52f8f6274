"""Middleware: visitor cookies, security headers, limits on incoming uploads, and a page skeleton."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from http import HTTPStatus
from time import monotonic
from urllib.parse import parse_qs

from cachetools import LRUCache
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import exists, get_instance
from streamlit.runtime.stats import CacheStat

from headlight.errors import HeadlightError
from headlight_app.access.addresses import network_address
from headlight_app.access.settings import settings
from headlight_app.access.visitor import (
    CURRENT_ADDRESS,
    CURRENT_VISITOR,
    UNKNOWN_VISITOR,
    cookie_name,
    current_queue,
    new_cookie,
    visitor_id,
)
from headlight_app.server.paths import COMPLETE_ADDRESS

UPLOAD_PATH = "/_stcore/upload_file/"
API_PATH = "/api/"
METRICS_PATH = "/_stcore/metrics"
# Nothing is loaded from other hosts. Streamlit and Plotly need inline scripts, inline styles and eval.
PAGE_POLICY = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src 'self' ws: wss: data: blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'"
)
HEAD_ELEMENT = b"<head>"
ROOT_ELEMENT = b'<div id="root">'  # where Streamlit renders
COOKIE_LIMITS = re.compile(rb"; *(SameSite=\w+|Secure)(?=;|$)", re.IGNORECASE)
COOKIES_PER_ADDRESS = (
    500  # at once, and as many again in COOKIE_SECONDS; more than a lecture hall behind one router fetches
)
COOKIE_SECONDS = 600
MAX_ADDRESSES = 10_000  # counted
SLOW_SECONDS = 20.0  # longest pause between two chunks, and grace time before the minimum rate applies
MIN_BYTES_PER_SECOND = 32 << 10
SMALL_BODY = 64 << 10  # bytes of a question, picture or recording that always have room, as letters do
OWN_BODIES, ALL_BODIES = 128 << 20, 512 << 20  # bytes beyond, of a network address and of all
TAKE_SECONDS = 60.0  # after which an uploaded file that no page has taken is dropped
NO_ROOM = "There is no room for uploads now."
TOO_SLOW = "This upload was stopped because it arrived too slowly."
SLOW_QUESTION = "This question was stopped because it arrived too slowly. Try again."
NO_ROOM_FOR_BODY = "This server is busy with other large questions and pictures now. Wait a moment, then try again."
OWN_FACTOR = 2  # times the upload limit: one visitor's incoming files
PENDING_FACTOR = 4  # times the upload limit: all files in memory before they are unpacked


class UploadLimiter:
    """Bounds the memory of incoming uploads, which Streamlit keeps in memory until the page takes them.

    Bytes are counted as they arrive. Each visitor has a share of the room, uploads that arrive too slowly are refused,
    and a file that no page takes is dropped.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.arriving: Counter[str] = Counter()  # bytes by queue name
        self.last_sent: dict[str, float] = {}  # when a session last sent something

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 408, 411 or 507."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            await PlainTextResponse("Say how long the file is.", 411)(scope, receive, send)
            return
        self._drop_forgotten()
        visitor = current_queue()
        if not self._has_room(visitor, int(length)):
            await PlainTextResponse(NO_ROOM, 507)(scope, receive, send)
            return
        session = scope["path"].partition(UPLOAD_PATH)[2].partition("/")[0]
        is_open = exists() and get_instance().is_active_session(session)  # no other has files
        counted = CountedBody(receive, lambda size: self._arrive(visitor, size), HTTPException(408, TOO_SLOW))
        try:
            await self.app(scope, counted.receive, send)
        finally:
            self.arriving[visitor] -= counted.size
            self.arriving += Counter()  # removes zero counts
            if is_open:
                self.last_sent[session] = monotonic()

    def _arrive(self, visitor: str, size: int) -> None:
        self.arriving[visitor] += size
        if not self._has_room(visitor, 0):
            raise HTTPException(507, NO_ROOM)

    def _has_room(self, visitor: str, size: int) -> bool:
        limit = settings().upload_limit << 20
        own, everybodys = self.arriving[visitor] + size, self.arriving.total() + _pending_bytes() + size
        return own <= OWN_FACTOR * limit and everybodys <= PENDING_FACTOR * limit

    def _drop_forgotten(self) -> None:
        """Drop the files of sessions that sent nothing for TAKE_SECONDS: a page takes its files almost at once."""
        forgotten = [session for session, last in self.last_sent.items() if monotonic() - last > TAKE_SECONDS]
        for session in forgotten:
            del self.last_sent[session]
            get_instance().uploaded_file_mgr.remove_session_files(session)


class BodyLimiter:
    """Bounds the memory and time of questions, pictures and recordings, from their first byte to their answer.

    A visitor may send many at once, and each is in memory while it arrives and waits, so an address has a budget.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.held: Counter[str] = Counter()  # bytes by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Its route gets a HeadlightError in place of a body that is too slow or has no room."""
        if scope["type"] != "http" or API_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        address, kept = CURRENT_ADDRESS.get(), 0

        def arrive(size: int) -> None:
            nonlocal kept
            more = max(0, counted.size - SMALL_BODY) - kept
            self.held[address] += more
            kept += more
            if more and (self.held[address] > OWN_BODIES or self.held.total() > ALL_BODIES):
                raise HeadlightError(NO_ROOM_FOR_BODY)

        counted = CountedBody(receive, arrive, HeadlightError(SLOW_QUESTION))
        try:
            await self.app(scope, counted.receive, send)
        finally:
            self.held[address] -= kept
            self.held += Counter()  # removes zero counts


class CountedBody:
    """The body of a request. Raises `too_slow` if it arrives too slowly."""

    def __init__(self, receive: Receive, arrive: Callable[[int], None], too_slow: Exception) -> None:
        self.wrapped, self.arrive, self.too_slow = receive, arrive, too_slow
        self.size, self.begun, self.is_complete = 0, monotonic(), False

    async def receive(self) -> Message:
        """The next chunk; after the last, the end of the connection."""
        if self.is_complete:
            return await self.wrapped()
        try:
            async with asyncio.timeout(SLOW_SECONDS):
                message = await self.wrapped()
        except TimeoutError as error:
            raise self.too_slow from error
        self.is_complete = not message.get("more_body")
        size = len(message.get("body", b""))
        self.size += size
        self.arrive(size)
        if self.size < MIN_BYTES_PER_SECOND * (monotonic() - self.begun - SLOW_SECONDS):
            raise self.too_slow
        return message


def _pending_bytes() -> int:
    """Bytes of the uploaded files that no page has taken yet."""
    if not exists():
        return 0
    stats_by_kind = get_instance().uploaded_file_mgr.get_stats()
    return sum(stat.byte_length for stats in stats_by_kind.values() for stat in stats if isinstance(stat, CacheStat))


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

    The first page also gets `preloads`: HTML that makes the browser fetch its modules in parallel with Streamlit's. It
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
