"""The most probable answers of a model at a position of a text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from headlight.nn.transformer import Transformer
from headlight.problem_types import problem_type_of
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.trace import Trace


@dataclass(frozen=True)
class Candidate:
    """One possible token or label: its display text, id, and probability.

    `score` is the logit of a label that does not exclude others. If the model's answers are scores, the probability is
    NaN (`headlight.problem_types`).
    """

    token: str
    id: int
    probability: float
    score: float | None = None


def candidates(trace: Trace, tokenizer: Tokenizer, position: int = -1, count: int = 5) -> tuple[Candidate, ...]:
    """The most probable tokens (or labels, if the model predicts labels) at a position, best first."""
    logits, config = trace.logits_at(position), trace.config
    problem_type = problem_type_of(config)
    values = problem_type.values(logits)
    in_words = partial(label_text, config) if task_of(config).predicts_labels else tokenizer.stripped_token_text
    return tuple(
        Candidate(
            in_words(int(each)),
            int(each),
            probability=float(values[each]) if problem_type.is_probability else math.nan,
            score=float(logits[each]) if problem_type.has_scores else None,
        )
        for each in np.argsort(-logits, kind="stable")[:count]
    )


def prediction_positions(model: Transformer, tokenizer: Tokenizer, encoded: Encoded) -> tuple[int, ...]:
    """The positions of the shown predictions (`Task.prediction_positions`)."""
    return task_of(model.config).prediction_positions(encoded.ids, tokenizer.mask_id)
