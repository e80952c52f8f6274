"""Optimizers, and how their step length goes up and down over a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from model.errors import ConfigError
from model.nn.transformer import Transformer
from model.registry import Registry


@runtime_checkable
class Rates(Protocol):
    """The numbers an optimizer is made from."""

    @property
    def learning_rate(self) -> float: ...

    @property
    def matrix_rate(self) -> float: ...

    @property
    def weight_decay(self) -> float: ...


Optimizers = list[torch.optim.Optimizer]


def _groups(parameters: Iterable[nn.Parameter], rates: Rates) -> list[dict[str, object]]:
    """Matrices shrink a little each step (weight decay), what stretches and shifts does not."""
    chosen = list(parameters)
    return [
        {"params": [p for p in chosen if p.dim() > 1], "weight_decay": rates.weight_decay},
        {"params": [p for p in chosen if p.dim() < 2], "weight_decay": 0.0},
    ]


def adamw(model: Transformer, rates: Rates) -> Optimizers:
    """AdamW for everything (Loshchilov and Hutter 2019)."""
    return [_adamw(model.parameters(), rates)]


def _adamw(parameters: Iterable[nn.Parameter], rates: Rates) -> torch.optim.Optimizer:
    return torch.optim.AdamW(_groups(parameters, rates), lr=rates.learning_rate, betas=(0.9, 0.95), fused=True)


def muon(model: Transformer, rates: Rates) -> Optimizers:
    """Muon for the matrices inside the blocks (Jordan et al. 2024), AdamW for embeddings, top, norms and biases.

    A matrix's step is made as long as AdamW's would be, so that one learning rate can serve both.
    Raises ConfigError where the installed torch has no Muon.
    """
    if not hasattr(torch.optim, "Muon"):
        raise ConfigError(
            f"torch {torch.__version__} has no Muon (2.9 was the first); "
            "choose the optimizer adamw, or install a newer torch."
        )
    matrices = {
        id(module.weight)
        for name in model.config.stacks
        for module in model.stack(name).blocks.modules()
        if isinstance(module, nn.Linear)
    }
    inner = [parameter for parameter in model.parameters() if id(parameter) in matrices]
    outer = [parameter for parameter in model.parameters() if id(parameter) not in matrices]
    rate = rates.matrix_rate or rates.learning_rate
    first: torch.optim.Optimizer = torch.optim.Muon(
        inner, lr=rate, weight_decay=rates.weight_decay, momentum=0.95, adjust_lr_fn="match_rms_adamw"
    )
    return [first, _adamw(outer, rates)]


OPTIMIZERS: Registry[Callable[[Transformer, Rates], Optimizers]] = Registry("optimizer", {"adamw": adamw, "muon": muon})


def cosine(done: float, decay_from: float, floor: float) -> float:
    """Half a wave from 1 down to `floor` over the whole run (Loshchilov and Hutter 2017, equation 5)."""
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def wsd(done: float, decay_from: float, floor: float) -> float:
    """1 until the share `decay_from` is done, then straight down to `floor` (Hu et al. 2024, section 4).

    Before the descent a run may go on for longer, or several descents may branch off it.
    """
    if done <= decay_from or decay_from >= 1:
        return 1.0
    return floor + (1 - floor) * max(0.0, (1 - done) / (1 - decay_from))


SCHEDULES: Registry[Callable[[float, float, float], float]] = Registry("schedule", {"cosine": cosine, "wsd": wsd})
