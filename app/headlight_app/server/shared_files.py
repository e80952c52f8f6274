"""What every browser fetches alike, from memory: the modules of the page, and Streamlit's own files.

A browser that opens the page asks for two hundred of them. Streamlit opens, and compresses, each anew every time.
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

STREAMLIT, MODULES = "/static/", "/modules/"  # the paths below which such files are
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}  # what can be compressed: fonts and pictures are already
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",  # an address holds the version, or the hash of the content
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding",
}


class SharedFiles:
    """Answers a request for such a file; each is read once, and for browsers of other machines compressed once."""

    def __init__(self, app: ASGIApp, *, compresses: bool) -> None:
        self.app, self.compresses = app, compresses
        self.answers: dict[tuple[str, bool], Response] = {}  # two at most for each file there is

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        path = scope["path"].removeprefix(modules.base_path()) if scope["type"] == "http" else ""
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
    """Streamlit's files by their paths on the server."""
    folder = Path(get_static_dir())
    return {f"/{file.relative_to(folder).as_posix()}": file for file in folder.rglob("*") if file.is_file()}


def _answer(name: str, *, compressed: bool) -> Response:
    """A file as it is sent every time, by its path on the server or, of a module, in the package."""
    content = modules.modules().get(name) or _streamlit_files()[name].read_bytes()
    media_type = MEDIA_TYPES.get(Path(name).suffix)
    if media_type and compressed:
        return Response(gzip.compress(content), headers=HEADERS | {"Content-Encoding": "gzip"}, media_type=media_type)
    return Response(content, headers=HEADERS, media_type=media_type or guess_type(name)[0])
