"""The prefix of `--base-path`, and redirects from addresses at which a page could not load its files.

All addresses in a page are relative, so that it also works behind a proxy that strips a prefix. They resolve from the
folder of all pages: the address of the first page ends with a slash, those of the others do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from urllib.parse import quote, unquote

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

NOT_CACHED = {"Cache-Control": "no-cache"}
# For the first page: behind a proxy that strips a prefix, only the browser knows that the slash is missing.
COMPLETE_ADDRESS = (
    b'<script>if (!location.pathname.endsWith("/")) '
    b'location.replace(location.pathname + "/" + location.search + location.hash);</script>'
)


class BasePath:
    """Serves everything below a prefix, for a proxy that keeps it; other paths are unknown.

    The prefix is written as in an address, such as "/my%20lab".
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app, self.prefix, self.decoded = app, prefix, unquote(prefix)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on without the prefix, or lead to the first page from the addresses above it."""
        path = scope.get("path", "")
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif path.startswith(f"{self.decoded}/"):
            bare = path.removeprefix(self.decoded)
            await self.app({**scope, "path": bare, "raw_path": quote(bare).encode()}, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        elif path in ("/", self.decoded):
            await RedirectResponse(_with_query(f"{self.prefix}/", scope), headers=NOT_CACHED)(scope, receive, send)
        else:
            await PlainTextResponse(f"The pages are below {self.prefix}/.", 404)(scope, receive, send)


class PageAddresses:
    """Leads from an address below a page, such as `tasks/`, to the page: relative addresses would not resolve there.

    Other addresses lose slashes at their end. Streamlit would lead to an absolute address, without a proxy's prefix.
    """

    def __init__(self, app: ASGIApp, pages: Callable[[], Iterable[str]]) -> None:
        self.app, self.pages = app, frozenset(pages())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or redirect."""
        target = self._target(scope.get("path", ""))
        if not target or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        await RedirectResponse(_with_query(target, scope), headers=NOT_CACHED)(scope, receive, send)

    def _target(self, path: str) -> str:
        """The relative address to lead to; empty if the path is to be served itself."""
        page, *below = path.removeprefix("/").split("/")
        if page in self.pages:
            return "../" * len(below) + page if below else ""
        bare = path.rstrip("/")
        if not page or bare == path:
            return ""
        return "../" * (len(path) - len(bare)) + quote(bare.rpartition("/")[2], safe="")


def _with_query(path: str, scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path
