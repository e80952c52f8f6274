"""The tasks whose answers are views, by name."""

from __future__ import annotations

from headlight.registry import Registry
from headlight_app.explore.answers.analyses.row import Analysis
from headlight_app.tasks.answers.beams import TRANSLATE
from headlight_app.tasks.answers.classify import CLASSIFY
from headlight_app.tasks.answers.similar import SIMILAR
from headlight_app.tasks.answers.tag import TAG

TASK_ANALYSES: Registry[Analysis] = Registry(
    "task", {"classify": CLASSIFY, "tag": TAG, "translate": TRANSLATE, "similar": SIMILAR}
)
