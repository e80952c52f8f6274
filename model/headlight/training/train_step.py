"""TrainState: a model with its optimizers, its loss, updates, evaluations, and its state for a snapshot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.training.objectives.batch import IGNORE_INDEX, Batch
from headlight.training.optimizers import OPTIMIZERS, PRECISIONS, choose_precision
from headlight.training.recipe import TrainingOptions

ROWS_PER_CHUNK = 256  # 256 x 8,000 float32 logits are 8 MB and fit a processor's cache


class _CrossEntropy(torch.autograd.Function):
    """-log softmax(logits)[target], summed; label smoothing spreads a part of the target evenly over all tokens.

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
    """The loss of a batch, summed over the rows: cross-entropy, or the distance to the batch's logits if given.

    Adding a constant to all logits does not change their softmax, so only differences between logits are compared;
    large errors count linearly, not squared (Huber 1964).
    """
    if wanted is None:
        return cross_entropy(logits, targets, smoothing)
    given, wanted = (each.float() - each.float().mean(-1, keepdim=True) for each in (logits, wanted))
    return functional.smooth_l1_loss(given, wanted, reduction="sum")


def logits_and_targets(model: Transformer, batch: Batch, encode_hidden: Any = None) -> tuple[Tensor, Tensor]:
    """The logits [target token] at the positions of a batch that have a target, and the targets.

    A model that labels whole texts has one target per row.
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


@dataclass(frozen=True)
class ValidationMetrics:
    """The loss (nats per target) and accuracy on one validation text, and the fraction of rows without a mistake."""

    loss: float
    accuracy: float
    exact: float

    def bits_per_byte(self, tokens: int, byte_count: int) -> float:
        """The loss in bits per byte of a text with these numbers of tokens and bytes."""
        return self.loss / math.log(2) * tokens / byte_count


class TrainState:
    """A model and its optimizers on one device, in one precision."""

    def __init__(self, model: Transformer, training: TrainingOptions, device: torch.device) -> None:
        self.model, self.training, self.device = model.to(device), training, device
        self.precision = choose_precision(training.precision, device)
        if training.train_head_only:
            model.requires_grad_(False)
            model.output_head.requires_grad_(True)
        self.optimizers = OPTIMIZERS[training.optimizer](model, training)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["full_rate"] = group["lr"]
        self.encode_hidden = torch.compile(model.encode_hidden) if training.compile else model.encode_hidden
        self.ema_weights = [p.detach().clone() for p in model.parameters()] if training.ema_decay else []

    def train_step(self, batch: Batch, lr_factor: float, seed: int) -> float:
        """One update with `lr_factor` times the full learning rate; returns the loss in nats per target."""
        torch.manual_seed(seed)  # for dropout: a resumed run gives the same results as an uninterrupted one
        target_count, total = max(1, batch.target_count), 0.0
        for part in batch.split(self.training.micro_batch_size or len(batch.ids)):
            with self._autocast():
                logits, targets = logits_and_targets(self.model, part.to(self.device), self.encode_hidden)
                loss = batch_loss(logits, targets, part.logits, self.training.label_smoothing) / target_count
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.training.max_grad_norm)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["full_rate"] * lr_factor
            optimizer.step()
            optimizer.zero_grad()
        if self.ema_weights:
            weights = [p.detach() for p in self.model.parameters()]
            torch._foreach_lerp_(self.ema_weights, weights, 1 - self.training.ema_decay)
        return total

    @torch.no_grad()
    def measure(self, batch: Batch) -> ValidationMetrics:
        """Loss and accuracy on a batch, in evaluation mode."""
        nats, correct, wrong_rows = 0.0, 0, 0
        self.model.eval()
        for part in batch.split(max(1, min(self.training.batch_size, 32))):
            with self._autocast():
                logits, targets = logits_and_targets(self.model, part.to(self.device))
            nats += cross_entropy(logits, targets).item()
            is_correct = logits.argmax(-1).cpu() == targets.cpu()
            correct += int(is_correct.sum())
            wrong_rows += len(set(part.target_rows[~is_correct].tolist()))
        self.model.train()
        count = batch.target_count
        return ValidationMetrics(nats / count, correct / count, 1 - wrong_rows / len(batch.ids))

    @contextmanager
    def use_ema_weights(self) -> Iterator[None]:
        """Within this context the model has the moving average of its weights, if one is kept."""
        if not self.ema_weights:
            yield
            return
        trained_weights = [p.detach().clone() for p in self.model.parameters()]
        self._set_weights(self.ema_weights)
        try:
            yield
        finally:
            self._set_weights(trained_weights)

    @torch.no_grad()
    def _set_weights(self, weights: list[Tensor]) -> None:
        for parameter, weight in zip(self.model.parameters(), weights, strict=True):
            parameter.copy_(weight)

    def state_dict(self) -> dict[str, Any]:
        """The state for `load_state_dict`."""
        return {
            "precision": next(name for name, kind in PRECISIONS.items() if kind == self.precision),
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "ema_weights": self.ema_weights,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state; learning rates, and the precision if named, are the recipe's."""
        if self.training.precision == "auto" and "precision" in state:  # timing anew could choose another
            self.precision = PRECISIONS[state["precision"]]
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            current_groups = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
            optimizer.load_state_dict(saved)
            for group, current in zip(optimizer.param_groups, current_groups, strict=True):
                group.update(current)
        if self.ema_weights and state["ema_weights"]:
            self.ema_weights = [average.to(self.device) for average in state["ema_weights"]]

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, self.precision, enabled=self.precision != torch.float32)
