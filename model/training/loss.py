"""Cross-entropy that keeps to the processor's cache, and what it is asked about."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from model.array_types import Float, Int
from model.nn.transformer import Transformer
from model.training.objectives import IGNORE_INDEX, Batch

ROWS_PER_CHUNK = 256  # of logits at once: 256 x 8,000 float32 numbers are 8 MB, which a processor's cache holds


class _CrossEntropy(torch.autograd.Function):
    """-log softmax(logits)[target], summed.

    The gradient, softmax(logits) - 1[target], is made in the same pass: the large float32 copies of the logits
    that F.cross_entropy makes and reads several times cost a fifth of a training step.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor) -> Tensor:
        gradient = torch.empty_like(logits)
        total = torch.zeros((), dtype=torch.float32, device=logits.device)
        for at in range(0, len(logits), ROWS_PER_CHUNK):
            rows = logits[at : at + ROWS_PER_CHUNK].to(torch.float32, copy=True)
            wanted = targets[at : at + ROWS_PER_CHUNK, None]
            logs = rows.logsumexp(dim=-1, keepdim=True)
            total += (logs - rows.gather(1, wanted)).sum()
            share = rows.sub_(logs).exp_()
            share.scatter_add_(1, wanted, share.new_full((), -1.0).expand_as(wanted))
            gradient[at : at + ROWS_PER_CHUNK] = share
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[0].to(gradient.dtype), None


def cross_entropy(logits: Float[Tensor, "row token"], targets: Int[Tensor, " row"]) -> Float[Tensor, ""]:
    """Nats for the targets, summed over the rows."""
    if logits.device.type != "cpu":
        return functional.cross_entropy(logits.float(), targets, reduction="sum")
    total: Tensor = _CrossEntropy.apply(logits, targets)  # type: ignore[no-untyped-call]
    return total


def logits_and_targets(model: Transformer, batch: Batch, encode_hidden: Any = None) -> tuple[Tensor, Tensor]:
    """The logits [asked token] at the places that a batch asks about, and the tokens that belong there."""
    final = (encode_hidden or model.encode_hidden)(batch.ids, mask=batch.mask).flatten(0, 1)
    targets = batch.targets.flatten()
    positions = torch.nonzero(targets != IGNORE_INDEX).squeeze(1)
    if len(positions) < len(targets):
        final, targets = final.index_select(0, positions), targets.index_select(0, positions)
    logits: Tensor = model.output_head(final)
    return logits, targets
