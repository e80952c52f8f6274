"""Pieces: small programs of parts of a model, for the steps of one head and of the prediction in a live page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram, export

from headlight.live.lowering import lower
from headlight.live.program import ids_of, program_of
from headlight.live.weights import WeightTable
from headlight.nn.output_heads import PredictionHead, SequenceClassifier
from headlight.nn.transformer import Transformer, attention_at


class Piece(nn.Module):
    """A function of tensors that reads the weights of `model`."""

    def __init__(self, model: nn.Module, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.model, self.function = model, function

    def forward(self, x: Tensor) -> Tensor:
        """The value of the function."""
        return self.function(x)


class Pooled(nn.Module):
    """The vector of a whole text."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, ids: Tensor) -> Tensor:
        """The vector of the tokens' vectors."""
        answerable = self.model.answerable(ids)
        head = self.model.output_head
        assert isinstance(head, SequenceClassifier)
        return head.pool(x, torch.ones_like(ids, dtype=torch.bool) if answerable is None else answerable)


def pieces_of(model: Transformer, weights: WeightTable) -> dict[str, Any]:
    """The pieces of a model by their names in `walkthrough.ts`; their weights are added to the table."""
    return {name: lower(program, weights) for name, program in _programs(model)}


def _programs(model: Transformer) -> Iterator[tuple[str, ExportedProgram]]:
    stack_name = model.config.stacks[-1]
    stack, head, width = model.stack(stack_name), model.output_head, model.config.d_model
    for layer in range(len(stack.blocks)):
        path = f"{stack_name}.{layer}.self"
        attention, _ = attention_at(model, path)
        yield f"{path}.output", _exported(*_without_bias(attention.output))
    if not isinstance(head, PredictionHead):
        return
    maps = [each for each in (stack.final_norm, stack.project_out) if not isinstance(each, nn.Identity)]
    if len(maps) > 1:
        yield "final_norm", _exported(stack, stack.final_norm, torch.zeros(1, width))
    if isinstance(head, SequenceClassifier):
        ids = ids_of(model)
        yield "pooled", program_of(Pooled(model), model, x=torch.zeros(1, ids.shape[1], width), ids=ids)
    with torch.no_grad():
        vector = torch.zeros_like(model.encode_hidden(ids_of(model))[0, :1])
        if isinstance(head, SequenceClassifier):
            vector = head.pool(vector[None], torch.ones(1, 1, dtype=torch.bool))
    yield "prepared", _exported(head, head.transformed, vector)
    number = torch.zeros(1, dtype=torch.long)
    projection = head.projection
    yield "answer", _exported(head, lambda x: nn.functional.embedding(x, projection.weight), number)
    if projection.bias is not None:
        yield "answer_bias", _exported(head, lambda x: nn.functional.embedding(x, projection.bias[:, None]), number)


def _without_bias(linear: nn.Linear) -> tuple[nn.Module, Callable[..., Tensor], Tensor]:
    return linear, lambda x: nn.functional.linear(x, linear.weight), torch.zeros(1, linear.in_features)


def _exported(model: nn.Module, function: Callable[..., Tensor], x: Tensor) -> ExportedProgram:
    with torch.no_grad():
        return export(Piece(model, function), (), {"x": x})
