"""The residual stream at a token as a sum of its writers: embeddings, heads, feed-forwards, biases.

The decomposition goes through the same steps as the stream, so its rows add up to the value that the model computed.
Direct logit attribution reads it at the end of a stack, the ledger of an attention cell before an attention. In an
encoder-decoder, the encoder's contribution to the decoder is part of the cross-attention heads.

Layers are linearized at the traced input, so that a sum of components maps to a sum of components: norms use the scale
of the whole, activations the slope from the origin to the whole. This is a convention: without a component, that scale
and that slope would differ (Elhage et al. 2021, "Handling layer normalization").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import singledispatch
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from headlight.array_types import Float
from headlight.config import Config
from headlight.errors import ConfigError
from headlight.nn.attention import AllHeadsNorm, Attention, PerHeadNorm
from headlight.nn.layers import Compression, GemmaRMSNorm
from headlight.nn.residual_streams import LowRankMap
from headlight.nn.stack import AlternatingBlock, Block, LaurelConnection, ResidualConnection
from headlight.nn.transformer import Transformer
from headlight.tracing.interventions import is_edited
from headlight.tracing.trace import Trace

Decomposition = Float[Tensor, "component *position dim"]
Streams = Float[Tensor, "component *stream dim"]  # the same, for all residual streams if there are several
Write = tuple[slice, Tensor]  # vectors to add to some rows of a decomposition
Mixing = TypeVar("Mixing", bound=nn.Module)


@singledispatch
def linearize(layer: nn.Module, table: Decomposition, bias_row: int) -> Decomposition:
    """The decomposition after a layer; a part that belongs to no component, such as a bias, goes to the row `bias_row`.

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
def _(layer: nn.RMSNorm, table: Tensor, bias_row: int) -> Tensor:
    normed = _divide_by_rms(table, layer.eps)
    return normed if layer.weight is None else normed * layer.weight.to(table)


@linearize.register
def _(layer: GemmaRMSNorm, table: Tensor, bias_row: int) -> Tensor:
    return _divide_by_rms(table, layer.eps) * (1 + layer.weight.to(table))


@linearize.register
def _(layer: Compression, table: Tensor, bias_row: int) -> Tensor:
    latent, unnormed = layer.split(linearize(layer.down, table, bias_row))
    return torch.cat((linearize(layer.norm, latent, bias_row), unnormed), dim=-1)


@linearize.register
def _(layer: AllHeadsNorm, table: Tensor, bias_row: int) -> Tensor:
    return linearize(layer.norm, table, bias_row)


@linearize.register
def _(layer: PerHeadNorm, table: Tensor, bias_row: int) -> Tensor:
    norm = layer.norm
    assert isinstance(norm, (nn.LayerNorm, nn.RMSNorm))
    heads = table.reshape(*table.shape[:-1], -1, *norm.normalized_shape)
    return linearize(norm, heads, bias_row).flatten(-2)


@linearize.register
def _(layer: LowRankMap, table: Tensor, bias_row: int) -> Tensor:
    mapped = linearize(layer.right, linearize(layer.left, table, bias_row), bias_row)
    return table + linearize(layer.norm, mapped, bias_row)


def linearize_activation(activation: Callable[[Tensor], Tensor], table: Decomposition, bias_row: int) -> Decomposition:
    """The decomposition after an activation f: channels times (f(x) - f(0)) / x, and f(0) to the row `bias_row`."""
    total = table.sum(0)
    at_zero = activation(torch.zeros_like(total))
    slope = torch.where(total == 0, 0.0, (activation(total) - at_zero) / torch.where(total == 0, 1.0, total))
    return add_to_row(table * slope, at_zero, bias_row)


def add_to_row(table: Decomposition, value: Tensor | None, row: int) -> Decomposition:
    """The decomposition with a vector added to one of its rows."""
    if value is None:
        return table
    table = table.clone()
    table[row] += value.to(table)
    return table


def _divide_by_rms(table: Tensor, eps: float | None) -> Tensor:
    return table / (table.sum(0).square().mean(-1, keepdim=True) + (eps or 0.0)).sqrt()


