"""The programs of a model: its forward pass, exported by torch, in which each hook point is a node."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch._dynamo.exc import UserError
from torch.export import Dim, ExportedProgram, export

from headlight.array_types import Float, Int
from headlight.errors import ConfigError
from headlight.nn.hooks import Hook
from headlight.nn.transformer import Transformer
from headlight.tracing.program import EXAMPLE_LENGTH

POINT = "headlight::point"


@cache
def point_hook() -> Hook:
    """The hook that leaves each hook point in an exported graph, as a node of the operator POINT.

    Its node has all cells of the value, also where torch expands one for many: an edit may change a single cell.
    """
    schema = "(str path, Tensor value) -> Tensor"
    operator = torch.library.custom_op(POINT, lambda path, value: value.clone(), mutates_args=(), schema=schema)
    operator.register_fake(lambda path, value: value.new_empty(value.shape))
    return operator


class Hidden(nn.Module):
    """From the ids of a text to the residual stream after the final norm."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream after the final norm."""
        return self.model.encode_hidden(ids, hook=point_hook())


class Logits(nn.Module):
    """From the residual stream after the final norm to the logits: of any of its rows, or of a pooled text."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, final_residual: Float[Tensor, "batch pos d_model"], ids: Int[Tensor, "batch pos"]
    ) -> Float[Tensor, "*shape token"] | None:
        """The logits; `ids` are those of the rows."""
        return self.model.logits(final_residual, self.model.answerable(ids))


def hidden_program(model: Transformer) -> ExportedProgram:
    """The program of `Hidden` for texts of any length."""
    return program_of(Hidden(model), model, ids=ids_of(model))


def logits_program(model: Transformer) -> ExportedProgram:
    """The program of `Logits` for any number of rows."""
    ids = ids_of(model)
    with torch.no_grad():
        final = torch.zeros_like(model.encode_hidden(ids))
    return program_of(Logits(model), model, final_residual=final, ids=ids)


def ids_of(model: Transformer) -> Tensor:
    """The ids of an example."""
    return torch.zeros(1, min(EXAMPLE_LENGTH, model.config.context_length), dtype=torch.long)


def program_of(module: nn.Module, model: Transformer, **inputs: Tensor) -> ExportedProgram:
    """The program of a module whose inputs have a vector or an id for each token, for any number of tokens."""
    limit = model.config.context_length
    length = {1: Dim("length", max=limit)} if limit > 1 else None
    try:
        with torch.no_grad():
            return export(module, (), inputs, dynamic_shapes=dict.fromkeys(inputs, length))
    except UserError as error:
        raise ConfigError("Torch cannot write this model as one program for texts of every length.") from error
