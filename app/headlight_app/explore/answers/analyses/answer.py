"""The views of an analysis, as JSON."""

from __future__ import annotations

from dataclasses import replace

from headlight.errors import InputError
from headlight.views.encoding import plain
from headlight.views.rows import Row, as_rows
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.contract import AnalysisAnswer, AnalysisRequest, LongAnalysisRequest
from headlight_app.inference.resolved_question import resolve


def answer_analysis(request: AnalysisRequest) -> Reply[AnalysisAnswer]:
    """The rows of views of an analysis. Raises HeadlightError.

    The analysis's own row decides whether it is long work, not the route of the request.
    """
    analysis = ANALYSES[request.analysis]
    if analysis.compute is None:
        raise InputError(f"The analysis {request.analysis!r} has a route of its own, and no views.")
    if analysis.is_long and not isinstance(request, LongAnalysisRequest):
        raise InputError(f"The analysis {request.analysis!r} is long work. Use the route long_analysis.")
    rows = as_rows(analysis.compute(resolve(request.question), request.choice))
    sent = rows if request.with_tables else map(_without_tables, rows)
    return Reply(AnalysisAnswer(rows=tuple(map(plain, sent))))


def _without_tables(row: Row) -> Row:
    return replace(row, views=tuple(replace(view, tables=None) for view in row.views))


def answer_long_analysis(request: LongAnalysisRequest) -> Reply[AnalysisAnswer]:
    """The same for one that takes seconds."""
    return answer_analysis(request)