def per_head_output(
    attention: Attention, weighted_values: Float[Tensor, "head *row value_head_dim"]
) -> Float[Tensor, "head *row d_model"]:
    """Each head's part of the attention output: its weighted values times its columns of the output projection."""
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
    """The components of the residual stream after a sublayer, for any norm placement.

    The sublayer read `table` and returned `sublayer_output`, which is added to `onto` (to `table` itself if None);
    biases of norms go to `bias_row`.
    """
    read = sublayer_input(residual, table, bias_row)
    joined = residual.placement.add(
        table if onto is None else onto,
        read,
        sublayer_output,
        lambda rows: linearize(residual.norm, rows, bias_row),
        lambda rows: linearize(residual.output_norm, rows, bias_row),
    )
    if not isinstance(residual, LaurelConnection):
        return joined
    return residual.join(joined, linearize(residual.low_rank, read, bias_row))


def sublayer_input(residual: ResidualConnection, table: Decomposition, bias_row: int) -> Decomposition:
    """The components of a sublayer's input from the residual stream `table`: normed if a norm comes first."""
    return residual.placement.sublayer_input(table, lambda rows: linearize(residual.norm, rows, bias_row))


# Values that a trace must hold, besides edited ones; if logits were edited, also "*.final_residual".
KEEP = (
    "*.embedding",
    "*.position_embedding",
    "*.weighted_values",
    "*.feed_forward.output",
    "*.layer_embedding.output",
)


@dataclass(frozen=True)
class Component:
    """One summand of the stream, or of an attention's input.

    `kind` is embedding, positions, self, cross, feed_forward, layer_embedding, bias, edit, relative_position or probe.
    `layer` is -1 outside the layers, `head` -1 except for the heads of "self" and "cross". The bias of a layer is the
    part of its linear maps and norms that does not depend on the text; the bias outside the layers belongs to the
    embedding and the output head. Relative positions only take part in attention. A probe is a vector added by the
    caller.
    """

    kind: str
    layer: int = -1
    head: int = -1

    def path(self, stack: str) -> str:
        """The component as a path, such as `decoder.0.self[3]` or `decoder.1.feed_forward`."""
        layer = f".{self.layer}" if self.layer >= 0 else ""
        kind = "position_embedding" if self.kind == "positions" else self.kind
        return f"{stack}{layer}.{kind}{f'[{self.head}]' if self.head >= 0 else ''}"


def components_of(config: Config, stack: str = "", layers: int | None = None) -> tuple[Component, ...]:
    """The components of a stack (the predicting one), in the order in which they write to the residual stream.

    `layers` is the number of blocks that write, all of them if None.
    """
    stack = stack or config.stacks[-1]
    components = [Component("embedding"), Component("positions")]
    heads = range(config.for_stack(stack).heads)
    has_cross = config.has_cross_attention and stack == "decoder"
    for layer in range(config.num_layers(stack) if layers is None else layers):
        for kind in ("self", "cross") if has_cross else ("self",):
            components += [Component(kind, layer, head) for head in heads]
        components += [Component(kind, layer) for kind in config.token_sublayers]
        components.append(Component("bias", layer))
    return (*components, Component("bias"), Component("edit"))


@dataclass(frozen=True)
class Probe:
    """Extra vectors that a sublayer writes, each a component: `path` is `decoder.3.self` or `decoder.3.feed_forward`.

    Everything else, norms and activations included, is computed without them: the component "edit" subtracts them
    again. So the result for a probe is a differentiable, linear function of it. At `decoder.embedding` they are added
    to the embedding.
    """

    path: str
    vectors: Float[Tensor, "vector d_model"]


