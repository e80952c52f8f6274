"""Answers for Layers: logit attribution; the answers of a model in words."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isfinite

import numpy as np

from headlight.analysis import ablation as head_ablation
from headlight.analysis import attribution as logit_attribution
from headlight.analysis import information_flow, residual_stream
from headlight.analysis.lenses import logit_lens
from headlight.config import Config
from headlight.errors import TextError
from headlight.problem_types import problem_type_of
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.trace import Trace
from headlight.views.words import digits, percent, quoted, signed
from headlight_app.contract.reply import Reply
from headlight_app.explore.contract import (
    ComponentAnswer,
    LogitAttributionAnswer,
    LogitAttributionRequest,
)
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

# All values the tab needs beyond those every question keeps: one forward pass for all of its plots.
KEEP_PATTERNS = tuple(sorted({*logit_lens.KEEP, *residual_stream.KEEP, *information_flow.KEEP, *head_ablation.KEEP}))
TOP_TOKENS = 5  # that a feed-forward promotes


def answer_logit_attribution(request: LogitAttributionRequest) -> Reply[LogitAttributionAnswer]:
    """The contribution of each part to the logit of a token."""
    resolved = resolve(request.question)
    position, token, logits = target_answer(resolved, request.query, request.token)
    attribution = logit_attribution.attribute_logits(resolved.model, extended_trace(resolved), position)
    added = attribution.logits(np.array([token]))[:, 0]
    answer = LogitAttributionAnswer(
        position=position,
        token=token,
        text=answer_text(resolved.trace, resolved.tokenizer, token),
        logit=float(logits[token]),
        components=tuple(ComponentAnswer(**asdict(component)) for component in attribution.components),
    )
    return Reply(answer, added.astype("<f4").tobytes())


def extended_trace(resolved: ResolvedQuestion) -> Trace:
    """A trace with the values that every question keeps and those that this tab needs."""
    return replace(resolved.trace, values={**resolved.trace_of(*KEEP_PATTERNS).values, **resolved.trace.values})


def depth_labels(config: Config) -> tuple[str, ...]:
    """The names on an axis of the depths of the residual stream: each is that of the layer before it."""
    return ("emb.", *(f"L{layer}" for layer in range(config.num_layers(config.stacks[-1]))))


def position_of(query: int, traced: Trace) -> int:
    """The position that a query names; the last if it names none."""
    length = len(traced.text.ids)
    return query if 0 <= query < length else length - 1


def target_answer(resolved: ResolvedQuestion, query: int, token: int = -1) -> tuple[int, int, np.ndarray]:
    """The position, the requested token (or label), and all logits there; token -1 is the likeliest."""
    position = position_of(query, resolved.trace)
    logits = resolved.logits(position)
    if token >= len(logits):
        raise TextError(f"There is no answer {token}; this model chooses among {len(logits):,}.")
    return position, token if token >= 0 else int(logits.argmax()), logits.astype(np.float64)


def answer_text(traced: Trace, tokenizer: Tokenizer, token: int) -> str:
    """The text of a token, or the name of a label."""
    return label_text(traced.config, token) if task_of(traced.config).predicts_labels else tokenizer.token_text(token)


def answer_number(config: Config, number: float) -> str:
    """The probability of an answer as a percentage, or its score."""
    if problem_type_of(config).is_probability:
        return percent(number)
    return digits(number, max(4, len(str(int(abs(number))))) if isfinite(number) else 4)


def promoted_words(row: np.ndarray, sign: int, resolved: ResolvedQuestion) -> str:
    """The answers with the largest numbers of a row (the smallest if `sign` is -1), and these numbers."""
    signed_row, count = -sign * row, min(TOP_TOKENS, len(row))
    extreme = np.argpartition(signed_row, count - 1)[:count]
    ranked = extreme[np.argsort(signed_row[extreme], kind="stable")]
    texts = ((answer_text(resolved.trace, resolved.tokenizer, int(token)), float(row[token])) for token in ranked)
    return ", ".join(f"{quoted(text)} {signed(number)}" for text, number in texts)
