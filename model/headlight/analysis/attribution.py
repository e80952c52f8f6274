"""Direct logit attribution: how much each head, feed-forward layer, embedding and bias adds to a logit.

The residual stream at one token is a sum, decomposed into one row for each component. The decomposition goes through
the same steps as the stream, so the rows add up to the logit. What the encoder of an encoder-decoder contributes is
inside the cross-attention heads.

On the way layers are linearized at the traced input, so that a sum of components maps to a sum of components: norms use
the scale of the whole, activations the slope from the origin to the whole. This is a convention: without a component
that scale and that slope would be others (Elhage et al. 2021, "Handling layer normalization").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
import torch
from torch import Tensor, nn

from headlight.array_types import Float, Int
from headlight.config import Config
from headlight.errors import ConfigError, TextError
from headlight.nn.attention import Attention
from headlight.nn.layers import GemmaRMSNorm, RMSNorm, soft_cap
from headlight.nn.output_heads import LanguageModelHead, MaskedLanguageModelHead, TokenClassifier
from headlight.nn.stack import ResidualConnection
from headlight.nn.transformer import Transformer
from headlight.tracing.interventions import Intervention
from headlight.tracing.recompute import logits_at
from headlight.tracing.run import to_numpy
from headlight.tracing.trace import Trace, position_index

Decomposition = Float[Tensor, "component dim"]


@singledispatch
def linearize(layer: nn.Module, table: Decomposition, bias_row: int) -> Decomposition:
    """The decomposition after a layer; what belongs to no component, such as a bias, goes to the row `bias_row`.

    Raises ConfigError for a layer without a linearization.
    """
    raise ConfigError(f"{type(layer).__name__} cannot be linearized, so its input cannot be split into components.")


@linearize.register
def _(layer: nn.Identity, table: Tensor, bias_row: int) -> Tensor:
    return table


@linearize.register
def _(layer: nn.Linear, table: Tensor, bias_row: int) -> Tensor:
    return add_to_row(table @ layer.weight.to(table).T, layer.bias, bias_row)


@linearize.register
def _(layer: nn.LayerNorm, table: Tensor, bias_row: int) -> Tensor:
    normed = _divide_by_rms(table - table.mean(-1, keepdim=True), layer.eps)
    return add_to_row(normed * layer.weight.to(table), layer.bias, bias_row) if layer.elementwise_affine else normed


@linearize.register
def _(layer: RMSNorm, table: Tensor, bias_row: int) -> Tensor:
    return _divide_by_rms(table, layer.eps) * layer.weight.to(table)


@linearize.register
def _(layer: GemmaRMSNorm, table: Tensor, bias_row: int) -> Tensor:
    return _divide_by_rms(table, layer.eps) * (1 + layer.weight.to(table))


def linearize_activation(activation: Callable[[Tensor], Tensor], table: Decomposition, bias_row: int) -> Decomposition:
    """The decomposition after an activation f: channels times (f(x) - f(0)) / x, and f(0) to the row `bias_row`."""
    total = table.sum(0)
    at_zero = activation(torch.zeros_like(total))
    slope = torch.where(total == 0, 0.0, (activation(total) - at_zero) / torch.where(total == 0, 1.0, total))
    return add_to_row(table * slope, at_zero, bias_row)


def add_to_row(table: Decomposition, value: Tensor | None, row: int) -> Decomposition:
    """The decomposition with something added to one of its rows."""
    if value is None:
        return table
    table = table.clone()
    table[row] += value.to(table)
    return table


def _divide_by_rms(table: Tensor, eps: float | None) -> Tensor:
    return table / (table.sum(0).square().mean() + (eps or 0.0)).sqrt()


def per_head_output(
    attention: Attention, weighted_values: Float[Tensor, "head *row value_head_dim"]
) -> Float[Tensor, "head *row d_model"]:
    """Each head's part of the attention output: its weighted values times its own columns of the output projection."""
    weight = attention.output.weight.to(weighted_values)
    head_weights = weight.view(len(weight), attention.heads, -1)
    return torch.einsum("h...c,dhc->h...d", weighted_values, head_weights)


def through_residual(
    residual: ResidualConnection,
    table: Decomposition,
    sublayer_output: Decomposition,
    bias_row: int,
    onto: Decomposition | None = None,
) -> Decomposition:
    """The components of the residual stream after a sublayer, wherever the norms stand.

    The sublayer read `table` and gave `sublayer_output`, which is added to `onto` (to `table` itself if None); what
    norms add goes to `bias_row`.
    """
    return residual.apply_placement(
        table,
        table if onto is None else onto,
        lambda rows: linearize(residual.norm, rows, bias_row),
        lambda rows: sublayer_output,
        lambda rows: linearize(residual.output_norm, rows, bias_row),
    )