class StreamDecomposer:
    """Decomposes the residual stream of a stack at one or several tokens, block by block, from traced values.

    A table is [component dim], or [component position dim] for a list of positions, in 64 bits.
    """

    def __init__(
        self,
        model: Transformer,
        trace: Trace,
        position: int | list[int],
        stack: str = "",
        probes: Sequence[Probe] = (),
        layers: int | None = None,
    ) -> None:
        require_attention_alone(trace.config, "a decomposition of the residual stream")
        self.trace, self.position, self.probes = trace, position, tuple(probes)
        self.name = stack or trace.config.stacks[-1]
        self.stack = model.stack(self.name)
        self.own = components_of(trace.config, self.name, layers)
        self.row_of = {component: row for row, component in enumerate(self.own)}
        self.outer_bias_row, self.edit_row = self.row_of[Component("bias")], self.row_of[Component("edit")]

    @property
    def components(self) -> tuple[Component, ...]:
        """The components in the rows of every table."""
        return (*self.own, *(Component("probe") for probe in self.probes for _ in probe.vectors))

    def embedded(self) -> Streams:
        """The residual stream before the first block."""
        embedding = self.value(f"{self.name}.embedding")
        table = torch.zeros(len(self.components), *embedding.shape, dtype=torch.float64)
        table = add_to_row(table, embedding, 0)
        table = add_to_row(table, self.value(f"{self.name}.position_embedding"), 1)
        for rows, written in self.probe_writes(f"{self.name}.embedding"):
            table[rows] += written
        bias_row, streams = self.outer_bias_row, self.stack.residual_streams
        table = linearize(self.stack.project_in, linearize(self.stack.embedding_norm, table, bias_row), bias_row)
        return table if streams is None else _like(table, streams).split(table, _total)

    def through_stack(self) -> Decomposition:
        """The residual stream after the final norm: from the embeddings through every block."""
        table, streams = self.before_layer(len(self.stack.blocks)), self.stack.residual_streams
        table = table if streams is None else _like(table, streams).merge(table, _total)
        table = linearize(self.stack.final_norm, self.with_edits(table, f"{self.name}.residual"), self.outer_bias_row)
        table = linearize(self.stack.project_out, table, self.outer_bias_row)
        return self.with_edits(table, f"{self.name}.final_residual")

    def before_layer(self, layer: int) -> Streams:
        """The residual stream (or streams) before a block, without edits at its entry."""
        table = self.embedded()
        for earlier in range(layer):
            table = self.through_block(earlier, table)
        return table

    def attention_input(self, layer: int, kind: str) -> Decomposition:
        """The input of an attention of a block ("self" or "cross"), from which its queries are computed."""
        _, table = self._entry(layer, self.before_layer(layer))
        if kind == "cross":
            table = self.through_attention(layer, "self", table)
        residual = getattr(self.stack.blocks[layer], f"{kind}_attention_residual")
        row = self.bias_row(layer)
        return self.with_edits(sublayer_input(residual, table, row), f"{self.name}.{layer}.{kind}.input")

    def bias_row(self, layer: int) -> int:
        """The row of a layer's biases; for a layer whose block is not among the components, the outer bias row."""
        return self.row_of.get(Component("bias", layer), self.outer_bias_row)

    def value(self, path: str) -> Float[Tensor, "*position dim"]:
        """A recorded value at the position."""
        return torch.tensor(self.trace[path][self.position], dtype=torch.float64)

    def through_block(self, layer: int, table: Streams) -> Streams:
        """The residual stream after a block."""
        block, path = self.stack.blocks[layer], f"{self.name}.{layer}"
        assert isinstance(block, Block)
        streams, start = self._entry(layer, table)
        table = start.clone() if isinstance(block, AlternatingBlock) else start
        for kind in ("self", "cross"):
            if getattr(block, f"{kind}_attention") is not None:
                table = self.through_attention(layer, kind, table)
        if block.feed_forward_residual is not None:
            read = start if block.parallel_residual else table
            table = self._through_sublayer(block.feed_forward_residual, layer, "feed_forward", read, table)
        if isinstance(block, AlternatingBlock):
            return self._corrected(block, layer, streams, start, table)
        if block.layer_embedding_residual is not None:
            table = self.with_edits(table, f"{path}.residual_after_feed_forward")
            table = self._through_sublayer(block.layer_embedding_residual, layer, "layer_embedding", table, table)
        return table if block.stream_scale is None else table * block.stream_scale.to(table)

    def _entry(self, layer: int, table: Streams) -> tuple[Streams, Decomposition]:
        """The residual streams after a block's prediction, if there are several, and the one that the block reads."""
        block, path = self.stack.blocks[layer], f"{self.name}.{layer}"
        read = table
        if isinstance(block, AlternatingBlock):
            table = self.with_edits(table, f"{path}.residual_streams")
            table = _like(table, block.alternating_updates).predict(table, _total)
            read = table[..., block.alternating_updates.active, :]
        return table, self.with_edits(read, f"{path}.residual")

    def _corrected(
        self, block: AlternatingBlock, layer: int, predicted: Streams, read: Decomposition, table: Decomposition
    ) -> Streams:
        """The residual streams after a block that turned the stream `read` into `table`."""
        table = table if block.stream_scale is None else table * block.stream_scale.to(table)
        table = self.with_edits(table, f"{self.name}.{layer}.residual_after_feed_forward")
        streams = _like(table, block.alternating_updates).correct(predicted, read, table, _total)
        if block.layer_embedding_residual is None:
            return streams
        nothing = torch.zeros_like(table)
        added = self._through_sublayer(block.layer_embedding_residual, layer, "layer_embedding", nothing, nothing)
        return torch.cat((streams[..., :1, :], streams[..., 1:, :] + added[..., None, :]), dim=-2)

    def _through_sublayer(
        self, residual: ResidualConnection, layer: int, kind: str, read: Decomposition, table: Decomposition
    ) -> Decomposition:
        """The residual stream after a sublayer whose output is one component."""
        row, path = self.row_of[Component(kind, layer)], f"{self.name}.{layer}.{kind}"
        writes = [(slice(row, row + 1), self.value(f"{path}.output")[None]), *self.probe_writes(path)]
        return _after_sublayer(residual, read, table, writes, self.bias_row(layer))

    def through_attention(self, layer: int, kind: str, table: Decomposition) -> Decomposition:
        """The residual stream after an attention of a block."""
        path, block = f"{self.name}.{layer}.{kind}", self.stack.blocks[layer]
        attention = getattr(block, f"{kind}_attention")
        weighted_values = torch.from_numpy(self.trace[f"{path}.weighted_values"][:, self.position].astype(np.float32))
        first_row, bias_row = self.row_of[Component(kind, layer, 0)], self.bias_row(layer)
        heads = per_head_output(attention, weighted_values.to(attention.output.weight.device)).cpu().double()
        writes, total = [(slice(first_row, first_row + len(heads)), heads)], heads.sum(0)
        if attention.output.bias is not None:
            bias = attention.output.bias.to(total).expand_as(total)
            writes, total = [*writes, (slice(bias_row, bias_row + 1), bias[None])], total + bias
        if is_edited(self.trace, f"{path}.output"):
            edit = self.value(f"{path}.output") - total
            writes.append((slice(self.edit_row, self.edit_row + 1), edit[None]))
        writes += self.probe_writes(path)
        residual = getattr(block, f"{kind}_attention_residual")
        table = _after_sublayer(residual, table, table, writes, bias_row)
        return self.with_edits(table, f"{self.name}.{layer}.residual_after_{kind}")

    def with_edits(self, table: Decomposition, path: str) -> Decomposition:
        """The decomposition with one more component: the change that edits made to the value at this path."""
        if not is_edited(self.trace, path):
            return table
        return add_to_row(table, self.value(path) - table.sum(0), self.edit_row)

    def probe_writes(self, path: str) -> list[Write]:
        """The vectors that the probes at a path write, and the edits that subtract them again."""
        writes: list[Write] = []
        row = len(self.own)
        for probe in self.probes:
            vectors = probe.vectors.double()
            if probe.path == path:
                writes.append((slice(row, row + len(vectors)), vectors))
                writes.append((slice(self.edit_row, self.edit_row + 1), -vectors.sum(0, keepdim=True)))
            row += len(vectors)
        return writes


