"""Attention step by step, and what the last layer becomes, as a component asks for it: numbers, formulas, shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.explore.layer_analysis import answer_text
from app.state.request import integer_or_zero, parse_question
from app.ui.wire_format import pack
from app.worker.resolved_question import ResolvedQuestion, resolve
from model.analysis.walkthrough import attention as attention_steps
from model.analysis.walkthrough import prediction as prediction_steps
from model.analysis.walkthrough.prediction import PredictionWalkthrough
from model.analysis.walkthrough.steps import StepValue, WalkthroughStep
from model.nn.hook_points import QUERY_KEY_HOOK_POINTS, hook_point_of
from model.nn.transformer import attention_at
from model.tasks import task_of
from model.tracing.trace import Trace


def handle_walkthrough(body: dict[str, Any]) -> bytes:
    """The steps of one head between two tokens, then those of the prediction at the query, by their numbers.

    A `key` of -1 is the one with the largest weight, a `token` of -1 the likeliest answer.
    """
    resolved = resolve(parse_question(body))
    model = resolved.model
    attention, head = str(body.get("attention", "")), integer_or_zero(body.get("head", 0))
    attention_at(model, attention)  # an unknown path would keep nothing, and the error would not name it
    traced = _trace(resolved, attention)
    query = _valid_query(integer_or_zero(body.get("query", -1)), traced[f"{attention}.q"].shape[1])
    key = integer_or_zero(body.get("key", -1))
    if key < 0:
        key = attention_steps.most_attended_key(model, traced, attention, head, query)
    steps = attention_steps.attention_walkthrough(model, traced, attention, head, query, key)
    prediction = _prediction(resolved, traced, attention, query, integer_or_zero(body.get("token", -1)))
    steps += prediction.steps if prediction else ()
    arrays = [value.array.astype("<f4").ravel() for step in steps for value in step.values]
    meta = {
        "query": query,
        "key": key,
        "answer": prediction.answers.index(prediction.answer) if prediction else -1,
        "answers": [
            {"id": answer, "text": answer_text(traced, resolved.tokenizer, answer)}
            for answer in (prediction.answers if prediction else ())
        ],
        "steps": [_step_payload(step, traced, attention) for step in steps],
    }
    return pack(meta, np.concatenate(arrays).tobytes())


def _trace(resolved: ResolvedQuestion, attention: str) -> Trace:
    keep = (*attention_steps.paths_to_keep(attention), *prediction_steps.paths_to_keep(resolved.config))
    return resolved.trace_of(*dict.fromkeys(keep))


def _valid_query(query: int, length: int) -> int:
    return query if 0 <= query < length else length - 1


def _prediction(
    resolved: ResolvedQuestion, traced: Trace, attention: str, query: int, answer: int
) -> PredictionWalkthrough | None:
    """The steps after the last layer, where the query is a token of the stack that makes the prediction."""
    if attention.partition(".")[0] != resolved.config.stacks[-1]:
        return None
    return prediction_steps.prediction_walkthrough(resolved.model, traced, query, answer)


def _step_payload(step: WalkthroughStep, traced: Trace, attention: str) -> dict[str, Any]:
    def value_payload(each: StepValue) -> dict[str, Any]:
        return {"symbol": each.symbol, "axis": each.axis, "count": each.array.size}

    queries, keys = traced[f"{attention}.q"], traced[f"{attention}.k"]
    head_query_key = [queries.shape[0], queries.shape[1], keys.shape[1]]

    def shape_payload(path: str) -> dict[str, Any]:
        if path == "logits":
            return {"hook_point": path, **_logits_shape(traced)}
        hook_point = path.rpartition(".")[2]
        sizes = head_query_key if hook_point in QUERY_KEY_HOOK_POINTS else list(traced[path].shape)
        return {"hook_point": hook_point, "axes": list(hook_point_of(path).axes), "sizes": sizes}

    return {
        "name": step.name,
        "title": step.description.title,
        "explanation": step.description.explanation,
        "part": step.description.part,
        "formula": step.formula,
        "edited": step.edited,
        "shapes": [shape_payload(path) for path in step.paths],
        "values": [value_payload(each) for each in step.values],
    }


def _logits_shape(traced: Trace) -> dict[str, Any]:
    """Axes and sizes of the logits, which the trace need not hold."""
    config, task = traced.config, task_of(traced.config)
    answers = ("token", config.vocabulary_size) if task.predicts_tokens else ("label", len(config.labels))
    axes = [answers] if task.whole_text else [("pos", len(traced.text.ids)), answers]
    return {"axes": [axis for axis, _ in axes], "sizes": [size for _, size in axes]}
