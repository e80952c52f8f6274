"""The script of the page and its font, as the browser fetches them.

The script is one file, bundled from the modules in the `frontend` folders: a browser fetches and compiles one file
instead of hundreds. `python -m tests.javascript.node bundle` makes it.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]  # the package
SCRIPT, FONT = "page.bundle.js", "stix_two_math.woff2"
FILES = {SCRIPT: ROOT / "frame" / "static" / SCRIPT, FONT: ROOT / "ui" / "frontend" / "fonts" / FONT}


@lru_cache(maxsize=1)
def modules() -> dict[str, bytes]:
    """The content of each file by its name, read once."""
    return {name: file.read_bytes() for name, file in FILES.items()}


@lru_cache(maxsize=1)
def version() -> str:
    """A hash of all files; it is part of their addresses, so that browsers do not use older, cached ones."""
    found = sha256()
    for name, content in modules().items():
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:16]


def folder() -> str:
    """The address of the folder of all files, relative to every page: a proxy may serve the pages below a prefix."""
    return f"modules/{version()}"


def find(path: str) -> str:
    """The name of a file requested below `/modules/`; empty if the version is a different one.

    The number of an attempt may follow the version, as in `0a1b-2`: the files are the same.
    """
    asked, _, name = path.partition("/")
    return name if asked.partition("-")[0] == version() else ""


def preload() -> str:
    """HTML that makes a browser fetch the script before a component requests it.

    Its priority is low: Streamlit's own files, without which nothing is drawn, come first.
    """
    return f'<link rel="modulepreload" href="{folder()}/{SCRIPT}" fetchpriority="low">'
