"""The menu Export as HTML: a figure and numbers on every page, and what a page has to offer besides."""

from __future__ import annotations

from headlight_app.ui.component import read

FOLDER = "ui/frontend/export"
STYLE = f"{FOLDER}/export_menu.css"
PLACEHOLDER = "<!-- the export menu -->"
WHICH_NUMBERS = '<select data-testid="export-which" aria-label="Which numbers" hidden></select>'

WHICH_CHART = '<select data-testid="export-chart" aria-label="What the figure shows" hidden></select>'


def export_menu(
    numbers: str = WHICH_NUMBERS, before: str = "", after: str = "", subject: str = WHICH_CHART
) -> tuple[str, str]:
    """The placeholder in a page's HTML, and what takes its place.

    `numbers` says whose they are, `subject` what the figure shows; sections of one page stand `before` the figure, and
    `after` the numbers.
    """
    html = read(f"{FOLDER}/export_menu.html")
    parts = {
        "before the figure": before,
        "what the figure shows": subject,
        "whose numbers": numbers,
        "after the numbers": after,
    }
    for place, part in parts.items():
        html = html.replace(f"<!-- {place} -->", part)
    return PLACEHOLDER, html
