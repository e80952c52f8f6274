"""Learner: the model with its optimizers; one step, one measurement, and its state for a save."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from model.nn.transformer import Transformer
from model.training.hardware import PRECISIONS, choose_precision
from model.training.loss import answers, cross_entropy
from model.training.objectives import Batch
from model.training.optimizers import OPTIMIZERS
from model.training.recipe import TrainingPart


@dataclass(frozen=True)
class Score:
    """How a model does on one held-out text: nats per asked token, and the share it got right."""

    loss: float
    accuracy: float

    def bits_per_byte(self, tokens: int, characters: int) -> float:
        """The same loss per byte of a text that has so many tokens in so many bytes."""
        return self.loss / math.log(2) * tokens / characters


class Learner:
    """A model that learns on one device in one precision."""

    def __init__(self, model: Transformer, training: TrainingPart, device: torch.device) -> None:
        self.model, self.training, self.device = model.to(device), training, device
        self.precision = choose_precision(training.precision, device)
        self.optimizers = OPTIMIZERS[training.optimizer](model, training)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["full_rate"] = group["lr"]
        self.hidden = torch.compile(model.hidden) if training.compile else model.hidden
        self.averages = [p.detach().clone() for p in model.parameters()] if training.average else []

    def step(self, batch: Batch, rate: float, seed: int) -> float:
        """One update with a share `rate` of the full learning rate; gives the loss in nats per asked token."""
        torch.manual_seed(seed)  # of dropout: a resumed run goes on exactly as it would have
        asked, total = max(1, batch.asked), 0.0
        for part in batch.split(self.training.micro_batch or len(batch.ids)):
            with self._autocast():
                loss = cross_entropy(*answers(self.model, part.to(self.device), self.hidden)) / asked
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.training.clip)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["full_rate"] * rate
            optimizer.step()
            optimizer.zero_grad()
        if self.averages:
            weights = [p.detach() for p in self.model.parameters()]
            torch._foreach_lerp_(self.averages, weights, 1 - self.training.average)
        return total

    @torch.no_grad()
    def measure(self, batch: Batch) -> Score:
        """Loss and accuracy on a batch, without dropout."""
        nats, right = 0.0, 0
        self.model.eval()
        for part in batch.split(max(1, min(self.training.batch, 32))):
            with self._autocast():
                logits, targets = answers(self.model, part.to(self.device))
            nats += cross_entropy(logits, targets).item()
            right += int((logits.argmax(-1) == targets).sum())
        self.model.train()
        return Score(nats / batch.asked, right / batch.asked)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Inside, the model has the running average of its weights, where one is kept."""
        if not self.averages:
            yield
            return
        own = [p.detach().clone() for p in self.model.parameters()]
        self._put(self.averages)
        try:
            yield
        finally:
            self._put(own)

    @torch.no_grad()
    def _put(self, weights: list[Tensor]) -> None:
        for parameter, weight in zip(self.model.parameters(), weights, strict=True):
            parameter.copy_(weight)

    def state(self) -> dict[str, Any]:
        """All that `restore` needs."""
        return {
            "precision": next(name for name, kind in PRECISIONS.items() if kind == self.precision),
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "averages": self.averages,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from a `state`; the learning rates stay those asked for now, and a precision that was asked for."""
        if self.training.precision == "auto" and "precision" in state:  # a stopwatch might decide otherwise this time
            self.precision = PRECISIONS[state["precision"]]
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            now = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
            optimizer.load_state_dict(saved)
            for group, choices in zip(optimizer.param_groups, now, strict=True):
                group.update(choices)
        if self.averages and state["averages"]:
            self.averages = [average.to(self.device) for average in state["averages"]]

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, self.precision, enabled=self.precision != torch.float32)
