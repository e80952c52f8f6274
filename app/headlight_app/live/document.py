"""The HTML of a live page, which asks nobody else for anything, and says so to the browser."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import ClassVar, Protocol

from headlight_app.live.model_file import packed
from headlight_app.live.theme import theme_styles
from headlight_app.ui.modules import FILES, FONT, ROOT

SHARED = ("font", "worker")  # the parts that are the same for every model
STATIC, ICON = Path(__file__).parent / "static", ROOT / "frame" / "static" / "icon.png"
# The policy leaves nothing but the scripts below, which it knows by their hashes, the worker made of one of them, and
# the files of a site, if the page is one.
POLICY = (
    "default-src 'none'; script-src {hashes}{own} 'wasm-unsafe-eval'; worker-src blob:; "
    "style-src 'unsafe-inline'{own}; img-src data: blob:; connect-src{parts}; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Provenance:
    """What a page says about itself: its model and the model's licence and digest, and how and when it was made."""

    model: str
    licence: str
    sha256: str
    precision: str
    command: str
    version: str
    date: str

    @property
    def rows(self) -> Mapping[str, str]:
        """The title of each fact, and the fact."""
        return {
            "Model": self.model,
            "Licence": self.licence or "not named by the model",
            "SHA-256 of its weights": self.sha256 or "unknown",
            "Weights here": self.precision,
            "Made": f"{self.date} by {self.version}",
            "Command": self.command,
        }


@dataclass(frozen=True)
class LiveModel:
    """What a page has of its own: its packed parts (`LivePage`, the model and its weights), and facts about them."""

    parts: Mapping[str, bytes]
    provenance: Provenance


class Place(Protocol):
    """Where a page has its code and its parts, as the HTML that names them.

    `own` is added to a policy for files beside the page; `missing` is the sentence for a page that is not complete.
    """

    own: ClassVar[str]
    missing: ClassVar[str]

    def style(self, content: str) -> str:
        """A style sheet."""

    def script(self, content: str) -> str:
        """The last script."""

    def part(self, name: str, content: bytes) -> str:
        """A part, which the script reads by its name."""


class InDocument:
    """Everything is in the document, so that the page is one file."""

    own: ClassVar[str] = ""
    missing: ClassVar[str] = "This file is cut off: its end is missing. Get it again, whole."

    def style(self, content: str) -> str:
        """A style sheet."""
        return f"<style>{content}</style>"

    def script(self, content: str) -> str:
        """The last script."""
        return f'<script data-testid="live-end">{content}</script>'

    def part(self, name: str, content: bytes) -> str:
        """A part in base64."""
        encoded = base64.b64encode(content).decode("ascii")
        return f'<script type="text/plain" data-testid="part-{name}">{encoded}</script>'


def live_document(model: LiveModel, place: Place, choice: str = "") -> str:
    """The document; nothing in it but its scripts becomes a program or markup.

    `choice` is HTML with which a reader chooses another model, if there are several.
    """
    name = escape(model.provenance.model)
    guard = (STATIC / "guard.js").read_text(encoding="utf-8")
    script = f"{(STATIC / 'live.bundle.js').read_text(encoding='utf-8')}\nheadlight.openPage();"
    hashes = " ".join(map(_source_hash, (guard, script)))
    shared = (FILES[FONT], STATIC / "worker.bundle.js")
    parts = {each: packed(file.read_bytes()) for each, file in zip(SHARED, shared, strict=True)} | {**model.parts}
    facts = model.provenance.rows.items()
    values = {
        "policy": POLICY.format(hashes=hashes, own=place.own, parts=place.own or " 'none'"),
        "title": f"{name} · Headlight",
        "icon": base64.b64encode(ICON.read_bytes()).decode("ascii"),
        "styles": place.style(theme_styles() + (STATIC / "live.css").read_text(encoding="utf-8")),
        "guard": guard,
        "choice": choice or f'<p class="name">{name}</p>',
        "missing": escape(place.missing),
        "model": name,
        "facts": "".join(f"<dt>{escape(title)}</dt><dd>{escape(fact)}</dd>" for title, fact in facts),
        "parts": "\n".join(place.part(each, content) for each, content in parts.items()),
        "script": place.script(script),
    }
    head, *rest = (STATIC / "live.html").read_text(encoding="utf-8").split("{{")
    return head + "".join(values[each] + text for each, _, text in (one.partition("}}") for one in rest))


def _source_hash(script: str) -> str:
    """A script in the words of a policy."""
    return f"'sha256-{base64.b64encode(sha256(script.encode()).digest()).decode('ascii')}'"
