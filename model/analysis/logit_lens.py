"""What a model would say if it stopped early: the logit lens, at every token and every depth.

Depth 0 is the embedded text, depth i the stream after i blocks, and the last depth what the model really says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.array_types import Float, Int
from model.errors import ConfigError, EditError
from model.nn.hooks import rows
from model.nn.transformer import Transformer
from model.tracing.interventions import Edits
from model.tracing.run import parsed
from model.tracing.trace import Trace

KEEP = ("*.residual", "*.final")
_AT_ONCE = 1 << 22  # logits in memory at a time
ALL = slice(None)
TOPS = ("language", "masked-language")


@dataclass(frozen=True)
class Reading:
    """What one depth says at each token: the likeliest tokens with their shares, and how the true one fares.

    `rank` counts from 1 and is 0 where no true token is known, whose `surprise` (minus the log of its probability, in
    nats) is then NaN.
    """

    tokens: Int[np.ndarray, "pos top"]
    shares: Float[np.ndarray, "pos top"]
    rank: Int[np.ndarray, " pos"]
    surprise: Float[np.ndarray, " pos"]


def check(model: Transformer) -> None:
    """Raise ConfigError for a model without a language head, which no depth can be read with."""
    if model.config.top not in TOPS:
        raise ConfigError(
            "The logit lens reads each layer with the model's own language head; "
            f"this model has none (its top is {model.config.top!r})."
        )


@torch.inference_mode()
def logit_lens(model: Transformer, trace: Trace, position: int = -1) -> Float[np.ndarray, "depth token"]:
    """The probabilities of all tokens at one position, for every depth (nostalgebraist 2020).

    The final norm and the top, applied to the residual stream. Raises ConfigError without a language head, EditError
    where the trace holds no residual.
    """
    check(model)
    rows = np.stack([trace[path][position] for path in _paths(trace)])
    shares: np.ndarray = _said(model, torch.tensor(rows)).softmax(-1).cpu().numpy()
    return shares


@torch.inference_mode()
def reading(
    model: Transformer, trace: Trace, depth: int, truth: Sequence[int], top: int = 5, tokens: slice = ALL
) -> Reading:
    """What one depth says at every token, or some; `truth` is the right token at each, or -1 where there is none.

    The last depth is the model's own answer, edits of the logits included. Raises ConfigError without a language head,
    EditError for a depth that is not there or not in the trace.
    """
    check(model)
    paths = _paths(trace)
    if not 0 <= depth < len(paths):
        raise EditError(f"There is no depth {depth}: this model has {len(paths) - 1} layers, and 0 is the embedding.")
    places = range(len(trace.text.ids))[tokens]
    step = max(1, _AT_ONCE // model.config.vocabulary)
    read = []
    for start in range(places.start, places.stop, step):
        some = slice(start, min(start + step, places.stop))
        last = depth == len(paths) - 1
        logits = _answered(model, trace, some) if last else _said(model, torch.tensor(trace[paths[depth]][some]))
        read.append(_read(logits, torch.tensor(truth[some], device=logits.device), top))
    return Reading(*(torch.cat(each).cpu().numpy() for each in zip(*read, strict=True)))


def truth(trace: Trace, ids: Sequence[int] | None = None) -> tuple[int, ...]:
    """The right answer at each token: the token after it, or for a model that fills gaps the token itself.

    `ids` are the tokens before any of them was masked (None: those of the trace). What is not known is -1.
    """
    known = tuple(trace.text.ids if ids is None else ids)
    return known if trace.config.top == "masked-language" else (*known[1:], -1)


def lengths(trace: Trace) -> Float[np.ndarray, "depth pos"]:
    """How long the residual stream of each token is at every depth: its 2-norm."""
    return np.stack([np.linalg.norm(trace[path], axis=-1) for path in _paths(trace)])


def _paths(trace: Trace) -> list[str]:
    name = trace.config.stacks[-1]
    return [*(f"{name}.{layer}.residual" for layer in range(trace.config.depth(name))), f"{name}.residual"]


def _said(model: Transformer, stream: Float[Tensor, "pos width"]) -> Float[Tensor, "pos token"]:
    stack = model.stack(model.config.stacks[-1])
    stream = stream.to(model.device, model.embedding.weight.dtype)
    logits: Tensor = model.top(stack.narrow(stack.norm(stream))).float()
    return logits


def _answered(model: Transformer, trace: Trace, tokens: slice) -> Float[Tensor, "pos token"]:
    """The model's own logits: kept, or for a long text made from the stream after the final norm."""
    if trace.logits is not None:
        return torch.tensor(trace.logits[tokens])
    final = torch.tensor(trace[f"{trace.config.stacks[-1]}.final"][tokens])
    logits = model.top(final.to(model.device, model.embedding.weight.dtype)).float()
    edits = rows(Edits(parsed(trace.interventions)), tokens.start, len(trace.text.ids))
    return edits("logits", logits[None])[0]


def _read(logits: Tensor, truth: Tensor, top: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    logs = logits.log_softmax(-1)
    best = logs.topk(min(top, logs.shape[-1]))
    right = logs.gather(-1, truth.clamp(min=0)[:, None])
    rank = (logs > right).sum(-1, dtype=torch.int32) + 1
    known = truth >= 0
    surprise = torch.where(known, -right[:, 0], torch.nan)
    return best.indices.int(), best.values.exp(), torch.where(known, rank, 0).int(), surprise
