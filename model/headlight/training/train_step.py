"""TrainState: a model with its optimizers; one update, one evaluation, and its state for a snapshot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headlight.nn.transformer import Transformer
from headlight.training.hardware import PRECISIONS, choose_precision
from headlight.training.loss import batch_loss, cross_entropy, logits_and_targets
from headlight.training.objectives.batch import Batch
from headlight.training.optimizers import OPTIMIZERS
from headlight.training.recipe import TrainingOptions


@dataclass(frozen=True)
class ValidationMetrics:
    """The loss (nats per target) and accuracy on one validation text, and the fraction of rows without a mistake."""

    loss: float
    accuracy: float
    exact: float

    def bits_per_byte(self, tokens: int, byte_count: int) -> float:
        """The loss in bits per byte of a text with so many tokens and bytes."""
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
        torch.manual_seed(seed)  # of dropout: a resumed run computes what an uninterrupted one does
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
        """Within the context the model has the moving average of its weights, if one is kept."""
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
        """Everything that `load_state_dict` needs."""
        return {
            "precision": next(name for name, kind in PRECISIONS.items() if kind == self.precision),
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "ema_weights": self.ema_weights,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state; learning rates stay the recipe's, and so does a precision that the recipe names."""
        if self.training.precision == "auto" and "precision" in state:  # its timing may choose differently this time
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
