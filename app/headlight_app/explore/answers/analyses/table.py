"""The table of analyses, in the order of their tabs: the file of each name in this folder has its row."""

from __future__ import annotations

from headlight_app.explore.answers.analyses.row import table_of

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
ANALYSES = table_of("analysis", __package__, NAMES)
