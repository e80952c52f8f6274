"""Ablate all: the change of an answer without each head, one head after another."""

from __future__ import annotations

import torch

from headlight.analysis import ablation
from headlight.problem_types import problem_type_of
from headlight.views.words import NATS_PER_BIT, quoted, signed
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Step, Views
from headlight_app.explore.answers.analyses.stepwise import StepwiseMap, require_heads
from headlight_app.explore.answers.layer_analysis import (
    answer_number,
    answer_text,
    extended_trace,
    target_answer,
)
from headlight_app.inference.head_selection import selected_attention
from headlight_app.inference.resolved_question import ResolvedQuestion


def before_the_start(resolved: ResolvedQuestion, state: State) -> Views:
    """Nothing, for a model with heads to switch off."""
    require_heads(resolved.config)
    return ()


def head_ablation(resolved: ResolvedQuestion, state: State, progress: str) -> Step:
    """The change of an answer's log-probability (bits) or score without each head of the selected attention."""
    require_heads(resolved.config)
    group = selected_attention(resolved.config, state.attention)
    position, token, logits = target_answer(resolved, state.query, state.target_token)
    traced, problem_type = extended_trace(resolved), problem_type_of(resolved.config)
    unit = NATS_PER_BIT if problem_type.is_probability else 1.0
    before = float(problem_type.compared(torch.from_numpy(logits))[token]) / unit

    def value(change: float) -> str:
        after = before + change
        return answer_number(resolved.config, 2.0 ** min(after, 0.0) if problem_type.is_probability else after)

    def batch(layer: int, first: int) -> list[float]:
        count = min(ablation.heads_per_batch(traced), group.heads - first)
        found = ablation.ablate_heads(resolved.model, traced, group.path(layer), position, token, first, count)
        changes: list[float] = (found / unit - before).tolist()
        return changes

    bits = " bits" * problem_type.is_probability
    low, high = ("less likely", "more likely") if problem_type.is_probability else ("lower", "higher")
    return StepwiseMap(
        "Change without each head" + f", in{bits}" * bool(bits),
        "The largest changes",
        "heads",
        group.layers,
        tuple(map(str, range(group.heads))),
        f"Blue: the answer is {low} without the head. Orange: {high}. Click a head to choose it.",
        lambda layer, head: f"Layer {layer}, head {head}",
        lambda change: f"{signed(change)}{bits}, from {value(0)} to {value(change)}",
        lambda layer, head: {"attention": group.name, "layer": layer, "head": head},
        f"with all of them {quoted(answer_text(traced, resolved.tokenizer, token))} has {value(0)}",
    ).step(progress, batch)


ANALYSIS = Analysis(
    "Ablate all",
    "Each head is switched off alone. The number is the change in the log-probability of the answer, in bits "
    "(−1 halves the probability), or the change in its score.",
    reads=("query", "target_token", "attention"),
    compute=before_the_start,
    start="Switch off each head in turn",
    step=head_ablation,
)
