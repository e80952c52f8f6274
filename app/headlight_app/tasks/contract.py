"""Requests of Tasks besides those of Explore."""

from __future__ import annotations

from typing import ClassVar

from headlight_app.contract.answer_numbers import AnswerNumbers
from headlight_app.contract.parts import Candidate
from headlight_app.contract.request import OpenedRequest, QuestionRequest
from headlight_app.contract.state import Label
from headlight_app.explore.contract import AnalysisRow, ExplorePageAnswer


class TasksPageAnswer(ExplorePageAnswer, frozen=True, kw_only=True):
    """Explore's own data, and the tasks whose answers are views."""

    task_analyses: tuple[AnalysisRow, ...]


class TasksPageRequest(OpenedRequest[TasksPageAnswer], frozen=True, kw_only=True):
    """All data that Tasks needs before the first answer."""

    route: ClassVar[str] = "tasks_page"

    task: Label


class TokenLabelsAnswer(AnswerNumbers, frozen=True, kw_only=True):
    """The likeliest labels of each token, the likeliest ones `as_trained`, and the names of all labels.

    A likeliest label `as_trained` is empty if labels do not exclude each other and none is likelier than not.
    """

    labels: tuple[tuple[Candidate, ...], ...]
    as_trained: tuple[str, ...]
    changed: bool
    names: tuple[str, ...]


class TokenLabelsRequest(QuestionRequest[TokenLabelsAnswer], frozen=True, kw_only=True):
    """The likeliest labels of each token; all labels if `every_label`."""

    route: ClassVar[str] = "token_labels"

    every_label: bool = False
