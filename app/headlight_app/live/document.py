"""The HTML of a live page: one file that asks nobody for anything, and says so to the browser."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path

from headlight_app.live.model_file import ModelFile, packed
from headlight_app.live.theme import theme_styles
from headlight_app.ui.component import Data
from headlight_app.ui.modules import FILES, FONT

STATIC = Path(__file__).parent / "static"
# The policy leaves nothing but the scripts below, which it knows by their hashes, and the worker made of one of them.
POLICY = (
    "default-src 'none'; script-src {hashes} 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Provenance:
    """What a file says about itself: its model and the model's licence and digest, and how and when it was made."""

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


def live_document(page: Data, model: ModelFile, provenance: Provenance) -> str:
    """The file; nothing in it but its scripts becomes a program or markup."""
    guard = (STATIC / "guard.js").read_text(encoding="utf-8")
    script = f"{(STATIC / 'live.bundle.js').read_text(encoding='utf-8')}\nheadlight.openFile();"
    hashes = " ".join(map(_source_hash, (guard, script)))
    worker = (STATIC / "worker.bundle.js").read_bytes()
    facts = "".join(f"<dt>{escape(title)}</dt><dd>{escape(fact)}</dd>" for title, fact in provenance.rows.items())
    values = {
        "policy": POLICY.format(hashes=hashes),
        "title": escape(f"{provenance.model} · Headlight"),
        "styles": theme_styles() + (STATIC / "live.css").read_text(encoding="utf-8"),
        "guard": guard,
        "model": escape(provenance.model),
        "facts": facts,
        "part-page": _json(page),
        "part-font": base64.b64encode(FILES[FONT].read_bytes()).decode("ascii"),
        "part-worker": packed(worker),
        "part-model": model.model,
        "part-weights": model.weights,
        "script": script,
    }
    parts = (STATIC / "live.html").read_text(encoding="utf-8").split("{{")
    head, *places = parts
    return head + "".join(values[name] + rest for name, _, rest in (place.partition("}}") for place in places))


def _json(value: Data) -> str:
    """JSON that does not end the element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _source_hash(script: str) -> str:
    """A script in the words of a policy."""
    return f"'sha256-{base64.b64encode(sha256(script.encode()).digest()).decode('ascii')}'"
