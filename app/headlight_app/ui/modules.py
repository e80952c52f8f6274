"""The JavaScript modules and the font that the browser fetches, at their paths in the package."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath

ROOT = Path(__file__).parents[1]  # the package
SERVED = (".js", ".woff2")
IMPORT = re.compile(r'^(?:import|export)\b[^"]*? from "([^"]+)";$', re.MULTILINE)


@lru_cache(maxsize=1)
def modules() -> dict[str, bytes]:
    """Every module and font by its path from ROOT, read once; without the standalone page, which is bundled."""
    files = (file for frontend in ROOT.glob("*/frontend") for file in sorted(frontend.rglob("*")))
    return {
        file.relative_to(ROOT).as_posix(): file.read_bytes()
        for file in files
        if file.suffix in SERVED and file.parent.name != "standalone"
    }


@lru_cache(maxsize=1)
def version() -> str:
    """A hash of all modules; it is part of their addresses, so that browsers do not use older, cached modules."""
    found = sha256()
    for path, content in modules().items():
        found.update(f"{path}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:16]


def folder() -> str:
    """The address of the folder of all modules, relative to every page: a proxy may serve the pages below a prefix."""
    return f"modules/{version()}"


def find(path: str) -> str:
    """The path from ROOT of a file requested below `/modules/`; empty if the version is a different one.

    The number of an attempt may follow the version, as in `0a1b-2`: the modules are the same.
    """
    asked, _, name = path.partition("/")
    return name if asked.partition("-")[0] == version() else ""


def preloads(names: Iterable[str]) -> str:
    """HTML that makes a browser fetch modules, and all that they import, before a component requests them.

    Their priority is low: Streamlit's own files, without which nothing is drawn, come first.
    """
    found = list(dict.fromkeys(names))
    for name in found:
        imported = IMPORT.findall(modules()[name].decode())
        paths = (normpath(join(dirname(name), path)) for path in imported)
        found += [path for path in dict.fromkeys(paths) if path not in found]
    return "".join(f'<link rel="modulepreload" href="{folder()}/{name}" fetchpriority="low">' for name in found)
