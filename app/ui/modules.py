"""The JavaScript of the page as the browser fetches it: modules, at the paths that they have in the source tree."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ROOT = Path(__file__).parents[2]  # in the source tree and in the wheel alike
FOLDERS = ("app/*/frontend", "model/rendering/static")
FOREVER = "public, max-age=31536000, immutable"


@lru_cache(maxsize=1)
def modules() -> dict[str, bytes]:
    """The text of every module by its path from ROOT, read once."""
    files = (file for folder in FOLDERS for found in ROOT.glob(folder) for file in found.rglob("*.js"))
    return {
        file.relative_to(ROOT).as_posix(): file.read_bytes()
        for file in sorted(files)
        if not file.name.endswith(".bundle.js")
    }


@lru_cache(maxsize=1)
def version() -> str:
    """Stands in the address of every module, so that a browser that knows older ones fetches the new."""
    found = sha256()
    for path, text in modules().items():
        found.update(f"{path}\0{len(text)}\0".encode() + text)
    return found.hexdigest()[:16]


def address(path: str) -> str:
    """The address of a module on the server that runs this page."""
    return f"{base_path()}/modules/{version()}/{path}"


def base_path() -> str:
    """What stands before every path of this server: "/name" where it is served under a name, else nothing."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}" if base else ""


def route() -> Route:
    """Serves the modules of this version, and nothing else."""
    return Route("/modules/{version}/{path:path}", _serve, methods=["GET"])


async def _serve(request: Request) -> Response:
    text = modules().get(request.path_params["path"])
    if text is None or request.path_params["version"] != version():
        return Response(status_code=404)
    headers = {"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(text, headers=headers, media_type="text/javascript")