def _after_sublayer(
    residual: ResidualConnection, read: Decomposition, table: Decomposition, writes: Sequence[Write], bias_row: int
) -> Decomposition:
    """The residual stream after a sublayer that read `read` and wrote `writes`; `table` may be overwritten."""
    only_adds = residual.placement.only_adds and not isinstance(residual, LaurelConnection)
    output = table if only_adds else torch.zeros_like(table)  # if the output is only added, rows change in place
    for rows, written in writes:
        output[rows] += written
    return output if only_adds else through_residual(residual, read, output, bias_row, onto=table)


def _total(table: Tensor) -> Tensor:
    """The value that a table decomposes: the sum over its components."""
    return table.sum(0)


def _like(table: Decomposition, module: Mixing) -> Mixing:
    """A copy of a module on a table's device and with its dtype."""
    return deepcopy(module).to(table.device, table.dtype)


def require_attention_alone(config: Config, what: str) -> None:
    """Raise ConfigError for a model with layers of linear attention, which an analysis does not support."""
    if config.has_recurrence:
        raise ConfigError(
            "Between its layers of attention this model has layers of linear attention, which have no weights; "
            f"{what} is not available for it."
        )


def require_one_stream(config: Config, what: str) -> None:
    """Raise ConfigError for a model of several residual streams, which an analysis does not support."""
    if config.has_several_streams:
        raise ConfigError(f"This model has several residual streams side by side; {what} is not available for it.")
