"""The menu Export as HTML: the items of every page, and the additional items of one page."""

from __future__ import annotations

from headlight_app.ui.component import read

FOLDER = "ui/frontend/export"
STYLE = f"{FOLDER}/export_menu.css"
PLACEHOLDER = "<!-- the export menu -->"


def export_menu(numbers: str = "", sections: str = "", programs: str = "") -> tuple[str, str]:
    """The placeholder in a page's HTML and its replacement, with more numbers, sections and programs."""
    html = read(f"{FOLDER}/export_menu.html")
    for kind, part in {"numbers": numbers, "sections": sections, "programs": programs}.items():
        html = html.replace(f"<!-- more {kind} -->", part)
    return PLACEHOLDER, html
