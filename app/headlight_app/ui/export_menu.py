"""The menu Export as HTML: what is handed on of every page, and what a page has to offer besides."""

from __future__ import annotations

from headlight_app.ui.component import read

FOLDER = "ui/frontend/export"
STYLE = f"{FOLDER}/export_menu.css"
PLACEHOLDER = "<!-- the export menu -->"


def export_menu(numbers: str = "", sections: str = "", programs: str = "") -> tuple[str, str]:
    """The placeholder in a page's HTML, and what takes its place, with more numbers, sections and programs."""
    html = read(f"{FOLDER}/export_menu.html")
    for kind, part in {"numbers": numbers, "sections": sections, "programs": programs}.items():
        html = html.replace(f"<!-- more {kind} -->", part)
    return PLACEHOLDER, html
