"""plan_of(): a model's forward pass as data that an interpreter in a browser runs, for texts of any length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from headlight.errors import ConfigError
from headlight.live.lowering import lower
from headlight.live.pieces import pieces_of
from headlight.live.program import hidden_program, logits_program
from headlight.live.weights import Precision, WeightTable
from headlight.nn.output_heads import PredictionHead, SequenceClassifier
from headlight.nn.transformer import Transformer, variant
from headlight.tracing.program import require_any_length

# The positional encodings that a model can take without other weights, besides its own.
ENCODINGS = ("none", "sinusoidal", "rope", "alibi")
Program = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The programs of a model and their weights.

    `hidden` are those from ids to the residual stream after the final norm, by positional encoding; `encoding` is the
    model's own. `logits` is None without an output head; `answers` is the number of logits of each row, or of the whole
    text if `is_pooled`. `pieces` are the programs of its parts.
    """

    encoding: str
    context_length: int
    vocabulary_size: int
    answers: int
    hidden: Mapping[str, Program]
    logits: Program | None
    is_pooled: bool
    pieces: Mapping[str, Program]
    weights: WeightTable

    def files(self, precision: Precision = "float32") -> tuple[dict[str, Any], bytes]:
        """The plan as JSON (`PlanFile` in engine/types.ts), and the bytes of the weights."""
        told, numbers = self.weights.file(precision)
        fields = ("encoding", "context_length", "vocabulary_size", "answers", "hidden", "logits", "is_pooled", "pieces")
        return {name: getattr(self, name) for name in fields} | {"weights": told}, numbers


def plan_of(model: Transformer, encodings: Iterable[str] = ENCODINGS) -> Plan:
    """The plan of a decoder or an encoder that reads texts, with its own positional encoding and with these.

    Raises ConfigError, with the reason, for a model that cannot become one.
    """
    config, weights = model.config, WeightTable()
    require_readable(model)
    require_any_length(config)
    own = config.positional_encoding
    hidden = {own: _hidden(model, weights)}
    for name in encodings:
        if name not in hidden:
            hidden[name] = _hidden(variant(model, positional_encoding=name), weights)
    head, is_pooled = model.output_head, isinstance(model.output_head, SequenceClassifier)
    answers = head.projection.out_features if isinstance(head, PredictionHead) else 0
    logits = lower(logits_program(model), weights) if answers else None
    pieces = pieces_of(model, weights)
    return Plan(own, config.context_length, config.vocabulary_size, answers, hidden, logits, is_pooled, pieces, weights)


def require_readable(model: Transformer) -> None:
    """Raise ConfigError for a model that is no decoder or encoder of texts, or that the engine does not run."""
    config = model.config
    if config.has_cross_attention:
        raise ConfigError("A live page shows models with one stack; this encoder-decoder has two.")
    if config.reads_signal:
        raise ConfigError("A live page reads texts; this model reads images or sounds.")
    if model.training:
        raise ConfigError("A model becomes a live page when it is trained: call its eval() first.")
    if model.embedding.weight.dtype != torch.float32:
        raise ConfigError(f"A live page computes in float32; this model was opened in {model.embedding.weight.dtype}.")


def _hidden(model: Transformer, weights: WeightTable) -> Program:
    """The program up to the residual stream after the final norm, and the positions that its encodings know."""
    stack = model.stack(model.config.stacks[-1])
    encodings = dict.fromkeys((stack.positional_encoding, *stack.layer_positional_encodings))
    positions = [
        {
            "title": encoding.title,
            "range": list(encoding.position_range),
            "integers": encoding.integer_only,
        }
        for encoding in encodings
    ]
    return lower(hidden_program(model), weights) | {"positions": positions}
