"""The labels of all tokens of a text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headlight.array_types import Float
from headlight.errors import TextError
from headlight.problem_types import problem_type_of
from headlight.tasks import label_text, task_of
from headlight.views.kinds import NumberTable
from headlight.views.words import numbered
from headlight_app.inference.resolved_question import ResolvedQuestion


class LabelShares(NamedTuple):
    """The numbers of all labels of all tokens, in the trained and in the changed model."""

    before: Float[np.ndarray, "token label"]
    after: Float[np.ndarray, "token label"]


def likeliest(resolved: ResolvedQuestion, shares: Float[np.ndarray, " label"]) -> str:
    """The likeliest label of a token; empty if labels do not exclude each other and none is likelier than not."""
    problem_type = problem_type_of(resolved.config)
    can_have_none = problem_type.is_probability and problem_type.has_scores
    return "" if can_have_none and shares.max() < 0.5 else best_label(resolved, shares)


def best_label(resolved: ResolvedQuestion, shares: Float[np.ndarray, " label"]) -> str:
    """The label of a token with the largest number."""
    return label_text(resolved.config, int(shares.argmax()))


def label_shares(resolved: ResolvedQuestion) -> LabelShares:
    """The numbers of all labels of all tokens. Raises TextError for a model without labels of tokens."""
    task = task_of(resolved.config)
    if not task.predicts_labels or task.whole_text:
        raise TextError("This model does not label tokens.")
    after = _numbers(resolved)
    return LabelShares(_numbers(resolved.as_trained) if resolved.is_changed else after, after)


def _numbers(resolved: ResolvedQuestion) -> Float[np.ndarray, "token label"]:
    return problem_type_of(resolved.config).values(resolved.value("logits"))


def label_tables(resolved: ResolvedQuestion, found: LabelShares) -> dict[str, NumberTable]:
    """The numbers of every label of every token."""
    axes = {"token": numbered(resolved.trace.text.token_texts), "label": tuple(resolved.config.labels)}
    name = "Label probabilities" if problem_type_of(resolved.config).is_probability else "Label scores"
    tables = {name: NumberTable(axes, found.after)}
    return tables | ({f"{name} as trained": NumberTable(axes, found.before)} if resolved.is_changed else {})
