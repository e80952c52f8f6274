"""The most probable answers of a model at a position of a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from headlight.nn.transformer import Transformer
from headlight.tasks import label_text, task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.tracing.trace import Trace


@dataclass(frozen=True)
class Candidate:
    """One possible token or label: its display text, id and probability."""

    token: str
    id: int
    probability: float


def candidates(trace: Trace, tokenizer: Tokenizer, position: int = -1, count: int = 5) -> tuple[Candidate, ...]:
    """The most probable tokens (or labels, if the model predicts labels) at a position, best first."""
    probabilities = trace.probabilities(position)
    best = np.argsort(-probabilities, kind="stable")[:count]
    config = trace.config
    in_words = partial(label_text, config) if task_of(config).predicts_labels else tokenizer.stripped_token_text
    return tuple(Candidate(in_words(int(each)), int(each), float(probabilities[each])) for each in best)


def prediction_positions(model: Transformer, tokenizer: Tokenizer, encoded: Encoded) -> tuple[int, ...]:
    """The positions of the shown predictions (`Task.prediction_positions`)."""
    return task_of(model.config).prediction_positions(encoded.ids, tokenizer.mask_id)
