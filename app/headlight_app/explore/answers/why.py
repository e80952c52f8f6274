"""Why an answer leads, and why a head looks there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from headlight.analysis import head_removal, ledger
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.faithfulness import rankings
from headlight.analysis.moved_values import KEEP as MOVED_KEEP
from headlight.analysis.moved_values import moved_values
from headlight.nn.transformer import attention_at
from headlight.problem_types import problem_type_name
from headlight.rendering.predictions import answer_place
from headlight.tracing.trace import require_head
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.layer_analysis import answer_text, extended_trace, target_answer
from headlight_app.explore.contract import (
    CellLedgerAnswer,
    CellLedgerRequest,
    ComponentAnswer,
    HeadRemovalAnswer,
    HeadRemovalRequest,
    LogitDifferenceAnswer,
    LogitDifferenceRequest,
    NamedNumber,
    TokenRanking,
    TokenRankingsAnswer,
    TokenRankingsRequest,
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


def answer_head_removal(request: HeadRemovalRequest) -> Reply[HeadRemovalAnswer]:
    """How the logit of an answer changes without a head, largest responses first."""
    resolved = resolve(request.question)
    require_head(request.head, attention_at(resolved.model, request.attention)[0].heads)
    position, token, _ = target_answer(resolved, request.query, request.token)
    traced = resolved.trace_of(*head_removal.KEEP)
    found = head_removal.remove_head(resolved.model, traced, request.attention, request.head, position, token)
    preposition, token_text = answer_place(traced, position)
    answer = HeadRemovalAnswer(
        text=answer_text(traced, resolved.tokenizer, token),
        preposition=preposition,
        token_text=token_text,
        before=found.before,
        after=found.after,
        direct=found.direct,
        responses=_named(dict(sorted(found.responses.items(), key=lambda item: -abs(item[1])))),
        norms=found.norms,
        self_repair=found.self_repair,
        repairs_itself=found.repairs_itself,
    )
    return Reply(answer)


def answer_token_rankings(request: TokenRankingsRequest) -> Reply[TokenRankingsAnswer]:
    """The rankings of the tokens, each with its scores and its two curves."""
    resolved = resolve(request.question)
    position, token, _ = target_answer(resolved, request.query, request.token)
    traced = resolved.trace_of(*rankings.KEEP)
    found = rankings.compare_rankings(resolved.model, traced, position, token)
    preposition, token_text = answer_place(traced, position)
    best_deletion, best_insertion = rankings.most_faithful(found)
    answer = TokenRankingsAnswer(
        text=answer_text(traced, resolved.tokenizer, token),
        preposition=preposition,
        token_text=token_text,
        rankings=tuple(_ranking(name, each) for name, each in found.items()),
        steps=tuple(found["random"].steps.tolist()),
        can_go=tuple(sorted(found["random"].order.tolist())),
        best_deletion=best_deletion,
        best_insertion=best_insertion,
        problem_type=problem_type_name(traced.config),
    )
    numbers = [np.concatenate((each.scores, each.deletion, each.insertion)) for each in found.values()]
    return Reply(answer, np.concatenate(numbers).astype("<f4").tobytes())


def _ranking(name: str, found: rankings.Faithfulness) -> TokenRanking:
    row = rankings.RANKINGS[name] if name != "random" else None
    return TokenRanking(
        name=name,
        title=row.title if row else "Random order",
        source=row.source if row else f"the mean of {rankings.RANDOM_ORDERS} orders",
        deletion_area=found.deletion_area,
        insertion_area=found.insertion_area,
    )


def _named(numbers: Mapping[str, float]) -> tuple[NamedNumber, ...]:
    return tuple(NamedNumber(name=name, value=value) for name, value in numbers.items())
