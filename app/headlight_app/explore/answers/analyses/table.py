"""The table of analyses, in the order of their tabs: the file of each name in this folder has its row."""

from __future__ import annotations

from importlib import import_module

from headlight.registry import Registry
from headlight_app.explore.answers.analyses.row import Analysis

NAMES = (
    "logit_lens",
    "logit_attribution",
    "information_flow",
    "head_ablation",
    "patching",
    "head_removal",
    "token_rankings",
    "experts",
    "head_search",
)


def _row(name: str) -> Analysis:
    found: Analysis = import_module(f"{__package__}.{name}").ANALYSIS
    return found


ANALYSES: Registry[Analysis] = Registry("analysis", {name: _row(name) for name in NAMES})
