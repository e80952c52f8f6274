"""Logit lens: the output head applied to the residual stream after every layer.

Depth 0 is the embedded text, depth i the residual stream after i blocks, and the last depth the model's own output.
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
from model.tasks import task_of
from model.tracing.recompute import trace_logits
from model.tracing.trace import Trace

KEEP = ("*.residual", "*.final_residual")
ALL_TOKENS = slice(None)


@dataclass(frozen=True)
class LensOutput:
    """The prediction of one depth at each token: the most probable tokens, and how the target token fares.

    `rank` is that of the target, from 1; where the target is not known it is 0, and `negative_log_likelihood` (nats)
    is NaN.
    """

    token_ids: Int[np.ndarray, "pos top_k"]
    probabilities: Float[np.ndarray, "pos top_k"]
    rank: Int[np.ndarray, " pos"]
    negative_log_likelihood: Float[np.ndarray, " pos"]


def require_language_head(model: Transformer) -> None:
    """Raise ConfigError for a model without a language head."""
    if not task_of(model.config).predicts_tokens:
        raise ConfigError("The logit lens applies the model's own language head to each layer; this model has none.")


@torch.inference_mode()
def logit_lens(model: Transformer, trace: Trace, position: int = -1) -> Float[np.ndarray, "depth token"]:
    """The probabilities of all tokens at one position for every depth (nostalgebraist 2020).

    Softmax of the output head of the final norm of the residual stream. Raises ConfigError without a language head,
    EditError where the trace lacks the residual stream.
    """
    require_language_head(model)
    rows = np.stack([trace[path][position] for path in _residual_paths(trace)])
    probabilities: np.ndarray = _unembed(model, rows).softmax(-1).cpu().numpy()
    return probabilities


@torch.inference_mode()
def lens_at(
    model: Transformer, trace: Trace, depth: int, targets: Sequence[int], count: int = 5, positions: slice = ALL_TOKENS
) -> LensOutput:
    """The prediction of one depth at every token, or some; `targets` are the tokens to predict, -1 where not known.

    The last depth is the model's own output, edits of the logits included. Raises ConfigError without a language head,
    EditError for a depth that does not exist or that the trace lacks.
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
    """The token to predict at each position: the next one, or for a masked language model the token itself; else -1.

    `original_ids` are the tokens before any of them was masked (None: those of the trace).
    """
    known = tuple(trace.text.ids if original_ids is None else original_ids)
    return known if task_of(trace.config).fills_masks else (*known[1:], -1)


def residual_norms(trace: Trace) -> Float[np.ndarray, "depth pos"]:
    """The 2-norm of each token's residual stream at every depth."""
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
