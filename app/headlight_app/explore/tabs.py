"""The panels of Explore: a row for each, with its title and HTML; and the HTML of analyses of the panel Layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from headlight.registry import Registry
from headlight_app.contract.state import Values


@dataclass(frozen=True)
class Tab:
    """One panel, opened by a part of the picture: its `title`, the path of its `html` in the package, and its `route`.

    `explore/frontend/panels.ts` names the module that draws it.
    """

    title: str
    html: str
    route: str


TABS: Registry[Tab] = Registry(
    "tab",
    {
        "heads": Tab(
            "Heads",
            "ui/frontend/heads/heads_tab.html",
            "head_view",
        ),
        "walkthrough": Tab(
            "Step by step",
            "explore/frontend/walkthrough/walkthrough_tab.html",
            "walkthrough",
        ),
        "layers": Tab(
            "Layers",
            "explore/frontend/layers/layers_tab.html",
            "analysis",
        ),
        "tokens": Tab(
            "Tokens and vectors",
            "explore/frontend/tokens/tokens_tab.html",
            "input_vectors",
        ),
    },
)


def tabs_json(tabs: Mapping[str, Tab]) -> list[Values]:
    """Tabs in the browser's format."""
    return [{"name": name, "title": tab.title, "route": tab.route} for name, tab in tabs.items()]


def tab_panel(tab: str, html: str) -> str:
    """The HTML of one tab's panel."""
    label = escape(TABS[tab].title)
    attributes = f'class="tab-panel {tab}-panel" data-testid="panel-{tab}" role="region" aria-label="{label}"'
    return f"<div {attributes} hidden>{html}</div>"
