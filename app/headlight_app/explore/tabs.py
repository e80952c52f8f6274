"""The panels of Explore, and the analyses of the panel Layers: a row for each, with its title and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape

from headlight.registry import Registry
from headlight_app.contract.state import Values


@dataclass(frozen=True)
class Tab:
    """One panel, opened by a part of the picture: its `title`, and the path of its `html` in the package.

    `explore/frontend/panels.js` names the module that draws it, and `layers/analyses.js` those of the analyses.
    """

    title: str
    html: str


@dataclass(frozen=True)
class Analysis(Tab):
    """One analysis of the tab Layers: a tab within it; `lesson` explains in a few sentences what it shows.

    The lesson is empty if it depends on the model. The visitor chooses the answer if it `has_target`, and the attention
    if it `has_attention`; `of_likeliest`: it analyses the likeliest answer. `of_experts`: only models with experts show
    it.
    """

    lesson: str = ""
    has_target: bool = False
    of_likeliest: bool = False
    has_attention: bool = False
    of_experts: bool = False


TABS: Registry[Tab] = Registry(
    "tab",
    {
        "heads": Tab(
            "Heads",
            "ui/frontend/heads/heads_tab.html",
        ),
        "walkthrough": Tab(
            "Step by step",
            "explore/frontend/walkthrough/walkthrough_tab.html",
        ),
        "layers": Tab(
            "Layers",
            "explore/frontend/layers/layers_tab.html",
        ),
        "tokens": Tab(
            "Tokens and vectors",
            "explore/frontend/tokens/tokens_tab.html",
        ),
    },
)


_LAYERS = "explore/frontend/layers"

ANALYSES: Registry[Analysis] = Registry(
    "analysis",
    {
        "logit_lens": Analysis("Logit lens", f"{_LAYERS}/logit_lens.html"),
        "logit_attribution": Analysis(
            "Logit attribution",
            f"{_LAYERS}/logit_attribution.html",
            "Each head and each feed-forward writes to the residual stream and so adds to the logit of the answer.",
            has_target=True,
        ),
        "information_flow": Analysis(
            "Information flow",
            f"{_LAYERS}/information_flow/information_flow.html",
            "Where the answer came from. A line shows a share of a token's residual stream: slanting lines are "
            "attention, vertical lines the residual connection, squares the feed-forward. Click a line to select its "
            "head.",
        ),
        "head_ablation": Analysis(
            "Ablate all",
            f"{_LAYERS}/ablation/ablation.html",
            "Each head is switched off alone. The number is the change in the log-probability of the answer, in bits "
            "(−1 halves the probability), or the change in its score.",
            has_target=True,
            has_attention=True,
        ),
        "patching": Analysis(
            "Patching",
            f"{_LAYERS}/patching/patching.html",
            "Where does the model distinguish two texts? Each value in turn is replaced by its value for another text "
            "with one different word. The number is the share of the logit difference between the two answers that "
            "this restores.",
            has_target=True,
            has_attention=True,
        ),
        "head_removal": Analysis(
            "Without this head",
            f"{_LAYERS}/ablation/head_removal.html",
            "The chosen head is switched off. The change in the answer's logit is the sum of the head's own "
            "contribution, the responses of later heads and networks, and the effect of the norms. This does not show "
            "why a part responds. The head's weights become 0; for self-repair, Rushing and Nanda (2024) put in its "
            "output on another text instead.",
            has_target=True,
            has_attention=True,
        ),
        "token_rankings": Analysis(
            "Which tokens count",
            f"{_LAYERS}/token_rankings.html",
            "Attention is one of several ways to rank tokens by their importance for an answer. Each ranking is tested "
            "here: tokens are deleted in its order, and restored in its order. A deleted token keeps its place, and no "
            "token attends to it; Petsiuk et al. (2018) overwrite the input. The model never saw texts with such gaps "
            "in training.",
            has_target=True,
        ),
        "experts": Analysis(
            "Experts",
            f"{_LAYERS}/experts/experts.html",
            "Instead of one feed-forward network, a layer has many: its experts. A router sends each token to a few of "
            "them, listed here with the largest share first. In a row, tokens with the same first expert have the "
            "same colour. Each layer has its own experts, numbered from 0.",
            of_experts=True,
        ),
        "head_search": Analysis(
            "Change the answer",
            f"{_LAYERS}/ablation/head_search.html",
            "Which heads does the answer depend on? Heads are switched off one by one, each time the head that reduces "
            "the answer's lead most, until another answer is the likeliest. A smaller set may exist.",
            of_likeliest=True,
        ),
    },
)


def tabs_json(tabs: Mapping[str, Tab]) -> list[Values]:
    """Tabs or analyses in the browser's format."""
    return [
        {"name": name, **{key: value for key, value in asdict(tab).items() if key not in ("html", "lesson")}}
        for name, tab in tabs.items()
    ]


def tab_panel(tab: str, html: str) -> str:
    """The HTML of one tab's panel."""
    label = escape(TABS[tab].title)
    attributes = f'class="tab-panel {tab}-panel" data-testid="panel-{tab}" role="region" aria-label="{label}"'
    return f"<div {attributes} hidden>{html}</div>"


def analysis_section(name: str, analysis: Analysis, html: str) -> str:
    """The HTML of one analysis, its lesson first."""
    lesson = f'<p class="explain">{escape(analysis.lesson)}</p>' if analysis.lesson else ""
    opening = f'<section class="{name}" data-analysis="{name}" aria-label="{analysis.title}" hidden>'
    return f"{opening}{lesson}{html}</section>"
