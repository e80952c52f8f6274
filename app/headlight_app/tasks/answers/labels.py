"""The answers about labels on Tasks: labels of all tokens, and the effects of tokens and heads on a text's label."""

from __future__ import annotations

import numpy as np

from headlight.analysis.ablation import ablate_heads, ablate_tokens, heads_per_batch, require_text_classifier
from headlight.array_types import Float
from headlight.attention_groups import attention_groups
from headlight.cancellation import check_cancelled
from headlight.errors import TextError
from headlight.nn.transformer import attention_at
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
SMALLEST_SHARE = 1e-7  # that float32 distinguishes from 0


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
        as_trained=tuple(label_text(resolved.config, int(label)) for label in before.argmax(1)),
        changed=resolved.is_changed,
        names=resolved.config.labels,
    )
    return Reply(answer)


def _label_shares(resolved: ResolvedQuestion) -> Float[np.ndarray, "token label"]:
    logits = resolved.value("logits").astype(np.float64)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    shares: np.ndarray = exponentials / exponentials.sum(-1, keepdims=True)
    return shares


def answer_label_effects(request: LabelEffectsRequest) -> Reply[LabelEffectsAnswer]:
    """The log-odds of a label of the whole text: with everything, without each token, and without each head."""
    resolved = resolve(request.question)
    model, traced = resolved.model, extended_trace(resolved)
    require_text_classifier(model)
    _, label, logits = target_answer(resolved, -1, request.token)
    positions = [place for place, is_special in enumerate(traced.text.special_mask) if not is_special]
    group = attention_groups(resolved.config)[0] if attention_groups(resolved.config) else None
    layers, heads = (group.layers, group.heads) if group else (0, 0)
    without_heads = [
        _ablated_log_probabilities(resolved, group.path(layer), label) for layer in range(layers) if group is not None
    ]
    numbers = np.concatenate(
        [
            _log_odds(_log_softmax(logits[None]))[:, label],
            _log_odds(_log_softmax(ablate_tokens(model, traced, positions)))[:, label],
            *map(_log_odds, without_heads),
        ]
    )
    answer = LabelEffectsAnswer(
        label=label,
        text=label_text(resolved.config, label),
        positions=tuple(positions),
        layers=layers,
        heads=heads,
    )
    return Reply(answer, numbers.astype("<f4").tobytes())


def _ablated_log_probabilities(resolved: ResolvedQuestion, path: str, label: int) -> Float[np.ndarray, " head"]:
    """The log-probability of a label without each head of an attention."""
    model, traced = resolved.model, extended_trace(resolved)
    heads, batch = attention_at(model, path)[0].heads, heads_per_batch(traced)
    parts = []
    for first in range(0, heads, batch):
        check_cancelled()
        parts.append(ablate_heads(model, traced, path, 0, label, first, min(batch, heads - first)))
    return np.concatenate(parts).astype(np.float64)


def _log_softmax(logits: Float[np.ndarray, "row label"]) -> Float[np.ndarray, "row label"]:
    found: np.ndarray = logits.astype(np.float64) - np.logaddexp.reduce(logits.astype(np.float64), -1, keepdims=True)
    return found


def _log_odds(log_probabilities: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """log(p / (1 - p)), clipped to the range that float32 can distinguish."""
    other = np.maximum(-np.expm1(np.minimum(log_probabilities, 0.0)), SMALLEST_SHARE)
    found: np.ndarray = np.maximum(log_probabilities, np.log(SMALLEST_SHARE)) - np.log(other)
    return found
