"""The gallery of images or recordings that a model may read, as HTML for a page's component."""

from __future__ import annotations

from headlight_app.ui.component import read

FOLDER = "ui/frontend/signal_gallery"
STYLE = f"{FOLDER}/signal_gallery.css"
PLACEHOLDER = "<!-- the gallery of images or recordings -->"


def signal_gallery() -> tuple[str, str]:
    """The placeholder in a page's HTML and its replacement."""
    return PLACEHOLDER, read(f"{FOLDER}/signal_gallery.html")
