"""Logit lens: the output head applied to the residual stream after every layer (nostalgebraist 2020).

Depth 0 is the embedded text, depth i the residual stream after i blocks, and the last depth the model's own output. A
classifier of whole texts pools the tokens first: `lens_of_text` gives its labels at a depth, `lens_at` its labels for
each token if only that token were pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.lenses.tuned_lens import TunedLens
from headlight.array_types import Float, Int
from headlight.errors import ConfigError, EditError
from headlight.nn.attention import query_chunks
from headlight.nn.transformer import Transformer
from headlight.problem_types import ProblemType, problem_type_of
from headlight.tasks import task_of
from headlight.tracing.inputs import token_tensor
from headlight.tracing.recompute import trace_logits
from headlight.tracing.trace import Trace, position_index

KEEP = ("*.residual", "*.residual_streams", "*.final_residual")
ALL_TOKENS = slice(None)


@dataclass(frozen=True)
class LensOutput:
    """The prediction of one depth in each row: the likeliest answers, and the rank of the target.

    A row is a token, or the whole text. `rank` counts from 1; if the target is not known it is 0, and
    `negative_log_likelihood` (nats) is NaN.
    """

    answers: Int[np.ndarray, "row top_k"]
    probabilities: Float[np.ndarray, "row top_k"]
    rank: Int[np.ndarray, " row"]
    negative_log_likelihood: Float[np.ndarray, " row"]


def require_output_head(model: Transformer) -> None:
    """Raise ConfigError for a model without an output head."""
    if not task_of(model.config).predicts:
        raise ConfigError("The logit lens applies the model's own output head to each layer; this model has none.")


@torch.inference_mode()
def logit_lens(
    model: Transformer, trace: Trace, position: int = -1, lens: TunedLens | None = None
) -> Float[np.ndarray, "depth answer"]:
    """The probabilities (or scores) of all tokens (or labels) for every depth, at one position or of the whole text.

    The output head reads the final norm of the residual stream, after the maps of a tuned `lens` if given (not
    for the whole text). Raises ConfigError without an output head, EditError if the trace lacks the residual stream.
    """
    require_output_head(model)
    place, is_whole = position_index(position, len(trace.text.ids)), task_of(model.config).whole_text
    rows = [
        _text_logits(model, trace, depth)
        if is_whole
        else _token_logits(model, trace, depth, slice(place, place + 1), lens)
        for depth in range(len(_residual_paths(trace)))
    ]
    return problem_type_of(model.config).values(torch.cat(rows).cpu().numpy())


@torch.inference_mode()
def lens_at(
    model: Transformer,
    trace: Trace,
    depth: int,
    targets: Sequence[int],
    count: int = 5,
    positions: slice = ALL_TOKENS,
    lens: TunedLens | None = None,
) -> LensOutput:
    """The prediction of one depth at every token, or some; `targets` are the tokens to predict, -1 if not known.

    The last depth is the model's own output, including edits of the logits; but a classifier of whole texts pools one
    token at a time, at every depth. With a tuned `lens` the stream goes through its maps first. Raises ConfigError
    without an output head, EditError for a depth that does not exist or that the trace lacks.
    """
    require_output_head(model)
    _require_depth(trace, depth)
    problem_type, chosen, parts = problem_type_of(model.config), range(len(trace.text.ids))[positions], []
    for chunk in query_chunks(len(chosen), model.config.vocabulary_size):
        part = slice(chosen.start + chunk.start, chosen.start + chunk.stop)
        logits = _token_logits(model, trace, depth, part, lens)
        parts.append(_summarize(problem_type, logits, torch.tensor(targets[part], device=logits.device), count))
    return LensOutput(*(torch.cat(each).cpu().numpy() for each in zip(*parts, strict=True)))


@torch.inference_mode()
def lens_of_text(model: Transformer, trace: Trace, depth: int, count: int = 5) -> LensOutput:
    """The labels that a classifier of whole texts gives the text at one depth, as one row.

    Raises ConfigError for other models, EditError as `lens_at`.
    """
    if not task_of(model.config).whole_text:
        raise ConfigError("This model predicts at each token; its logit lens has no row for the whole text.")
    _require_depth(trace, depth)
    logits = _text_logits(model, trace, depth)
    found = _summarize(problem_type_of(model.config), logits, torch.tensor([-1]).to(logits.device), count)
    return LensOutput(*(each.cpu().numpy() for each in found))


def target_tokens(trace: Trace, original_ids: Sequence[int] | None = None) -> tuple[int, ...]:
    """The token to predict at each position: the next one, or for a masked language model the token itself; else -1.

    `original_ids` are the tokens before masking (None: the trace's tokens). A classifier has no targets.
    """
    task, known = task_of(trace.config), tuple(trace.text.ids if original_ids is None else original_ids)
    if not task.predicts_tokens:
        return (-1,) * len(known)
    return known if task.fills_masks else (*known[1:], -1)


def residual_norms(trace: Trace) -> Float[np.ndarray, "depth pos"]:
    """The 2-norm of each token's residual stream at every depth; with several streams, of the one that layers read."""
    return np.stack([np.linalg.norm(trace[path], axis=-1) for path in _residual_paths(trace)])


def _residual_paths(trace: Trace, hook_point: str = "residual") -> list[str]:
    name = trace.config.stacks[-1]
    return [*(f"{name}.{layer}.{hook_point}" for layer in range(trace.config.num_layers(name))), f"{name}.residual"]


def _require_depth(trace: Trace, depth: int) -> None:
    count = len(_residual_paths(trace))
    if not 0 <= depth < count:
        raise EditError(f"There is no depth {depth}: this model has {count - 1} layers, and 0 is the embedding.")


def _is_last(trace: Trace, depth: int) -> bool:
    return depth == len(_residual_paths(trace)) - 1


def _token_logits(
    model: Transformer, trace: Trace, depth: int, positions: slice, lens: TunedLens | None
) -> Float[Tensor, "pos answer"]:
    """The logits at some tokens; for labels of the whole text, as if each token were a text of its own."""
    is_whole = task_of(model.config).whole_text
    if _is_last(trace, depth) and not is_whole:
        return trace_logits(model, trace, positions).float()
    final = _final_residual(model, trace, depth, positions, lens)
    logits = model.logits(final[:, None] if is_whole else final[None])
    assert logits is not None  # `require_output_head` rejects models without one
    return (logits if is_whole else logits[0]).float()


def _text_logits(model: Transformer, trace: Trace, depth: int) -> Float[Tensor, "1 label"]:
    """The logits of the whole text's labels, from its pooled tokens."""
    if _is_last(trace, depth):
        return trace_logits(model, trace)[None].float()
    final = _final_residual(model, trace, depth, ALL_TOKENS)[None]
    logits = model.logits(final, model.answerable(token_tensor(trace.text, model)))
    assert logits is not None
    return logits.float()


def _final_residual(
    model: Transformer, trace: Trace, depth: int, positions: slice, lens: TunedLens | None = None
) -> Float[Tensor, "pos embedding_dim"]:
    """The input of the output head at a depth: the residual stream after a lens's map, if any, and the final norm."""
    name = model.config.stacks[-1]
    stack = model.stack(name)
    hook_point = "residual" if stack.residual_streams is None else "residual_streams"
    path = f"{name}.final_residual" if _is_last(trace, depth) else _residual_paths(trace, hook_point)[depth]
    rows = torch.tensor(trace[path][positions], device=model.device, dtype=model.embedding.weight.dtype)
    if lens is not None and not _is_last(trace, depth):
        rows = lens(depth, rows)
    if _is_last(trace, depth):
        return rows
    merged = rows if stack.residual_streams is None else stack.residual_streams.merge(rows)
    final: Tensor = stack.project_out(stack.final_norm(merged))
    return final


def _summarize(
    problem_type: ProblemType, logits: Tensor, targets: Tensor, count: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    log_probabilities = problem_type.compared(logits)
    best = log_probabilities.topk(min(count, log_probabilities.shape[-1]))
    target_log_probabilities = log_probabilities.gather(-1, targets.clamp(min=0)[:, None])
    rank = (log_probabilities > target_log_probabilities).sum(-1, dtype=torch.int32) + 1
    known = targets >= 0
    negative_log_likelihood = torch.where(known, -target_log_probabilities[:, 0], torch.nan)
    values = best.values.exp() if problem_type.is_probability else best.values
    return best.indices.int(), values, torch.where(known, rank, 0).int(), negative_log_likelihood
