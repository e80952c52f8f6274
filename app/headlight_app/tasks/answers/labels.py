"""The labels of all tokens of a text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headlight.array_types import Float
from headlight.errors import TextError
from headlight.problem_types import problem_type_name, problem_type_of
from headlight.tasks import label_text, task_of
from headlight_app.contract.parts import Candidate
from headlight_app.contract.reply import Reply
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve
from headlight_app.tasks.contract import (
    TokenLabelsAnswer,
    TokenLabelsRequest,
)

LABELS_PER_TOKEN = 3
MAX_LABELS = 1 << 18  # of all tokens together, in an export


class LabelShares(NamedTuple):
    """The numbers of all labels of all tokens, in the trained and in the changed model."""

    before: Float[np.ndarray, "token label"]
    after: Float[np.ndarray, "token label"]


def answer_token_labels(request: TokenLabelsRequest) -> Reply[TokenLabelsAnswer]:
    """The likeliest labels of every token, with their probabilities in the trained and in the changed model."""
    resolved = resolve(request.question)
    before, after = label_shares(resolved)
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
        as_trained=tuple(likeliest(resolved, row) for row in before),
        changed=resolved.is_changed,
        names=resolved.config.labels,
        problem_type=problem_type_name(resolved.config),
    )
    return Reply(answer)


def likeliest(resolved: ResolvedQuestion, shares: Float[np.ndarray, " label"]) -> str:
    """The likeliest label of a token; empty if labels do not exclude each other and none is likelier than not."""
    problem_type, label = problem_type_of(resolved.config), int(shares.argmax())
    can_have_none = problem_type.is_probability and problem_type.has_scores
    return "" if can_have_none and shares[label] < 0.5 else label_text(resolved.config, label)


def label_shares(resolved: ResolvedQuestion) -> LabelShares:
    """The numbers of all labels of all tokens. Raises TextError for a model without labels of tokens."""
    task = task_of(resolved.config)
    if not task.predicts_labels or task.whole_text:
        raise TextError("This model does not label tokens.")
    after = _numbers(resolved)
    return LabelShares(_numbers(resolved.as_trained) if resolved.is_changed else after, after)


def _numbers(resolved: ResolvedQuestion) -> Float[np.ndarray, "token label"]:
    return problem_type_of(resolved.config).values(resolved.value("logits"))
