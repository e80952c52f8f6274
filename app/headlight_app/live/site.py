"""A live page as a site: documents that share their code and font as files, and the files of each model."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import ClassVar

from headlight_app.live.document import SHARED, LiveModel, live_document

START = "index"


@dataclass(frozen=True)
class InSite:
    """Code and parts are files beside the document; those of the model begin with its stem.

    Addresses are relative, so that the site works at any path, and have a hash, so that no cache gives an older file.
    """

    stem: str
    files: dict[str, bytes]
    own: ClassVar[str] = " 'self'"
    missing: ClassVar[str] = (
        "A file beside this page does not arrive. Reload the page. If you opened it from a folder, serve that folder, "
        "for example by: python -m http.server"
    )

    def style(self, content: str) -> str:
        """A style sheet."""
        return f'<link rel="stylesheet" href="{self._address("live.css", content.encode("utf-8"))}">'

    def script(self, content: str) -> str:
        """The last script."""
        return f'<script src="{self._address("live.js", content.encode("utf-8"))}" data-testid="live-end"></script>'

    def part(self, name: str, content: bytes) -> str:
        """A part as it was packed."""
        address = self._address(f"{name}.bin" if name in SHARED else f"{self.stem}.{name}.bin", content)
        return f'<script type="text/plain" data-testid="part-{name}" data-address="{address}"></script>'

    def _address(self, file: str, content: bytes) -> str:
        self.files[file] = content
        return f"{file}?{sha256(content).hexdigest()[:12]}"


def site_files(models: Sequence[LiveModel]) -> dict[str, bytes]:
    """The files of a site by their names; the first one opens with the first model."""
    stems, files = _stems(model.provenance.model for model in models), dict[str, bytes]()
    names = [f"{stem}.html" for stem in (START, *stems[1:])]
    pages = {
        name: live_document(model, InSite(stem, files), _choice(models, names, name)).encode("utf-8")
        for name, stem, model in zip(names, stems, models, strict=True)
    }
    return pages | files


def _stems(names: Iterable[str]) -> list[str]:
    """How the files of each model begin; no two are equal, also where capital letters do not count."""
    stems = [START]
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-").lower() or "model"
        numbered = (plain if count == 1 else f"{plain}-{count}" for count in itertools.count(1))
        stems.append(next(stem for stem in numbered if stem not in stems))
    return stems[1:]


def _choice(models: Sequence[LiveModel], pages: Sequence[str], here: str) -> str:
    """Links to the pages of all models; empty for one."""
    if len(models) == 1:
        return ""
    current = {here: ' aria-current="page"'}
    links = (
        f'<a href="{page}"{current.get(page, "")}>{escape(model.provenance.model)}</a>'
        for page, model in zip(pages, models, strict=True)
    )
    return f'<nav class="models" aria-label="Models" data-testid="live-models">{" ".join(links)}</nav>'
