"""A live page in a notebook: it computes in the browser, also once the notebook is saved and has no kernel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from headlight.checkpoints import find_checkpoint
from headlight.checkpoints.source import display_name
from headlight.file_writing import replacing
from headlight.live.weights import Precision
from headlight.tracing.interventions import InterventionLike
from headlight_app.contract.state import DEFAULT_STATE
from headlight_app.live.write import write_page
from headlight_app.state.url import encode_state

HEIGHT = 860  # pixels: the heads and the prediction of a model of six layers


@dataclass(frozen=True)
class LiveView:
    """The live page of a model: a notebook shows it as the value of a cell, or it is saved as a file.

    `document` is the page; its size in bytes is that of the notebook's output. `height` is in pixels.
    """

    title: str
    document: str = field(repr=False)
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        """A frame with the page; its address is of its own, so that Back and links stay within it."""
        name, title = f"headlight-{token_hex(8)}", escape(self.title)
        fallback = f"<p>{title}. This page needs JavaScript: trust this notebook, or run its cell again.</p>"
        frame = f"title: {json.dumps(self.title)}, style: 'width: 100%; height: {self.height}px; border: 0'"
        script = (
            f"const page = new Blob([{json.dumps(self.document)}], {{ type: 'text/html' }});"
            f"const frame = Object.assign(document.createElement('iframe'), {{ {frame} }});"
            "frame.src = URL.createObjectURL(page);"
            f"document.getElementById({json.dumps(name)}).replaceChildren(frame);"
        ).replace("<", "\\u003c")  # only strings have it
        return f'<div id="{name}">{fallback}</div>\n<script>(() => {{ {script} }})();</script>'

    def save(self, path: str | Path) -> None:
        """Write the page to a file, which opens without a server. Raises OutputError."""
        with replacing(Path(path)) as file:
            file.write(self.document.encode("utf-8"))


def live_view(
    model: str | Path,
    text: str | None = None,
    edits: Sequence[InterventionLike] = (),
    *,
    weights: Precision = "float16",
    height: int = HEIGHT,
) -> LiveView:
    """The page of a checkpoint, by name or folder, which opens with a text (else with an example) and edits.

    Writing it takes about ten seconds for 7 M parameters. Raises HeadlightError, with the reason, for a model that
    cannot become a live page.
    """
    folder = find_checkpoint(str(model))
    link = urlencode(encode_state(DEFAULT_STATE.change(text=text, edits=tuple(map(str, edits))), omit=False))
    with TemporaryDirectory() as made:
        out = Path(made, "page.html")
        write_page(folder, out, weights, link=link)
        document = out.read_text(encoding="utf-8")
    return LiveView(f"{display_name(folder)} in Headlight", document, height)
