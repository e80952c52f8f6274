"""Requests of Tasks besides those of Explore."""

from __future__ import annotations

from typing import ClassVar

from headlight_app.contract.request import OpenedRequest
from headlight_app.contract.state import Label
from headlight_app.explore.contract import AnalysisRow, ExplorePageAnswer


class TasksPageAnswer(ExplorePageAnswer, frozen=True, kw_only=True):
    """Explore's own data, and the tasks whose answers are views."""

    task_analyses: tuple[AnalysisRow, ...]


class TasksPageRequest(OpenedRequest[TasksPageAnswer], frozen=True, kw_only=True):
    """All data that Tasks needs before the first answer."""

    route: ClassVar[str] = "tasks_page"

    task: Label
