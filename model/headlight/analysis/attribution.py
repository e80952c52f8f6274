"""Direct logit attribution: how much each head, feed-forward layer, embedding and bias adds to a logit.

The residual stream at one token is a sum (`residual_stream`), and the output head is linearized at it as the layers
are, so the rows add up to the logit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
import torch
from torch import Tensor, nn

from headlight.analysis.residual_stream import (
    Component,
    Probe,
    StreamDecomposer,
    add_to_row,
    linearize,
    linearize_activation,
)
from headlight.array_types import Float, Int
from headlight.errors import ConfigError, TextError
from headlight.nn.layers import soft_cap
from headlight.nn.output_heads import LanguageModelHead, MaskedLanguageModelHead, TokenClassifier
from headlight.nn.transformer import Transformer
from headlight.tracing.interventions import is_edited
from headlight.tracing.recompute import logits_at
from headlight.tracing.recording import to_numpy
from headlight.tracing.trace import Trace, position_index


@dataclass(frozen=True)
class LogitAttribution:
    """The input of the unembedding at one token as a sum: one row for each component.

    `logit_cap` is the soft cap of the logits (0: none), `edited_logits` the logits if an edit changed them.
    """

    components: tuple[Component, ...]
    contributions: Float[Tensor, "component embedding_dim"]
    unembedding: nn.Linear
    logit_cap: float
    edited_logits: Float[Tensor, " token"] | None

    def logits(self, tokens: Int[np.ndarray, " token"]) -> Float[np.ndarray, "component token"]:
        """The contribution of each component to the logits of some tokens (or labels); every column sums to the logit.

        A soft cap scales each component like the sum. Raises TextError for a token that does not exist.
        """
        added_logits = self.unedited_logits(tokens)
        if self.edited_logits is not None:
            added_logits = add_to_row(
                added_logits, self.edited_logits[tokens] - added_logits.sum(0), self.components.index(Component("edit"))
            )
        return to_numpy(added_logits)

    def unedited_logits(self, tokens: Int[np.ndarray, " token"]) -> Float[Tensor, "component token"]:
        """The same as a tensor, without edits of the logits themselves."""
        if tokens.min() < 0 or tokens.max() >= self.unembedding.out_features:
            raise TextError(f"There is no token {tokens.max()}: this model knows {self.unembedding.out_features}.")
        token_ids = torch.from_numpy(np.array(tokens)).to(self.unembedding.weight.device)
        weight = self.unembedding.weight[token_ids].to(self.contributions)
        bias = None if self.unembedding.bias is None else self.unembedding.bias[token_ids]
        added_logits = add_to_row(self.contributions @ weight.T, bias, self.components.index(Component("bias")))
        return added_logits * self._cap_factor(added_logits.sum(0))

    def relative_logits(self, token: int) -> Float[Tensor, " component"]:
        """The contribution of each component to a token's logit minus the mean logit of all tokens, before a soft cap.

        On the CPU, in 64 bits. An edit of the logits themselves is part of the component "edit".
        """
        projection, kinds = self.unembedding, [component.kind for component in self.components]
        weight, bias = projection.weight.double().cpu(), projection.bias
        table = self.contributions.double().cpu() @ (weight[token] - weight.mean(0))
        if bias is not None:
            table[kinds.index("bias")] += float(bias[token] - bias.mean())
        if self.edited_logits is not None:
            table[kinds.index("edit")] += float(self.edited_logits[token] - self.edited_logits.mean()) - table.sum()
        return table

    def vocabulary_logits(self, kind: str) -> Float[np.ndarray, "component token"]:
        """The contribution of each component of one kind to every token's logit, in `components` order, as float32."""
        is_kind = torch.tensor([component.kind == kind for component in self.components])
        weight, total = self.unembedding.weight, self.contributions.sum(0, keepdim=True)
        rows = torch.cat((self.contributions[is_kind], total)).to(weight) @ weight.T
        bias = 0.0 if self.unembedding.bias is None else self.unembedding.bias
        return to_numpy(rows[:-1] * self._cap_factor(rows[-1] + bias))

    def _cap_factor(self, logits: Tensor) -> Tensor:
        return torch.where(logits == 0, 1.0, soft_cap(logits, self.logit_cap) / logits)


@torch.inference_mode()
def attribute_logits(model: Transformer, trace: Trace, position: int = -1) -> LogitAttribution:
    """The components at one token of a text that this model read; its trace holds KEEP.

    The change that an edit makes to the residual stream is a component of its own; any other edit shows in the
    components that it changed. Raises ConfigError for an output head whose logits are not a sum, TextError for a
    position that does not exist, EditError for a trace that lacks what is needed.
    """
    return attribute_probes(model, trace, position, ())


def attribute_probes(model: Transformer, trace: Trace, position: int, probes: Sequence[Probe]) -> LogitAttribution:
    """The same with a component, "probe", for each vector of the probes, in the order given.

    Raises as `attribute_logits`.
    """
    place = position_index(position, len(trace.text.ids))
    decomposer = StreamDecomposer(model, trace, place, probes=probes)
    bias_row = decomposer.outer_bias_row
    table, cap = linearize_output_head(model.output_head, decomposer.through_stack(), bias_row)
    project = model.output_head.projection
    assert isinstance(project, nn.Linear)
    edited_logits = None
    if is_edited(trace, "logits"):
        edited_logits = torch.tensor(logits_at(model, trace, place), dtype=torch.float64)
    return LogitAttribution(decomposer.components, table, project, cap, edited_logits)


@singledispatch
def linearize_output_head(head: nn.Module, table: Tensor, bias_row: int) -> tuple[Tensor, float]:
    """The decomposition of the unembedding's input, and the soft cap of the logits (0: none)."""
    raise ConfigError(
        f"Logit attribution needs an output head that predicts at each token; this model's is a {type(head).__name__}."
    )


@linearize_output_head.register
def _(head: LanguageModelHead, table: Tensor, bias_row: int) -> tuple[Tensor, float]:
    return table * head.logit_scale, head.logit_soft_cap


@linearize_output_head.register
def _(head: MaskedLanguageModelHead, table: Tensor, bias_row: int) -> tuple[Tensor, float]:
    hidden = linearize_activation(head.activation, linearize(head.transform, table, bias_row), bias_row)
    return linearize(head.norm, hidden, bias_row), 0.0


@linearize_output_head.register
def _(head: TokenClassifier, table: Tensor, bias_row: int) -> tuple[Tensor, float]:
    transform = head.transform
    hidden = linearize_activation(transform.activation, linearize(transform.dense, table, bias_row), bias_row)
    return linearize(transform.norm, hidden, bias_row), 0.0