# What a trace must hold, besides the values that edits changed; where they changed logits, "*.final_residual".
KEEP = ("*.embedding", "*.position_embedding", "*.weighted_values", "*.feed_forward.output")


@dataclass(frozen=True)
class Component:
    """One summand: `kind` is embedding, positions, self, cross, feed_forward, bias, edit or probe.

    `layer` is -1 outside the layers, `head` -1 except for the heads of "self" and "cross". The bias of a layer is what
    its linear maps and norms add whatever the text; the one outside is that of the embedding and the output head. A
    probe is what `attribute_probes` was given.
    """

    kind: str
    layer: int = -1
    head: int = -1


def components_of(config: Config) -> tuple[Component, ...]:
    """The components of the predicting stack, in the order in which they write to the residual stream."""
    components = [Component("embedding"), Component("positions")]
    heads = range(config.for_stack(config.stacks[-1]).heads)
    for layer in range(config.num_layers(config.stacks[-1])):
        for kind in ("self", "cross") if config.has_cross_attention else ("self",):
            components += [Component(kind, layer, head) for head in heads]
        components += [Component("feed_forward", layer)] if config.has_feed_forward else []
        components.append(Component("bias", layer))
    return (*components, Component("bias"), Component("edit"))


@dataclass(frozen=True)
class LogitAttribution:
    """The input of the unembedding at one token as a sum: one row for each component.

    `logit_cap` is the soft cap of the logits (0: none), `edited_logits` the logits where an edit changed them.
    """

    components: tuple[Component, ...]
    contributions: Float[Tensor, "component embedding_dim"]
    unembedding: nn.Linear
    logit_cap: float
    edited_logits: Float[Tensor, " token"] | None

    def logits(self, tokens: Int[np.ndarray, " token"]) -> Float[np.ndarray, "component token"]:
        """What each component adds to the logits of some tokens (or labels); every column adds up to the logit.

        A soft cap scales each component as it scales the sum. Raises TextError for a token that does not exist.
        """
        added_logits = self.unedited_logits(tokens)
        if self.edited_logits is not None:
            added_logits = add_to_row(
                added_logits, self.edited_logits[tokens] - added_logits.sum(0), self.components.index(Component("edit"))
            )
        return to_numpy(added_logits)

    def unedited_logits(self, tokens: Int[np.ndarray, " token"]) -> Float[Tensor, "component token"]:
        """The same as a tensor, and before any edit of the logits themselves."""
        if tokens.min() < 0 or tokens.max() >= self.unembedding.out_features:
            raise TextError(f"There is no token {tokens.max()}: this model knows {self.unembedding.out_features}.")
        token_ids = torch.from_numpy(np.array(tokens)).to(self.unembedding.weight.device)
        weight = self.unembedding.weight[token_ids].to(self.contributions)
        bias = None if self.unembedding.bias is None else self.unembedding.bias[token_ids]
        added_logits = add_to_row(self.contributions @ weight.T, bias, self.components.index(Component("bias")))
        return added_logits * self._cap_factor(added_logits.sum(0))

    def vocabulary_logits(self, kind: str) -> Float[np.ndarray, "component token"]:
        """What the components of one kind add to the logit of every token, in the order of `components`, as float32."""
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

    What an edit adds to the residual stream, or takes from it, is a component of its own; any other edit shows in the
    components that it changed. Raises ConfigError for an output head whose logits are no sum, TextError for a position
    that does not exist, EditError for a trace that lacks what is needed.
    """
    return _attribute(model, trace, position)


def attribute_probes(
    model: Transformer, trace: Trace, position: int, layer: int, vectors: Float[Tensor, "vector d_model"]
) -> LogitAttribution:
    """The same with a component, "probe", for each vector, as if the feed-forward of a layer wrote them besides.

    Everything else, norms and activations included, is computed without them: the component "edit" subtracts them
    again. So the probes are a differentiable, linear function of the vectors. Raises as `attribute_logits`.
    """
    return _attribute(model, trace, position, layer, vectors)


def _attribute(
    model: Transformer, trace: Trace, position: int, layer: int = -1, vectors: Tensor | None = None
) -> LogitAttribution:
    probes = None if vectors is None else _Probes(layer, vectors.double())
    count = 0 if vectors is None else len(vectors)
    components = (*components_of(trace.config), *(Component("probe", layer) for _ in range(count)))
    rows = {component: row for row, component in enumerate(components) if component.kind != "probe"}
    decomposer = _ResidualDecomposer(trace, position_index(position, len(trace.text.ids)), rows, probes)
    table, bias_row = decomposer.through_stack(model), rows[Component("bias")]
    table, cap = linearize_output_head(model.output_head, table, bias_row)
    project = model.output_head.projection
    assert isinstance(project, nn.Linear)
    edited_logits = (
        torch.tensor(logits_at(model, trace, decomposer.position), dtype=torch.float64)
        if decomposer.is_edited("logits")
        else None
    )
    return LogitAttribution(components, table, project, cap, edited_logits)


@dataclass(frozen=True)
class _Probes:
    layer: int
    vectors: Float[Tensor, "vector d_model"]


@dataclass(frozen=True)
class _ResidualDecomposer:
    """Decomposes one token's residual stream block by block, from traced values."""

    trace: Trace
    position: int
    row_of: dict[Component, int]
    probes: _Probes | None

    def through_stack(self, model: Transformer) -> Float[Tensor, "component embedding_dim"]:
        """The residual stream after the final norm, as a sum: from the embeddings through every block."""
        name = self.trace.config.stacks[-1]
        stack, bias_row = model.stack(name), self.row_of[Component("bias")]
        rows = len(self.row_of) + (0 if self.probes is None else len(self.probes.vectors))
        table = torch.zeros(rows, stack.config.embedding_sum_dim, dtype=torch.float64)
        table = add_to_row(table, self.value(f"{name}.embedding"), 0)
        table = add_to_row(table, self.value(f"{name}.position_embedding"), 1)
        table = linearize(stack.project_in, linearize(stack.embedding_norm, table, bias_row), bias_row)
        for layer, block in enumerate(stack.blocks):
            table = self.through_block(f"{name}.{layer}", layer, block, table)
        table = linearize(stack.final_norm, self.with_edits(table, f"{name}.residual"), bias_row)
        return self.with_edits(linearize(stack.project_out, table, bias_row), f"{name}.final_residual")

    def value(self, path: str) -> Float[Tensor, " dim"]:
        return torch.tensor(self.trace[path][self.position], dtype=torch.float64)

    def is_edited(self, path: str) -> bool:
        return any(Intervention.parse(edit).matches(path) for edit in self.trace.interventions)

    def through_block(self, path: str, layer: int, block: nn.Module, table: Tensor) -> Tensor:
        bias_row = self.row_of[Component("bias", layer)]
        start = table = self.with_edits(table, f"{path}.residual")
        for kind in ("self", "cross"):
            attention = getattr(block, f"{kind}_attention")
            if attention is not None:
                sublayer_output = self.head_contributions(f"{path}.{kind}", kind, layer, attention, table.shape)
                table = through_residual(getattr(block, f"{kind}_attention_residual"), table, sublayer_output, bias_row)
                table = self.with_edits(table, f"{path}.residual_after_{kind}")
        residual = block.feed_forward_residual
        if not self.trace.config.has_feed_forward:
            return table
        assert isinstance(residual, ResidualConnection)
        sublayer_output = torch.zeros_like(table)
        sublayer_output[self.row_of[Component("feed_forward", layer)]] = self.value(f"{path}.feed_forward.output")
        if self.probes is not None and self.probes.layer == layer:
            sublayer_output[len(self.row_of) :] = self.probes.vectors
            sublayer_output[self.row_of[Component("edit")]] = -self.probes.vectors.sum(0)
        return through_residual(
            residual, start if block.parallel_residual else table, sublayer_output, bias_row, onto=table
        )

    def head_contributions(self, path: str, kind: str, layer: int, attention: Attention, shape: torch.Size) -> Tensor:
        weighted_values = torch.tensor(self.trace[f"{path}.weighted_values"][:, self.position], dtype=torch.float64)
        first_row = self.row_of[Component(kind, layer, 0)]
        sublayer_output = torch.zeros(shape, dtype=torch.float64)
        sublayer_output[first_row : first_row + len(weighted_values)] = per_head_output(attention, weighted_values)
        sublayer_output = add_to_row(sublayer_output, attention.output.bias, self.row_of[Component("bias", layer)])
        return self.with_edits(sublayer_output, f"{path}.output")

    def with_edits(self, table: Tensor, path: str) -> Tensor:
        """The decomposition with what edits did to the value at this path as a component of its own."""
        if not self.is_edited(path):
            return table
        return add_to_row(table, self.value(path) - table.sum(0), self.row_of[Component("edit")])


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
