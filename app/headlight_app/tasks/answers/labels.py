"""The answers about labels on Tasks: labels of all tokens, and the effects of tokens and heads on a text's label."""

from __future__ import annotations

import numpy as np

from headlight.analysis.ablation import (
    ablate_tokens,
    heads_per_batch,
    logits_without_heads,
    require_text_classifier,
)
from headlight.array_types import Float
from headlight.attention_groups import attention_groups
from headlight.cancellation import check_cancelled
from headlight.errors import TextError
from headlight.nn.transformer import attention_at
from headlight.problem_types import problem_type_name, problem_type_of
from headlight.tasks import label_text, task_of
from headlight_app.contract.parts import Candidate
from headlight_app.contract.reply import Reply
from headlight_app.explore.answers.layer_analysis import extended_trace, target_answer
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from headlight_app.tasks.contract import (
    LabelEffectsAnswer,
    LabelEffectsRequest,
    TokenLabelsAnswer,
    TokenLabelsRequest,
)

LABELS_PER_TOKEN = 3
MAX_LABELS = 1 << 18  # of all tokens together, in an export


def answer_token_labels(request: TokenLabelsRequest) -> Reply[TokenLabelsAnswer]:
    """The likeliest labels of every token, with their probabilities in the trained and in the changed model."""
    resolved = resolve(request.question)
    task = task_of(resolved.config)
    if not task.predicts_labels or task.whole_text:
        raise TextError("This model does not label tokens.")
    after = _label_shares(resolved)
    before = _label_shares(resolved.as_trained) if resolved.is_changed else after
    wanted = MAX_LABELS // len(after) if request.every_label else LABELS_PER_TOKEN
    count = min(wanted, after.shape[1])
    order = np.argsort(-after, axis=1, kind="stable")[:, :count]
    answer = TokenLabelsAnswer(
        labels=tuple(
            tuple(
                Candidate(
                    id=int(label),
                    text=label_text(resolved.config, int(label)),
                    before=float(before[position, label]),
                    after=float(after[position, label]),
                )
                for label in labels
            )
            for position, labels in enumerate(order)
        ),
        as_trained=tuple(_likeliest(resolved, row) for row in before),
        changed=resolved.is_changed,
        names=resolved.config.labels,
        problem_type=problem_type_name(resolved.config),
    )
    return Reply(answer)


def _likeliest(resolved: ResolvedQuestion, shares: Float[np.ndarray, " label"]) -> str:
    """The likeliest label of a token; empty if labels do not exclude each other and none is likelier than not."""
    problem_type, label = problem_type_of(resolved.config), int(shares.argmax())
    can_have_none = problem_type.is_probability and problem_type.has_scores
    return "" if can_have_none and shares[label] < 0.5 else label_text(resolved.config, label)


def _label_shares(resolved: ResolvedQuestion) -> Float[np.ndarray, "token label"]:
    return problem_type_of(resolved.config).values(resolved.value("logits"))


def answer_label_effects(request: LabelEffectsRequest) -> Reply[LabelEffectsAnswer]:
    """The log-odds (or score) of a label of the whole text: with everything, without each token, without each head."""
    resolved = resolve(request.question)
    model, traced = resolved.model, extended_trace(resolved)
    require_text_classifier(model)
    _, label, logits = target_answer(resolved, -1, request.token)
    positions = [place for place, is_special in enumerate(traced.text.special_mask) if not is_special]
    group = attention_groups(resolved.config)[0] if attention_groups(resolved.config) else None
    layers, heads = (group.layers, group.heads) if group else (0, 0)
    without_heads = [_logits_without_heads(resolved, group.path(layer)) for layer in range(layers) if group is not None]
    every = np.concatenate([logits[None], ablate_tokens(model, traced, positions), *without_heads])
    log_odds = problem_type_of(resolved.config).log_odds(every)[:, label]
    answer = LabelEffectsAnswer(
        label=label,
        text=label_text(resolved.config, label),
        positions=tuple(positions),
        layers=layers,
        heads=heads,
        problem_type=problem_type_name(resolved.config),
    )
    return Reply(answer, log_odds.astype("<f4").tobytes())


def _logits_without_heads(resolved: ResolvedQuestion, path: str) -> Float[np.ndarray, "head label"]:
    """The logits of the text's labels without each head of an attention."""
    model, traced = resolved.model, extended_trace(resolved)
    heads, batch = attention_at(model, path)[0].heads, heads_per_batch(traced)
    parts = []
    for first in range(0, heads, batch):
        check_cancelled()
        parts.append(logits_without_heads(model, traced, path, 0, first, min(batch, heads - first)).float().cpu())
    return np.concatenate(parts)
