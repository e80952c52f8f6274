"""The JavaScript of the page as the browser fetches it: modules, at the paths that they have in the package."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ROOT = Path(__file__).parents[1]  # the package
FOREVER = "public, max-age=31536000, immutable"


@lru_cache(maxsize=1)
def modules() -> dict[str, bytes]:
    """The text of every module by its path from ROOT, read once; the standalone page is bundled instead."""
    files = (file for frontend in ROOT.glob("*/frontend") for file in sorted(frontend.rglob("*.js")))
    return {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in files if file.parent.name != "standalone"}


@lru_cache(maxsize=1)
def version() -> str:
    """Stands in the address of every module, so that a browser that knows older ones fetches the new."""
    found = sha256()
    for path, text in modules().items():
        found.update(f"{path}\0{len(text)}\0".encode() + text)
    return found.hexdigest()[:16]


def folder() -> str:
    """The address of all modules on the server that runs this page; each is below it under its path."""
    return f"{base_path()}/modules/{version()}"


def base_path() -> str:
    """The prefix of every path of this server: "/name" where it is served under a name, else empty."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}" if base else ""


def route() -> Route:
    """Serves the modules of this version, and nothing else.

    The number of an attempt may stand behind the version, as in `0a1b-2`: the modules are the same.
    """
    return Route("/modules/{version}/{path:path}", _serve, methods=["GET"])


async def _serve(request: Request) -> Response:
    text = modules().get(request.path_params["path"])
    if text is None or request.path_params["version"].partition("-")[0] != version():
        return Response(status_code=404)
    headers = {"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(text, headers=headers, media_type="text/javascript")
