"""The tabs of Explore: a row for each, with its title, its HTML and the JavaScript module that draws it."""

from __future__ import annotations

from dataclasses import dataclass

from model.registry import Registry


@dataclass(frozen=True)
class Tab:
    """One tab: `title` as people read it, `html` and `module` as paths from the project's folder.

    The module exports by default what draws the tab (`Tab` in app/explore/frontend/types.d.ts).
    """

    title: str
    html: str
    module: str


TABS: Registry[Tab] = Registry(
    "tab",
    {
        "heads": Tab(
            "Heads",
            "model/rendering/static/heads/heads_tab.html",
            "model/rendering/static/heads/heads_tab.js",
        ),
        "walkthrough": Tab(
            "Step by step",
            "app/explore/frontend/walkthrough/walkthrough_tab.html",
            "app/explore/frontend/walkthrough/walkthrough_tab.js",
        ),
        "layers": Tab(
            "Layers",
            "app/explore/frontend/layers/layers_tab.html",
            "app/explore/frontend/layers/layers_tab.js",
        ),
    },
)


def tabs_json() -> list[dict[str, str]]:
    """The tabs as the browser needs them."""
    return [{"name": name, "title": tab.title, "module": tab.module} for name, tab in TABS.items()]
