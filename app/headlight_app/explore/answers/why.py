"""Why an answer leads, and why a head looks there."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from headlight.analysis import ledger
from headlight.analysis.attribution import attribute_logits
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.layer_analysis import extended_trace, target_answer
from headlight_app.explore.contract import (
    CellLedgerAnswer,
    CellLedgerRequest,
    ComponentAnswer,
    LogitDifferenceAnswer,
    LogitDifferenceRequest,
    NamedNumber,
)
from headlight_app.inference.resolved_question import resolve


def answer_logit_difference(request: LogitDifferenceRequest) -> Reply[LogitDifferenceAnswer]:
    """The contribution of each component to the logit of one answer, less that to the logit of another."""
    resolved = resolve(request.question)
    position, token, _ = target_answer(resolved, request.query, request.token)
    _, other, _ = target_answer(resolved, request.query, request.other)
    attribution = attribute_logits(resolved.model, extended_trace(resolved), position)
    one, another = attribution.logits(np.array([token, other])).T
    components = tuple(ComponentAnswer(**asdict(component)) for component in attribution.components)
    return Reply(LogitDifferenceAnswer(components=components), (one - another).astype("<f4").tobytes())


def answer_cell_ledger(request: CellLedgerRequest) -> Reply[CellLedgerAnswer]:
    """Who wrote the query and the key of a cell, and what each pair adds to its score."""
    resolved = resolve(request.question)
    cell = ledger.Cell(request.attention, request.head, request.query, request.key)
    found = ledger.cell_ledger(resolved.model, resolved.trace_of(*ledger.KEEP), cell)
    answer = CellLedgerAnswer(
        cell=str(cell),
        score=found.score,
        query_writers=found.query_writers,
        key_writers=found.key_writers,
        terms=tuple(NamedNumber(name=name, value=value) for name, value in found.terms.items()),
    )
    return Reply(answer, found.parts.astype("<f4").tobytes())
