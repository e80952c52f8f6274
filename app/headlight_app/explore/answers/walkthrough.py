"""Attention and prediction step by step: numbers, formulas and shapes for the walkthrough."""

from __future__ import annotations

import numpy as np

from headlight.analysis.walkthrough import attention as attention_steps
from headlight.analysis.walkthrough import prediction as prediction_steps
from headlight.analysis.walkthrough.prediction import PredictionWalkthrough
from headlight.analysis.walkthrough.steps import WalkthroughStep
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, hook_point_of
from headlight.nn.transformer import attention_at
from headlight.tasks import task_of
from headlight.tracing.trace import Trace
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.layer_analysis import answer_text
from headlight_app.explore.contract import (
    NamedAnswer,
    StepAnswer,
    StepShape,
    StepValueAnswer,
    WalkthroughAnswer,
    WalkthroughRequest,
)
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve


def answer_walkthrough(request: WalkthroughRequest) -> Reply[WalkthroughAnswer]:
    """The steps of one head between two tokens, then those of the prediction at the query, with their numbers.

    A `key` of -1 is the most attended key, a `token` of -1 the likeliest answer.
    """
    resolved = resolve(request.question)
    model, attention, head, key = resolved.model, request.attention, request.head, request.key
    attention_at(model, attention)  # fails for an unknown path, which would keep nothing
    traced = _trace(resolved, attention)
    query = _valid_query(request.query, traced[f"{attention}.q"].shape[1])
    if key < 0:
        key = attention_steps.most_attended_key(model, traced, attention, head, query)
    steps = attention_steps.attention_walkthrough(model, traced, attention, head, query, key)
    prediction = _prediction(resolved, traced, attention, query, request.token)
    steps += prediction.steps if prediction else ()
    arrays = [value.array.astype("<f4").ravel() for step in steps for value in step.values]
    answer = WalkthroughAnswer(
        query=query,
        key=key,
        answer=prediction.answers.index(prediction.answer) if prediction else -1,
        answers=tuple(
            NamedAnswer(id=answer, text=answer_text(traced, resolved.tokenizer, answer))
            for answer in (prediction.answers if prediction else ())
        ),
        steps=tuple(_step_answer(step, traced, attention, _words(traced, attention, query, key)) for step in steps),
    )
    return Reply(answer, np.concatenate(arrays).tobytes())


def _trace(resolved: ResolvedQuestion, attention: str) -> Trace:
    keep = (
        *attention_steps.paths_to_keep(resolved.config, attention),
        *prediction_steps.paths_to_keep(resolved.config),
    )
    return resolved.trace_of(*dict.fromkeys(keep))


def _valid_query(query: int, length: int) -> int:
    return query if 0 <= query < length else length - 1


def _prediction(
    resolved: ResolvedQuestion, traced: Trace, attention: str, query: int, answer: int
) -> PredictionWalkthrough | None:
    """The steps after the last layer; None if the query is not in the stack that makes the prediction."""
    if attention.partition(".")[0] != resolved.config.stacks[-1]:
        return None
    return prediction_steps.prediction_walkthrough(resolved.model, traced, query, answer)


def _words(traced: Trace, attention: str, query: int, key: int) -> dict[str, str]:
    """The placeholders of the explanations: the query's and key's text, and the model width."""
    stack, _, kind = attention.split(".")
    places = {"query": (stack, query), "key": ("encoder" if kind == "cross" else stack, key)}
    texts = {name: (traced.text_of_stack(side), place) for name, (side, place) in places.items()}
    shown = {name: text.token_texts[place].strip() or text.tokens[place] for name, (text, place) in texts.items()}
    return {**shown, "width": str(traced.config.d_model)}


def _step_answer(step: WalkthroughStep, traced: Trace, attention: str, words: dict[str, str]) -> StepAnswer:
    values = (StepValueAnswer(symbol=each.symbol, axis=each.axis, count=each.array.size) for each in step.values)
    return StepAnswer(
        name=step.name,
        title=step.description.title,
        explanation=step.description.explanation.format(**words),
        part=step.description.part,
        formula=step.formula,
        edited=step.edited,
        shapes=tuple(_shape(path, traced, attention) for path in step.paths),
        values=tuple(values),
    )


def _shape(path: str, traced: Trace, attention: str) -> StepShape:
    """The axes and sizes of a value, which need not be in the trace."""
    if path == "logits":
        return _logits_shape(traced)
    hook_point = path.rpartition(".")[2]
    if hook_point in QUERY_KEY_HOOK_POINTS:
        queries, keys = traced[f"{attention}.q"], traced[f"{attention}.k"]
        sizes: tuple[int, ...] = (queries.shape[0], queries.shape[1], keys.shape[1])
    else:
        sizes = traced[path].shape
    return StepShape(hook_point=hook_point, axes=hook_point_of(path).axes, sizes=sizes)


def _logits_shape(traced: Trace) -> StepShape:
    config, task = traced.config, task_of(traced.config)
    answers = ("token", config.vocabulary_size) if task.predicts_tokens else ("label", len(config.labels))
    axes = [answers] if task.whole_text else [("pos", len(traced.text.ids)), answers]
    return StepShape(hook_point="logits", axes=tuple(axis for axis, _ in axes), sizes=tuple(size for _, size in axes))
