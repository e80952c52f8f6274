"""The views of an analysis, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from headlight.errors import InputError
from headlight.views.encoding import plain
from headlight.views.rows import Row, as_rows
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.answers.explanations.table import EXPLANATIONS
from headlight_app.explore.contract import (
    AnalysisAnswer,
    AnalysisPartRequest,
    AnalysisRequest,
    AnalysisStepAnswer,
    AnalysisStepRequest,
    LongAnalysisRequest,
)
from headlight_app.inference.resolved_question import resolve

Part = TypeVar("Part", bound=Callable[..., Any])


def answer_analysis(request: AnalysisRequest) -> Reply[AnalysisAnswer]:
    """What an analysis shows at once. Raises HeadlightError."""
    compute = _existing(request, _row(request).compute)
    return Reply(AnalysisAnswer(rows=_plain_rows(compute(resolve(request.question), request.choice), request)))


def answer_long_analysis(request: LongAnalysisRequest) -> Reply[AnalysisAnswer]:
    """What an analysis shows after seconds."""
    compute = _existing(request, _row(request).compute_long)
    return Reply(AnalysisAnswer(rows=_plain_rows(compute(resolve(request.question), request.choice), request)))


def answer_analysis_step(request: AnalysisStepRequest) -> Reply[AnalysisStepAnswer]:
    """What an analysis shows after another step."""
    take = _existing(request, _row(request).step)
    step = take(resolve(request.question), request.choice, request.progress)
    rows = _plain_rows(step.views, request)
    return Reply(AnalysisStepAnswer(rows=rows, progress=step.progress, done=step.done, words=step.words))


def _row(request: AnalysisPartRequest[Any]) -> Analysis:
    return (EXPLANATIONS if request.analysis in EXPLANATIONS else ANALYSES)[request.analysis]


def _existing(request: AnalysisPartRequest[Any], part: Part | None) -> Part:
    if part is None:
        raise InputError(f"The analysis {request.analysis!r} has no answer at the route {type(request).route}.")
    return part


def _plain_rows(views: Views, request: AnalysisPartRequest[Any]) -> tuple[Any, ...]:
    rows = as_rows(views)
    return tuple(plain(row if request.with_tables else _without_tables(row)) for row in rows)


def _without_tables(row: Row) -> Row:
    return replace(row, views=tuple(replace(view, tables=None) for view in row.views))
