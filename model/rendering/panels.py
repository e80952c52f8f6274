"""The panels of the tabs, as HTML: on the page and in the file that draws itself alike."""

from __future__ import annotations

PANELS_PLACEHOLDER = "<!-- one panel for each tab -->"  # where the page's HTML has them


def tab_panel(tab: str, html: str) -> str:
    """The HTML of one tab's panel."""
    attributes = f'class="tab-panel {tab}-panel" data-testid="panel-{tab}" role="tabpanel" aria-labelledby="tab-{tab}"'
    return f"<div {attributes} hidden>{html}</div>"
