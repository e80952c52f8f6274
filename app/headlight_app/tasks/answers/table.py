"""The table of tasks whose answers are views: the file of each name in this folder has its row."""

from __future__ import annotations

from headlight_app.explore.answers.analyses.row import table_of

NAMES = (
    "classify",
    "tag",
    "sort",
    "translate",
    "describe",
    "transcribe",
    "similar",
)
TASK_ANALYSES = table_of("task", __package__, NAMES)
