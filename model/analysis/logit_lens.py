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
from model.nn.attention import query_chunks
from model.nn.transformer import Transformer
from model.tracing.recompute import trace_logits
from model.tracing.trace import Trace

KEEP = ("*.residual", "*.final_residual")
ALL_TOKENS = slice(None)
LANGUAGE_HEADS = ("language-model", "masked-language-model")


@dataclass(frozen=True)
class LensOutput:
    """What one depth says at each token: the likeliest tokens with their shares, and how the true one fares.

    `rank` counts from 1 and is 0 where no true token is known, whose `surprise` (minus the log of its probability, in
    nats) is then NaN.
    """

    token_ids: Int[np.ndarray, "pos top"]
    probabilities: Float[np.ndarray, "pos top"]
    rank: Int[np.ndarray, " pos"]
    negative_log_likelihood: Float[np.ndarray, " pos"]


def require_language_head(model: Transformer) -> None:
    """Raise ConfigError for a model without a language head, which no depth can be read with."""
    if model.config.output_head not in LANGUAGE_HEADS:
        raise ConfigError(
            "The logit lens reads each layer with the model's own language head; "
            f"this model has none (its top is {model.config.output_head!r})."
        )


@torch.inference_mode()
def logit_lens(model: Transformer, trace: Trace, position: int = -1) -> Float[np.ndarray, "depth token"]:
    """The probabilities of all tokens at one position, for every depth (nostalgebraist 2020).

    The final norm and the top, applied to the residual stream. Raises ConfigError without a language head, EditError
    where the trace holds no residual.
    """
    require_language_head(model)
    rows = np.stack([trace[path][position] for path in _residual_paths(trace)])
    probabilities: np.ndarray = _unembed(model, rows).softmax(-1).cpu().numpy()
    return probabilities


@torch.inference_mode()
def lens_at(
    model: Transformer, trace: Trace, depth: int, targets: Sequence[int], count: int = 5, positions: slice = ALL_TOKENS
) -> LensOutput:
    """What one depth says at every token, or some; `truth` is the right token at each, or -1 where there is none.

    The last depth is the model's own answer, edits of the logits included. Raises ConfigError without a language head,
    EditError for a depth that is not there or not in the trace.
    """
    require_language_head(model)
    paths = _residual_paths(trace)
    if not 0 <= depth < len(paths):
        raise EditError(f"There is no depth {depth}: this model has {len(paths) - 1} layers, and 0 is the embedding.")
    chosen, is_last, parts = range(len(trace.text.ids))[positions], depth == len(paths) - 1, []
    for chunk in query_chunks(len(chosen), model.config.vocabulary_size):
        part = slice(chosen.start + chunk.start, chosen.start + chunk.stop)
        logits = trace_logits(model, trace, part) if is_last else _unembed(model, trace[paths[depth]][part])
        parts.append(_summarize(logits, torch.tensor(targets[part], device=logits.device), count))
    return LensOutput(*(torch.cat(each).cpu().numpy() for each in zip(*parts, strict=True)))


def target_tokens(trace: Trace, original_ids: Sequence[int] | None = None) -> tuple[int, ...]:
    """The right answer at each token: the token after it, or for a model that fills gaps the token itself.

    `ids` are the tokens before any of them was masked (None: those of the trace). What is not known is -1.
    """
    known = tuple(trace.text.ids if original_ids is None else original_ids)
    return known if trace.config.output_head == "masked-language-model" else (*known[1:], -1)


def residual_norms(trace: Trace) -> Float[np.ndarray, "depth pos"]:
    """How long the residual stream of each token is at every depth: its 2-norm."""
    return np.stack([np.linalg.norm(trace[path], axis=-1) for path in _residual_paths(trace)])


def _residual_paths(trace: Trace) -> list[str]:
    name = trace.config.stacks[-1]
    return [*(f"{name}.{layer}.residual" for layer in range(trace.config.num_layers(name))), f"{name}.residual"]


def _unembed(model: Transformer, residual: Float[np.ndarray, "pos d_model"]) -> Float[Tensor, "pos token"]:
    """The logits of residuals of any depth: final norm and output head."""
    stack = model.stack(model.config.stacks[-1])
    rows = torch.tensor(residual, device=model.device, dtype=model.embedding.weight.dtype)[None]
    logits = model.logits(stack.project_out(stack.final_norm(rows)))
    assert logits is not None  # `require_language_head` refuses models without one
    return logits[0].float()


def _summarize(logits: Tensor, targets: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    log_probabilities = logits.log_softmax(-1)
    best = log_probabilities.topk(min(count, log_probabilities.shape[-1]))
    target_log_probabilities = log_probabilities.gather(-1, targets.clamp(min=0)[:, None])
    rank = (log_probabilities > target_log_probabilities).sum(-1, dtype=torch.int32) + 1
    known = targets >= 0
    negative_log_likelihood = torch.where(known, -target_log_probabilities[:, 0], torch.nan)
    return best.indices.int(), best.values.exp(), torch.where(known, rank, 0).int(), negative_log_likelihood
