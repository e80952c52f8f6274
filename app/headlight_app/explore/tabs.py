"""The panels of Explore, and the analyses of the panel Layers: a row for each, with its title, HTML and JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape

from headlight.registry import Registry
from headlight_app.contract.state import Values


@dataclass(frozen=True)
class Tab:
    """One panel, opened by a part of the picture: its `title`, and `html` and `module` as paths in the package.

    The module's default export draws the tab (`Tab` in app/headlight_app/explore/frontend/types.d.ts).
    """

    title: str
    html: str
    module: str


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
            "ui/frontend/heads/heads_tab.js",
        ),
        "walkthrough": Tab(
            "Step by step",
            "explore/frontend/walkthrough/walkthrough_tab.html",
            "explore/frontend/walkthrough/walkthrough_tab.js",
        ),
        "layers": Tab(
            "Layers",
            "explore/frontend/layers/layers_tab.html",
            "explore/frontend/layers/layers_tab.js",
        ),
        "tokens": Tab(
            "Tokens and vectors",
            "explore/frontend/tokens/tokens_tab.html",
            "explore/frontend/tokens/tokens_tab.js",
        ),
    },
)


_LAYERS = "explore/frontend/layers"

ANALYSES: Registry[Analysis] = Registry(
    "analysis",
    {
        "logit_lens": Analysis("Logit lens", f"{_LAYERS}/logit_lens.html", f"{_LAYERS}/logit_lens.js"),
        "logit_attribution": Analysis(
            "Logit attribution",
            f"{_LAYERS}/logit_attribution.html",
            f"{_LAYERS}/logit_attribution.js",
            "What each head and each feed-forward writes to the residual stream adds to the logit of the answer.",
            has_target=True,
        ),
        "information_flow": Analysis(
            "Information flow",
            f"{_LAYERS}/information_flow/information_flow.html",
            f"{_LAYERS}/information_flow/information_flow.js",
            "Where the answer came from. A line is a share of what a token's residual stream is made of: slanting "
            "lines are attention, vertical ones the residual connection, squares the feed-forward. Click a line to "
            "select its head.",
        ),
        "head_ablation": Analysis(
            "Ablate all",
            f"{_LAYERS}/ablation/ablation.html",
            f"{_LAYERS}/ablation/ablation.js",
            "Each head is turned off alone, one after the other: the change in the log-probability of the answer, in "
            "bits: −1 halves it.",
            has_target=True,
            has_attention=True,
        ),
        "patching": Analysis(
            "Patching",
            f"{_LAYERS}/patching/patching.html",
            f"{_LAYERS}/patching/patching.js",
            "What sets two texts apart for the model, and where? One value after the other is taken from the run of "
            "another text, in which one word is different. The number is the share of the logit difference between "
            "both texts' answers that returns.",
            has_target=True,
            has_attention=True,
        ),
        "head_removal": Analysis(
            "Without this head",
            f"{_LAYERS}/ablation/head_removal.html",
            f"{_LAYERS}/ablation/head_removal.js",
            "The chosen head is switched off: what it no longer adds itself, how later heads and networks respond, and "
            "what the norms make of it. Together they are the whole change of the answer's logit. Why a part responds "
            "is left out.",
            has_target=True,
            has_attention=True,
        ),
        "token_rankings": Analysis(
            "Which tokens count",
            f"{_LAYERS}/token_rankings.html",
            f"{_LAYERS}/token_rankings.js",
            "Attention is one of several ways to rank the tokens that an answer stands on. Here each is put to the "
            "test: tokens are deleted in its order, and put back in its order. A text with holes is unlike any that "
            "the model has learned from.",
            has_target=True,
        ),
        "experts": Analysis(
            "Experts",
            f"{_LAYERS}/experts/experts.html",
            f"{_LAYERS}/experts/experts.js",
            "In place of one feed-forward network a layer has many, the experts. A router sends each token to a few of "
            "them: here to these, the one with the largest share first. In a row, tokens with the same colour share "
            "that one; each layer has experts of its own, whose numbers begin at 0 again.",
            of_experts=True,
        ),
        "head_search": Analysis(
            "Change the answer",
            f"{_LAYERS}/ablation/head_search.html",
            f"{_LAYERS}/ablation/head_search.js",
            "Which heads does the answer depend on? They are switched off one after another, each time the one whose "
            "loss takes most of the answer's lead, until another answer is the likeliest. The set need not be the "
            "smallest.",
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
