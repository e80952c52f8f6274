"""The views of an analysis, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from headlight.errors import InputError
from headlight.registry import Registry
from headlight.views.encoding import plain_rows
from headlight_app.contract.reply import Reply
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.contract import (
    AnalysisAnswer,
    AnalysisPartRequest,
    AnalysisRequest,
    AnalysisStepAnswer,
    AnalysisStepRequest,
    LongAnalysisRequest,
)
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

Part = TypeVar("Part", bound=Callable[..., Any])


@dataclass(frozen=True)
class AnalysisAnswers:
    """The answers of the analyses of some tables."""

    tables: tuple[Registry[Analysis], ...]

    def at_once(self, request: AnalysisRequest) -> Reply[AnalysisAnswer]:
        """What an analysis shows at once. Raises HeadlightError."""
        return _answer(request, self.row(request.analysis).compute)

    def long(self, request: LongAnalysisRequest) -> Reply[AnalysisAnswer]:
        """What an analysis shows after seconds."""
        return _answer(request, self.row(request.analysis).compute_long)

    def step(self, request: AnalysisStepRequest) -> Reply[AnalysisStepAnswer]:
        """What an analysis shows after another step."""
        take = _existing(request, self.row(request.analysis).step)
        step = take(resolve(request.question), request.choice, request.progress)
        rows = plain_rows(step.views, with_tables=request.with_tables)
        return Reply(AnalysisStepAnswer(rows=rows, progress=step.progress, done=step.done, words=step.words))

    def row(self, name: str) -> Analysis:
        """The row of an analysis. Raises UnknownNameError."""
        return next((table for table in self.tables if name in table), self.tables[0])[name]


def _answer(
    request: AnalysisPartRequest[AnalysisAnswer], part: Callable[[ResolvedQuestion, State], Views] | None
) -> Reply[AnalysisAnswer]:
    shown = _existing(request, part)(resolve(request.question), request.choice)
    return Reply(AnalysisAnswer(rows=plain_rows(shown, with_tables=request.with_tables)))


def _existing(request: AnalysisPartRequest[Any], part: Part | None) -> Part:
    if part is None:
        raise InputError(f"The analysis {request.analysis!r} has no answer at the route {type(request).route}.")
    return part
