"""The tabs of Explore, and the analyses of the tab Layers: a row for each, with its title, HTML and JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from model.registry import Registry


@dataclass(frozen=True)
class Tab:
    """One tab: `title` as people read it, `html` and `module` as paths from the project's folder.

    The module exports by default what draws the tab (`Tab` in app/explore/frontend/types.d.ts).
    """

    title: str
    html: str
    module: str


@dataclass(frozen=True)
class Analysis(Tab):
    """One analysis of the tab Layers: a tab within it, and whether people choose its answer and its attention."""

    has_target: bool = False
    has_attention: bool = False


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
        "model": Tab(
            "Model",
            "app/explore/frontend/model_diagram/model_tab.html",
            "app/explore/frontend/model_diagram/model_tab.js",
        ),
    },
)


_LAYERS = "app/explore/frontend/layers"

ANALYSES: Registry[Analysis] = Registry(
    "analysis",
    {
        "logit_lens": Analysis("Logit lens", f"{_LAYERS}/logit_lens.html", f"{_LAYERS}/logit_lens.js"),
        "logit_attribution": Analysis(
            "Logit attribution", f"{_LAYERS}/contributions.html", f"{_LAYERS}/contributions.js", has_target=True
        ),
        "information_flow": Analysis(
            "Information flow",
            f"{_LAYERS}/information_flow/information_flow.html",
            f"{_LAYERS}/information_flow/information_flow.js",
        ),
        "head_ablation": Analysis(
            "Ablate all", f"{_LAYERS}/ablation.html", f"{_LAYERS}/ablation.js", has_target=True, has_attention=True
        ),
    },
)


def tabs_json(tabs: Mapping[str, Tab]) -> list[dict[str, Any]]:
    """Tabs or analyses as the browser needs them."""
    return [
        {"name": name, **{key: value for key, value in asdict(tab).items() if key != "html"}}
        for name, tab in tabs.items()
    ]


def analysis_section(name: str, analysis: Analysis, html: str) -> str:
    """The HTML of one analysis."""
    return f'<section class="{name}" data-analysis="{name}" aria-label="{analysis.title}" hidden>{html}</section>'
