"""What weights of fewer bits cost: the largest change of a number that a model says about texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy

import numpy as np
import torch

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.errors import TextError
from headlight.live.weights import Precision, as_written
from headlight.nn.output_heads import PredictionHead
from headlight.nn.transformer import Transformer
from headlight.problem_types import problem_type_of
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.run import run
from headlight.views.words import percent, three_digits


def rounding_cost(checkpoint: Checkpoint, precision: Precision, texts: Sequence[str]) -> str:
    """What the numbers of a file in this precision change in the texts, in words; empty without a text to read."""
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    changes = list(_changes(model, rounded(model, precision), tokenizer, texts))
    if not changes:
        return ""
    subject, write = _subject(model)
    examples = "its example" if len(changes) == 1 else f"its {len(changes)} examples"
    most = write(max(changes))
    told = f"less than {most[1:]}" if most.startswith("<") else f"at most about {most}"
    return f"on {examples} {subject} changes by {told}"


def rounded(model: Transformer, precision: Precision) -> Transformer:
    """The model with the numbers that a page reads from a file in this precision."""
    copy = deepcopy(model)
    with torch.no_grad():
        for parameter in copy.parameters():
            parameter.copy_(as_written(parameter.detach(), precision))
    return copy


def _changes(one: Transformer, other: Transformer, tokenizer: Tokenizer, texts: Iterable[str]) -> Iterable[float]:
    """The largest change in each text that the model can read."""
    for text in texts:
        try:
            before, after = (_said(model, tokenizer, text) for model in (one, other))
        except TextError:
            continue
        yield float(np.abs(after - before).max())


def _said(model: Transformer, tokenizer: Tokenizer, text: str) -> Float[np.ndarray, "*shape"]:
    """The probabilities or scores at every token of a text; without answers, the weights of attention."""
    if _answers(model):
        return problem_type_of(model.config).values(run(model, tokenizer, text, keep=("logits",))["logits"])
    weights = run(model, tokenizer, text, keep=("*.weights",)).values
    return np.concatenate([np.zeros(1, np.float32), *(values.ravel() for values in weights.values())])


def _answers(model: Transformer) -> bool:
    return isinstance(model.output_head, PredictionHead)


def _subject(model: Transformer) -> tuple[str, Callable[[float], str]]:
    """What was compared, and how its change is written."""
    if not _answers(model):
        return "a weight of attention", percent
    return ("a probability", percent) if problem_type_of(model.config).is_probability else ("a score", three_digits)
