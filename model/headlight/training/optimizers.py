"""Optimizers and learning-rate schedules; precision and memory allocation on the training machine."""

from __future__ import annotations

import contextlib
import ctypes
import math
import time
from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from headlight.errors import ConfigError
from headlight.nn.transformer import Transformer
from headlight.registry import Registry


@runtime_checkable
class OptimizerOptions(Protocol):
    """The hyperparameters of an optimizer."""

    @property
    def learning_rate(self) -> float: ...

    @property
    def muon_learning_rate(self) -> float: ...

    @property
    def weight_decay(self) -> float: ...


Optimizers = list[torch.optim.Optimizer]


def _weight_decay_groups(parameters: Iterable[nn.Parameter], options: OptimizerOptions) -> list[dict[str, object]]:
    """Parameter groups: matrices with weight decay, norm weights and biases without."""
    chosen = list(parameters)
    return [
        {"params": [p for p in chosen if p.dim() > 1], "weight_decay": options.weight_decay},
        {"params": [p for p in chosen if p.dim() < 2], "weight_decay": 0.0},
    ]


def adamw(model: Transformer, options: OptimizerOptions) -> Optimizers:
    """AdamW for all parameters (Loshchilov and Hutter 2019)."""
    return [_adamw(model.parameters(), options)]


def _adamw(parameters: Iterable[nn.Parameter], options: OptimizerOptions) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        _weight_decay_groups(parameters, options), lr=options.learning_rate, betas=(0.9, 0.95), fused=True
    )


def muon(model: Transformer, options: OptimizerOptions) -> Optimizers:
    """Muon for the matrices inside the blocks (Jordan et al. 2024), AdamW for the other parameters.

    A matrix's update is scaled to the RMS of AdamW's, so that both can share one learning rate. Raises ConfigError if
    the installed torch has no Muon.
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
    muon_parameters = [parameter for parameter in model.parameters() if id(parameter) in matrices]
    adamw_parameters = [parameter for parameter in model.parameters() if id(parameter) not in matrices]
    rate = options.muon_learning_rate or options.learning_rate
    muon_optimizer: torch.optim.Optimizer = torch.optim.Muon(
        muon_parameters, lr=rate, weight_decay=options.weight_decay, momentum=0.95, adjust_lr_fn="match_rms_adamw"
    )
    return [muon_optimizer, _adamw(adamw_parameters, options)]


OPTIMIZERS: Registry[Callable[[Transformer, OptimizerOptions], Optimizers]] = Registry(
    "optimizer", {"adamw": adamw, "muon": muon}
)


def cosine(fraction_done: float, cooldown_start: float, min_lr_ratio: float) -> float:
    """A half cosine from 1 down to `min_lr_ratio` over the whole run (Loshchilov and Hutter 2017, equation 5)."""
    return min_lr_ratio + (1 - min_lr_ratio) * 0.5 * (1 + math.cos(math.pi * min(1.0, fraction_done)))


def wsd(fraction_done: float, cooldown_start: float, min_lr_ratio: float) -> float:
    """Warmup-stable-decay: 1 until `cooldown_start`, then linear to `min_lr_ratio` (Hu et al. 2024, section 4).

    Before the decay, a run may be extended, or several decays may fork from it.
    """
    if fraction_done <= cooldown_start or cooldown_start >= 1:
        return 1.0
    return min_lr_ratio + (1 - min_lr_ratio) * max(0.0, (1 - fraction_done) / (1 - cooldown_start))


SCHEDULES: Registry[Callable[[float, float, float], float]] = Registry("schedule", {"cosine": cosine, "wsd": wsd})


PRECISIONS: Registry[torch.dtype] = Registry("precision", {"float32": torch.float32, "bfloat16": torch.bfloat16})


def retain_freed_memory() -> None:
    """Make glibc keep freed memory instead of returning it to the system after each step.

    Returning it costs a quarter of the time in page faults, and sometimes ten times as much. Does nothing without
    glibc.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(-4, 0)  # M_MMAP_MAX: take large blocks from the heap, too
        library.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: never shrink the heap
        library.mallopt(-2, 256 << 20)  # M_TOP_PAD: grow the heap by this many bytes


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    """The dtype of matrix products; `auto` is bfloat16 if it is faster than float32."""
    if name != "auto":
        return PRECISIONS[name]
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if device.type != "cpu":
        return torch.float32
    return torch.bfloat16 if _matmul_seconds(torch.bfloat16) < 0.8 * _matmul_seconds(torch.float32) else torch.float32


def _matmul_seconds(dtype: torch.dtype) -> float:
    """The shortest time of a few products of matrices as large as a small model's."""
    left, right = torch.ones(1024, 256, dtype=dtype), torch.ones(256, 1024, dtype=dtype)
    times = []
    for _ in range(8):
        start = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - start)
    return min(times)
