"""Gradient of an answer with respect to attention weights."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from model.array_types import Float
from model.errors import EditError, TextError
from model.nn.transformer import Transformer
from model.tracing.interventions import Edits, Intervention
from model.tracing.trace import Trace
from model.vision.patches import numbers, pixels


def gradient(
    model: Transformer, trace: Trace, path: str, position: int, token: int
) -> Float[np.ndarray, "head query key"]:
    """How the log-probability of a token (or label) at a position grows with each weight of the attention at `path`.

    The derivative of log p, all later layers included, with each weight taken as free. Weight x gradient tells, to
    first order, what would be lost without the weight (Simonyan et al. 2013; Hao et al. 2021, equation 2, in one step).
    The run of `trace` is made again, with its edits. Raises TextError for a token or position that is not there.
    """
    edits, free = Edits(tuple(map(Intervention.parse, trace.interventions))), []

    def tap(name: str, value: Tensor) -> Tensor:
        value = edits(name, value)
        if name == f"{path}.weights":
            value = value.detach().requires_grad_()
            free.append(value)
        return value

    with torch.enable_grad():
        source = _ids(model, trace.source.ids) if trace.source else None
        seen = None if (given := pixels(trace.text)) is None else torch.tensor(given, device=model.device)[None]
        logits = model(_ids(model, numbers(trace.text)), pixels=seen, source=source, tap=tap)
        if not free:
            raise EditError(f"This model has no attention {path!r}.")
        shares = _answer(logits, trace, position).float().log_softmax(-1)
        if not 0 <= token < len(shares):
            raise TextError(f"There is no token {token}: this model knows {len(shares)}, counted from 0.")
        (slope,) = torch.autograd.grad(shares[token], free, allow_unused=True)
    flat = torch.zeros_like(free[0]) if slope is None else slope
    found: np.ndarray = flat[0].detach().float().cpu().numpy()
    return found


def _ids(model: Transformer, ids: tuple[int, ...]) -> Tensor:
    return torch.tensor([ids], device=model.device)


def _answer(logits: Tensor | None, trace: Trace, position: int) -> Tensor:
    """The logits of the prediction at a position; of the whole text where a model labels that."""
    if logits is None:
        raise TextError("This model ends without a head: there is no prediction whose gradient could be taken.")
    if trace.config.top == "sequence-classifier":
        whole: Tensor = logits[0]
        return whole
    if not 0 <= position < len(trace.text.ids):
        raise TextError(f"There is no token {position}: the text has {len(trace.text.ids)}, counted from 0.")
    return logits[0, position]
