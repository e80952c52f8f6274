"""Cross-entropy in chunks that fit the processor's cache, and the logits and targets of a batch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.training.objectives.batch import IGNORE_INDEX, Batch

ROWS_PER_CHUNK = 256  # 256 x 8,000 float32 logits are 8 MB, which fit a processor's cache


class _CrossEntropy(torch.autograd.Function):
    """-log softmax(logits)[target], summed; with smoothing the target is mixed with all tokens alike.

    The gradient, softmax(logits) - 1[target], is computed in the same pass: the large float32 copies of the logits
    that F.cross_entropy makes and reads several times cost a fifth of a training step.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        gradient = torch.empty_like(logits)
        total = torch.zeros((), dtype=torch.float32, device=logits.device)
        for at in range(0, len(logits), ROWS_PER_CHUNK):
            rows = logits[at : at + ROWS_PER_CHUNK].to(torch.float32, copy=True)
            target = targets[at : at + ROWS_PER_CHUNK, None]
            normalizer = rows.logsumexp(dim=-1, keepdim=True)
            wanted = rows.gather(1, target)
            total += (normalizer - (wanted + smoothing * (rows.mean(1, keepdim=True) - wanted))).sum()
            probabilities = rows.sub_(normalizer).exp_()
            if smoothing:
                probabilities -= smoothing / rows.shape[1]
            probabilities.scatter_add_(1, target, probabilities.new_full((), smoothing - 1).expand_as(target))
            gradient[at : at + ROWS_PER_CHUNK] = probabilities
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[0].to(gradient.dtype), None, None


def cross_entropy(
    logits: Float[Tensor, "row token"], targets: Int[Tensor, " row"], smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """Cross-entropy in nats, summed over the rows; with label smoothing (Szegedy et al. 2016, section 7)."""
    if logits.device.type != "cpu":
        return functional.cross_entropy(logits.float(), targets, reduction="sum", label_smoothing=smoothing)
    total: Tensor = _CrossEntropy.apply(logits, targets, smoothing)  # type: ignore[no-untyped-call]
    return total


def batch_loss(
    logits: Float[Tensor, "row token"],
    targets: Int[Tensor, " row"],
    wanted: Float[Tensor, "row token"] | None,
    smoothing: float,
) -> Float[Tensor, ""]:
    """The loss of a batch, summed over the rows: cross-entropy, or the distance from the wanted logits where given.

    A softmax does not change with a constant that is added to all logits, so only their differences are compared; a
    difference of several counts as itself and not squared (Huber 1964).
    """
    if wanted is None:
        return cross_entropy(logits, targets, smoothing)
    given, wanted = (each.float() - each.float().mean(-1, keepdim=True) for each in (logits, wanted))
    return functional.smooth_l1_loss(given, wanted, reduction="sum")


def logits_and_targets(model: Transformer, batch: Batch, encode_hidden: Any = None) -> tuple[Tensor, Tensor]:
    """The logits [target token] at the positions of a batch that have a target, and the targets.

    A model that labels whole texts has one target for each row.
    """
    hidden = (encode_hidden or model.encode_hidden)(batch.ids, **batch.inputs)
    if task_of(model.config).whole_text:
        whole: Tensor = model.output_head(hidden, model.answerable(batch.ids, batch.padding_mask))
        return whole, batch.targets[:, 0]
    final = hidden.flatten(0, 1)
    targets = batch.targets.flatten()
    positions = torch.nonzero(targets != IGNORE_INDEX).squeeze(1)
    if len(positions) < len(targets):
        final, targets = final.index_select(0, positions), targets.index_select(0, positions)
    logits: Tensor = model.output_head(final)
    return logits, targets
