"""What each part of a model adds to one logit: every head, feed-forward, embedding and bias, and they add up to it.

The residual stream at one token is a sum, and it is kept here as a table with a row for each part. The table goes
through the same steps as the stream; norms and bends are held where the text put them (`model.held`). What the
encoder of an encoder-decoder did is inside the cross-attention heads that fetched it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
import torch
from torch import Tensor, nn

from model.analysis.head_outputs import moved, through
from model.analysis.linearize import added, bent, held
from model.array_types import Float, Int
from model.config import Config
from model.errors import ConfigError, TextError
from model.nn.attention import Attention
from model.nn.block import Residual
from model.nn.norms import soft_cap
from model.nn.output_heads import LanguageHead, MaskedLanguageHead, TokenClassifier
from model.nn.transformer import Transformer
from model.tracing.interventions import Intervention
from model.tracing.recompute import logits_at
from model.tracing.trace import Trace

# What a trace must hold, besides the values that its edits changed; for those of the logits, "*.final".
KEEP = ("*.embedding", "*.positions", "*.mixed", "*.feedforward.output")


@dataclass(frozen=True)
class Part:
    """One summand: `kind` is embedding, positions, self, cross, feedforward, bias or edit.

    `layer` is -1 outside the layers, `head` -1 for all but the heads of "self" and "cross". The bias of a layer is
    all that its linear maps and norms add to any text; the one outside is that of the embedding and of the answer.
    """

    kind: str
    layer: int = -1
    head: int = -1


def parts_of(config: Config) -> tuple[Part, ...]:
    """Every part of the stack that gives the answer, in the order in which they write."""
    parts = [Part("embedding"), Part("positions")]
    heads = range(config.of(config.stacks[-1]).heads)
    for layer in range(config.depth(config.stacks[-1])):
        for kind in ("self", "cross") if config.has_cross else ("self",):
            parts += [Part(kind, layer, head) for head in heads]
        parts += [Part("feedforward", layer), Part("bias", layer)]
    return (*parts, Part("bias"), Part("edit"))


@dataclass(frozen=True)
class Ledger:
    """The parts of what a model's last linear map reads at one token: a row each, and the rows add up to it.

    `cap` is what keeps the logits small (0: nothing), `edited` the logits where an edit changed these themselves.
    """

    parts: tuple[Part, ...]
    table: Float[Tensor, "part width"]
    project: nn.Linear
    cap: float
    edited: Float[Tensor, " token"] | None

    def logits(self, tokens: Int[np.ndarray, " token"]) -> Float[np.ndarray, "part token"]:
        """What each part adds to the logits of some tokens (or labels); every column adds up to the logit itself.

        Where logits are capped, each part shrinks as the whole does. Raises TextError for a token that is not there.
        """
        if tokens.min() < 0 or tokens.max() >= self.project.out_features:
            raise TextError(f"There is no token {tokens.max()}: this model knows {self.project.out_features}.")
        chosen = torch.from_numpy(np.array(tokens)).to(self.project.weight.device)
        weight = self.project.weight[chosen].to(self.table)
        bias = None if self.project.bias is None else self.project.bias[chosen]
        shares = added(self.table @ weight.T, bias, self.parts.index(Part("bias")))
        shares = shares * self._shrinking(shares.sum(0))
        if self.edited is not None:
            shares = added(shares, self.edited[tokens] - shares.sum(0), self.parts.index(Part("edit")))
        return _array(shares)

    def vocabulary(self, kind: str) -> Float[np.ndarray, "part token"]:
        """What the parts of one kind add to the logit of every token: rows as in `parts`, in 32 bits."""
        chosen = torch.tensor([part.kind == kind for part in self.parts])
        weight, whole = self.project.weight, self.table.sum(0, keepdim=True)
        rows = torch.cat((self.table[chosen], whole)).to(weight) @ weight.T
        bias = 0.0 if self.project.bias is None else self.project.bias
        return _array(rows[:-1] * self._shrinking(rows[-1] + bias))

    def _shrinking(self, logits: Tensor) -> Tensor:
        return torch.where(logits == 0, 1.0, soft_cap(logits, self.cap) / logits)


@torch.inference_mode()
def ledger(model: Transformer, trace: Trace, position: int = -1) -> Ledger:
    """The parts at one token of a text that the model itself read, and whose trace holds KEEP.

    What an edit writes to the stream, or takes from it, is a part of its own; all else an edit does shows in the parts
    that it changed. Raises ConfigError where a model's answer is no sum of parts, TextError for a token that is not
    there, EditError for a trace that does not hold what is needed.
    """
    length, name = len(trace.text.ids), trace.config.stacks[-1]
    if not -length <= position < length:
        raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")
    parts = parts_of(trace.config)
    walk = _Walk(trace, position, {part: row for row, part in enumerate(parts)})
    stack, outside = model.stack(name), walk.rows[Part("bias")]
    table = torch.zeros(len(parts), stack.config.summed_width, dtype=torch.float64)
    table = added(table, walk.value(f"{name}.embedding"), 0)
    table = added(table, walk.value(f"{name}.positions"), 1)
    table = held(stack.widen, held(stack.embedding_norm, table, outside), outside)
    for layer, block in enumerate(stack.blocks):
        table = walk.block(f"{name}.{layer}", layer, block, table)
    table = held(stack.norm, walk.settled(table, f"{name}.residual"), outside)
    table = walk.settled(held(stack.narrow, table, outside), f"{name}.final")
    table, cap = read(model.top, table, outside)
    project = model.top.project
    assert isinstance(project, nn.Linear)
    edited = torch.tensor(logits_at(model, trace, position), dtype=torch.float64) if walk.edited("logits") else None
    return Ledger(parts, table, project, cap, edited)


@dataclass(frozen=True)
class _Walk:
    """One token's way through the blocks, with the values that the trace holds."""

    trace: Trace
    position: int
    rows: dict[Part, int]

    def value(self, path: str) -> Float[Tensor, " width"]:
        return torch.tensor(self.trace[path][self.position], dtype=torch.float64)

    def edited(self, path: str) -> bool:
        return any(Intervention.parse(edit).matches(path) for edit in self.trace.interventions)

    def block(self, path: str, layer: int, block: nn.Module, table: Tensor) -> Tensor:
        rest = self.rows[Part("bias", layer)]
        start = table = self.settled(table, f"{path}.residual")
        for kind in ("self", "cross"):
            attention = getattr(block, f"{kind}_attention")
            if attention is not None:
                written = self.heads(f"{path}.{kind}", kind, layer, attention, table.shape)
                table = through(getattr(block, f"{kind}_residual"), table, written, rest)
                table = self.settled(table, f"{path}.after_{kind}")
        written = torch.zeros_like(table)
        written[self.rows[Part("feedforward", layer)]] = self.value(f"{path}.feedforward.output")
        residual = block.feedforward_residual
        assert isinstance(residual, Residual)
        return through(residual, start if block.parallel else table, written, rest, onto=table)

    def heads(self, path: str, kind: str, layer: int, attention: Attention, shape: torch.Size) -> Tensor:
        mixed = torch.tensor(self.trace[f"{path}.mixed"][:, self.position], dtype=torch.float64)
        first = self.rows[Part(kind, layer, 0)]
        written = torch.zeros(shape, dtype=torch.float64)
        written[first : first + len(mixed)] = moved(attention, mixed)
        written = added(written, attention.output.bias, self.rows[Part("bias", layer)])
        return self.settled(written, f"{path}.output")

    def settled(self, table: Tensor, path: str) -> Tensor:
        """The table with what edits did to this very value as a part of its own."""
        if not self.edited(path):
            return table
        return added(table, self.value(path) - table.sum(0), self.rows[Part("edit")])


@singledispatch
def read(top: nn.Module, table: Tensor, rest: int) -> tuple[Tensor, float]:
    """The parts of what a top's last linear map reads, and the cap of its logits (0: none)."""
    raise ConfigError(
        "What the parts add to an answer can be told for models that answer at each token; "
        f"this model's top is a {type(top).__name__}."
    )


@read.register
def _(top: LanguageHead, table: Tensor, rest: int) -> tuple[Tensor, float]:
    return table * top.scale, top.cap


@read.register
def _(top: MaskedLanguageHead, table: Tensor, rest: int) -> tuple[Tensor, float]:
    return held(top.norm, bent(top.activation, held(top.transform, table, rest), rest), rest), 0.0


@read.register
def _(top: TokenClassifier, table: Tensor, rest: int) -> tuple[Tensor, float]:
    transform = top.transform
    return held(transform.norm, bent(transform.activation, held(transform.dense, table, rest), rest), rest), 0.0


def _array(value: Tensor) -> np.ndarray:
    numbers: np.ndarray = value.cpu().numpy()
    return numbers
