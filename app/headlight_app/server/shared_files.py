"""Serves the static files from memory: the script and the font of the page, and Streamlit's own files.

A browser that opens the page requests a hundred of them. Streamlit would read and compress each file every time.
"""

from __future__ import annotations

import asyncio
import gzip
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from headlight_app.ui import modules

STREAMLIT, MODULES = "/static/", "/modules/"  # their path prefixes
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}  # not every system knows them
COMPRESSIBLE = (".js", ".css")  # fonts and pictures already are compressed
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",  # a URL contains the version, or the hash of the content
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding",
}


class SharedFiles:
    """Answers requests for static files; each is read once, and compressed once if `compresses`."""

    def __init__(self, app: ASGIApp, *, compresses: bool) -> None:
        self.app, self.compresses = app, compresses
        self.answers: dict[tuple[str, bool], Response] = {}  # at most two per file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        path = scope["path"] if scope["type"] == "http" else ""
        if not path.startswith((STREAMLIT, MODULES)) or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        name = modules.find(path.removeprefix(MODULES)) if path.startswith(MODULES) else path
        if name not in modules.modules() and name not in _streamlit_files():
            await Response(status_code=404)(scope, receive, send)
            return
        compressed = self.compresses and "gzip" in Headers(scope=scope).get("accept-encoding", "")
        if (name, compressed) not in self.answers:
            self.answers[name, compressed] = await asyncio.to_thread(_answer, name, compressed=compressed)
        await self.answers[name, compressed](scope, receive, send)


@lru_cache(maxsize=1)
def _streamlit_files() -> dict[str, Path]:
    """Streamlit's static files by their URL paths."""
    folder = Path(get_static_dir())
    return {f"/{file.relative_to(folder).as_posix()}": file for file in folder.rglob("*") if file.is_file()}


def _answer(name: str, *, compressed: bool) -> Response:
    """The response for a file, by its URL path or, for one of the page, its name."""
    content = modules.modules().get(name) or _streamlit_files()[name].read_bytes()
    suffix = Path(name).suffix
    media_type = MEDIA_TYPES.get(suffix) or guess_type(name)[0]
    if compressed and suffix in COMPRESSIBLE:
        return Response(gzip.compress(content), headers=HEADERS | {"Content-Encoding": "gzip"}, media_type=media_type)
    return Response(content, headers=HEADERS, media_type=media_type)
