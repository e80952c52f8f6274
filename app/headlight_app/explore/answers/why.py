"""Why an answer leads, and why a head looks there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from headlight.analysis import ledger
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.moved_values import KEEP as MOVED_KEEP
from headlight.analysis.moved_values import moved_values
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
    """The contribution of each component to the logit of one answer, minus its contribution to another's."""
    resolved = resolve(request.question)
    position, token, _ = target_answer(resolved, request.query, request.token)
    _, other, _ = target_answer(resolved, request.query, request.other)
    attribution = attribute_logits(resolved.model, extended_trace(resolved), position)
    one, another = attribution.logits(np.array([token, other])).T
    components = tuple(ComponentAnswer(**asdict(component)) for component in attribution.components)
    return Reply(LogitDifferenceAnswer(components=components), (one - another).astype("<f4").tobytes())


def answer_cell_ledger(request: CellLedgerRequest) -> Reply[CellLedgerAnswer]:
    """The components that wrote the query and the key of a cell, and what each pair adds to its score."""
    resolved = resolve(request.question)
    cell = ledger.Cell(request.attention, request.head, request.query, request.key)
    found = ledger.cell_ledger(resolved.model, resolved.trace_of(*ledger.KEEP), cell)
    moved = moved_values(resolved.model, resolved.trace_of(*MOVED_KEEP), cell.path)
    place = cell.head, cell.query, cell.key
    answer = CellLedgerAnswer(
        cell=str(cell),
        score=found.score,
        query_writers=found.query_writers,
        key_writers=found.key_writers,
        terms=_named(found.terms),
        weight=float(moved.weights[place]),
        length_share=float(moved.length[place]),
        direction_share=None if np.isnan(moved.direction[place]) else float(moved.direction[place]),
    )
    return Reply(answer, found.parts.astype("<f4").tobytes())


def _named(numbers: Mapping[str, float]) -> tuple[NamedNumber, ...]:
    return tuple(NamedNumber(name=name, value=value) for name, value in numbers.items())
