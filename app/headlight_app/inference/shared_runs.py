"""Computes the runs of several questions in one forward pass; each answer then finds its run in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headlight.nn.transformer import Transformer
from headlight.rendering.predictions import predicted_positions
from headlight.tasks import task_of
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_requests
from headlight.tracing.shared_pass import can_share_pass
from headlight_app.contract.question import Question
from headlight_app.inference.resolved_question import SHORT_TEXT_PATTERNS, ResolvedQuestion, keep_logits, resolve
from headlight_app.inference.trace_cache import RunKey, trace_cache


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """A run that an answer will look up by its key, and the positions whose logits it will need."""

    resolved: ResolvedQuestion
    key: RunKey
    request: RunRequest
    positions: tuple[int, ...]

    @property
    def model(self) -> Transformer:
        """The model variant of the run."""
        return self.resolved.model


def planned_runs(question: Question, query: int, *, is_alone: bool) -> list[PlannedRun]:
    """The uncached runs of a question: the question itself and, if it changes the model, the model as trained.

    Empty if the question `is_alone` and has no edits: nothing could share its run. Raises HeadlightError if invalid.
    """
    if is_alone and not question.edits:
        return []
    resolved = resolve(question)
    planned = []
    for each in (resolved, resolved.as_trained) if resolved.is_changed else (resolved,):
        key = each.run_key(SHORT_TEXT_PATTERNS)
        if each.is_surely_short and key not in trace_cache().runs:
            request, task = each.run_request(SHORT_TEXT_PATTERNS), task_of(each.config)
            answers_tokens = task.predicts and not task.whole_text
            mask = each.tokenizer.mask_id
            positions = predicted_positions(each.config, request.text, mask, query) if answers_tokens else ()
            planned.append(PlannedRun(each, key, request, positions))
    return [run for run in planned if can_share_pass(run.model, run.request)]


def run_together(planned: Sequence[PlannedRun]) -> None:
    """Compute and cache runs, with one forward pass per model; the only run of a model is skipped."""
    cache = trace_cache()
    for model in dict.fromkeys(run.model for run in planned):
        runs = list({run.key: run for run in planned if run.model is model}.values())
        if len(runs) < 2:
            continue
        found = run_requests(model, [(run.request, cache.previous(run.key)) for run in runs])
        pairs = [(run, finished) for run, finished in zip(runs, found, strict=True) if finished is not None]
        for run, finished in pairs:
            cache.store(run.key, finished)
        if asked := [(run.resolved, position) for run, _ in pairs for position in run.positions]:
            keep_logits(asked)
