"""The training loop of the small networks that screens train on the spot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from headlight.cancellation import check_cancelled

WARMUP = 20  # steps
LARGEST_GRADIENT = 1.0  # the 2-norm to which longer gradients are clipped


def fit(
    optimizer: Optimizer,
    loss: Callable[[], Tensor],
    steps: int,
    *,
    warm_up: bool = False,
    clip: bool = False,
    after_backward: Callable[[int], None] | None = None,
) -> list[float]:
    """Take steps against the gradient of `loss`, and return the loss of each.

    With `warm_up` the learning rate rises for WARMUP steps and falls to a tenth by the end; with `clip` long gradients
    are clipped. `after_backward` is called with the number of each step while its gradient exists. Raises Cancelled if
    the request is cancelled.
    """
    losses, [group] = [], optimizer.param_groups
    rate = group["lr"]
    with one_thread():
        for step in range(steps):
            if warm_up:
                group["lr"] = rate * min(1, (step + 1) / WARMUP) * (1 - 0.9 * step / steps)
            value = loss()
            optimizer.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]
            if after_backward:
                after_backward(step)
            if clip:
                clip_grad_norm_(group["params"], LARGEST_GRADIENT)
            optimizer.step()
            losses.append(value.item())
            check_cancelled()
    return losses


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread: in steps this small, a second one costs more waiting than it saves."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def begin_anew(network: nn.Module) -> None:
    """Random weights from torch's defaults for a single layer, so that networks of all kinds start alike."""
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.reset_parameters()


def parameter_count(network: nn.Module) -> int:
    """The number of parameters of a network; a matrix shared by two parts counts once."""
    return sum(parameter.numel() for parameter in network.parameters())
