"""The table of tasks whose answers are views: the file of each name in this folder has its row."""

from __future__ import annotations

from importlib import import_module

from headlight.registry import Registry
from headlight_app.explore.answers.analyses.row import Analysis

NAMES = (
    "classify",
    "tag",
    "translate",
    "similar",
)


def _row(name: str) -> Analysis:
    found: Analysis = import_module(f"{__package__}.{name}").ANALYSIS
    return found


TASK_ANALYSES: Registry[Analysis] = Registry("task", {name: _row(name) for name in NAMES})
