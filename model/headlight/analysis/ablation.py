"""Ablation: a model's answer with the weights of heads set to zero, or with a token hidden, several in one batch.

One head at a time (`ablate_heads`), as many as it takes to change the answer (`advance_search`), or one token of a text
that is labelled as a whole (`ablate_tokens`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.attention_groups import attention_groups
from headlight.cancellation import check_cancelled
from headlight.errors import ConfigError, EditError, TextError
from headlight.nn.attention import AttentionContext, KeysAndValues
from headlight.nn.hooks import Hook, HookAfter, HookScope, hook_for_rows, hook_scope, with_prefix
from headlight.nn.stack import Block
from headlight.nn.transformer import Transformer, attention_at
from headlight.problem_types import ProblemType, problem_type_of
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import segment_tensor, token_tensor
from headlight.tracing.recompute import attention_contexts, intervention_hook, logits_at, traced_tensor
from headlight.tracing.trace import Trace, position_index, require_position

TOKENS_PER_BATCH = 1024  # a larger batch is not faster and takes longer to cancel
SMALLEST_CHANGE = 1e-3  # of a margin of logits; smaller changes may be rounding
KEEP = ("*.residual", "*.residual_streams", "*.final_residual")


class WholeValueHook:
    """A hook that wraps another: it asks for whole values at `paths`, and elsewhere for what the other hook needs."""

    def __init__(self, hook: Hook, paths: Collection[str]) -> None:
        self.hook, self.paths = hook, paths

    def scope(self, path: str) -> HookScope:
        """The whole value at one of the paths; for other paths the scope of the wrapped hook."""
        return HookScope.ALL if path in self.paths else hook_scope(self.hook, path)

    def for_rows(self, start: int, total: int) -> Hook:
        """The wrapped hook for a few rows at a time."""
        return hook_for_rows(self.hook, start, total)


class HoldingHook(WholeValueHook):
    """A hook that sets the values at some paths, the same for all rows or one for each; another hook gets the rest."""

    def __init__(self, hook: Hook, held: Mapping[str, Tensor]) -> None:
        super().__init__(hook, held)
        self.held = held

    def __call__(self, path: str, value: Tensor) -> Tensor:
        return self.held[path].to(value).expand_as(value) if path in self.held else self.hook(path, value)


class _AblateEachHead:
    """A hook that applies the edits, then sets the weights of one head to zero in each row, another head in each."""

    def __init__(self, hook: Hook, weights_path: str, first_head: int) -> None:
        self.hook, self.weights_path, self.first_head = hook, weights_path, first_head

    def scope(self, path: str) -> HookScope:
        """Rows suffice for the weights; for other paths the scope of the edits."""
        return max(HookScope.ROWS if path == self.weights_path else HookScope.NONE, hook_scope(self.hook, path))

    def for_rows(self, start: int, total: int) -> Hook:
        """The same for a few rows at a time."""
        return _AblateEachHead(hook_for_rows(self.hook, start, total), self.weights_path, self.first_head)

    def __call__(self, path: str, value: Tensor) -> Tensor:
        value = self.hook(path, value)
        if path != self.weights_path:
            return value
        value = value.clone()
        batch = torch.arange(len(value), device=value.device)
        value[batch, self.first_head + batch] = 0.0
        return value


def heads_per_batch(trace: Trace) -> int:
    """The number of heads to ablate in one batch of at most TOKENS_PER_BATCH tokens."""
    return max(1, TOKENS_PER_BATCH // (len(trace.text.ids) + (len(trace.source.ids) if trace.source else 0)))


def require_prediction(model: Transformer) -> None:
    """Raise ConfigError for a model without an output head."""
    if not task_of(model.config).predicts:
        raise ConfigError(
            "This model ends without an output head, so there is no prediction that its heads could change."
        )


@torch.inference_mode()
def ablate_heads(
    model: Transformer, trace: Trace, path: str, position: int, token: int, first_head: int, count: int
) -> Float[np.ndarray, " head"]:
    """The log-probability (nats) of a token or label at a position without each of `count` heads from `first_head` on.

    For a model whose answers are scores, it is the score (`headlight.problem_types`).

    `path` names an attention (`decoder.3.self`); text and edits come from the trace, which holds KEEP. The result
    equals one run for each head with a last edit `decoder.3.self.weights[HEAD]=set:0`. Raises ConfigError for a model
    without an output head, EditError for heads, TextError for a position or token that does not exist.
    """
    logits = logits_without_heads(model, trace, path, position, first_head, count)
    if not 0 <= token < logits.shape[-1]:
        raise TextError(f"There is no token or label {token}: this model has {logits.shape[-1]}.")
    found: np.ndarray = problem_type_of(model.config).compared(logits)[:, token].float().cpu().numpy()
    return found


def final_without_heads(
    model: Transformer, trace: Trace, path: str, first_head: int, count: int
) -> Float[Tensor, "head pos d_model"]:
    """The residuals after the last stack's final norm without each of `count` heads of an attention.

    Takes the same arguments and raises the same errors as `ablate_heads`.
    """
    heads = attention_at(model, path)[0].heads
    if not (first_head >= 0 and count >= 1 and first_head + count <= heads):
        raise EditError(
            f"There are no heads {first_head} to {first_head + count - 1}; each layer has {heads}, counted from 0."
        )
    name, layer, _ = path.split(".")
    entry = f"{name}.{layer}.residual"
    ablation_hook = _AblateEachHead(HookAfter(intervention_hook(trace), entry), f"{path}.weights", first_head)
    residual = traced_tensor(model, trace, entry).expand(count, -1, -1)
    return final_from_layer(model, trace, name, int(layer), residual, ablation_hook)


@torch.inference_mode()
def logits_without_heads(
    model: Transformer, trace: Trace, path: str, position: int, first_head: int, count: int
) -> Float[Tensor, "head answer"]:
    """The logits at a position without each of some heads of an attention; arguments and errors as `ablate_heads`."""
    require_prediction(model)
    return logits_of_final(model, trace, final_without_heads(model, trace, path, first_head, count), position)


def logits_of_final(
    model: Transformer, trace: Trace, final: Float[Tensor, "batch pos d_model"], position: int
) -> Float[Tensor, "batch answer"]:
    """The logits at a position in several runs of one text, for a model that predicts."""
    index = position_index(position, final.shape[1])
    answerable = model.answerable(_token_tensor(trace.text, model, len(final)))
    logits = model.logits(final, answerable, intervention_hook(trace), slice(index, index + 1))
    assert logits is not None  # `require_prediction` refuses models without an output head
    return logits.flatten(0, -2)


def final_from_layer(
    model: Transformer, trace: Trace, name: str, layer: int, residual: Float[Tensor, "batch pos d_model"], hook: Hook
) -> Float[Tensor, "batch target_pos embedding_dim"]:
    """The residuals after the last stack's final norm, computed from several inputs of one layer of a stack.

    Text and edits come from the trace; `hook` is applied in that stack, from the layer on. With several residual
    streams, `residual` is the one that the layer reads.
    """
    count = len(residual)

    def from_trace(path: str) -> Tensor:
        value = traced_tensor(model, trace, path)
        return value.expand(count, *value.shape)

    memory = from_trace("encoder.final_residual") if model.config.has_cross_attention and name == "decoder" else None
    contexts, cross_context = attention_contexts(model, trace, name, hook)
    stack, entry = model.stack(name), f"{name}.{layer}.residual"
    if stack.residual_streams is not None:
        streams = from_trace(f"{entry}_streams")
        hook, residual = HoldingHook(hook, {entry: residual, f"{entry}_streams": streams}), streams
    final: Tensor = stack.forward_from(
        residual,
        layer,
        contexts,
        memory,
        cross_context,
        with_prefix(hook, name),
        token_vectors=_token_vectors(model, trace, name),
        shared=_shared_before(model, trace, name, layer, contexts, count),
    )
    if name != model.config.stacks[-1]:
        edits = intervention_hook(trace)
        ids, segments = _token_tensor(trace.text, model, count), segment_tensor(trace.text, model)
        final = model.encode_hidden(ids, memory=final, segment_ids=segments, hook=edits)
    return final


def _token_vectors(model: Transformer, trace: Trace, name: str) -> Tensor | None:
    """The vectors of a stack's tokens for each layer, if any, with the edits of the trace."""
    if (stack := model.stack(name)).layer_embedding is None:
        return None
    ids, segments = token_tensor(trace.text, model), segment_tensor(trace.text, model)
    positions = torch.arange(ids.shape[1], device=model.device)
    return stack.begin(
        model.embed(ids, segment_ids=segments), positions, with_prefix(intervention_hook(trace), name), ids
    )[1]


def _shared_before(
    model: Transformer, trace: Trace, name: str, layer: int, contexts: Sequence[AttentionContext], count: int
) -> dict[int, KeysAndValues]:
    """The keys and values of layers before `layer` that this or a later layer reads, for a batch of runs."""
    stack, shared = model.stack(name), dict[int, KeysAndValues]()
    for earlier in {each for each in stack.key_value_layers[layer:] if each < layer}:
        entry = f"{name}.{earlier}.residual"
        hook = with_prefix(HookAfter(intervention_hook(trace), entry), f"{name}.{earlier}")
        block, residual = stack.blocks[earlier], traced_tensor(model, trace, entry)[None]
        assert isinstance(block, Block)
        shared[earlier] = block.keys_and_values(residual, contexts[earlier], hook).expand(count)
    return shared


def _token_tensor(text: Encoded, model: Transformer, count: int) -> Tensor:
    return token_tensor(text, model).expand(count, -1)


@dataclass(frozen=True)
class AnswerLead:
    """The lead of an answer: its log-probability (nats), and the margin of its logit over the next best.

    `likeliest` is the token with the largest logit; with a negative margin it is not the answer. If labels
    do not exclude each other, the margin is the logit: below 0, the label is likelier false than true.
    """

    log_probability: float
    margin: float
    likeliest: int

    @classmethod
    def of(cls, logits: Float[np.ndarray, " answer"], token: int, problem_type: ProblemType) -> AnswerLead:
        """The lead of a token or label. Raises TextError if no answer can take its place, or without a finite logit."""
        logits = logits.astype(np.float64)
        if not problem_type.is_probability:
            raise TextError("This model answers with scores, which do not take each other's place.")
        if not problem_type.has_scores and len(logits) < 2:
            raise TextError("This model has only one answer, so nothing can change it.")
        if np.isnan(logits).any() or not np.isfinite(logits[token]):
            raise TextError("The answer has no finite logit here, so heads cannot be compared by it.")
        next_best = 0.0 if problem_type.has_scores else float(np.delete(logits, token).max())
        log_probability = float(problem_type.compared(torch.from_numpy(logits))[token])
        return cls(log_probability, float(logits[token]) - next_best, int(logits.argmax()))


@dataclass(frozen=True)
class AblatedHead:
    """A head of an attention, and the margin of the answer without it."""

    path: str
    head: int
    margin: float

    @property
    def edit(self) -> str:
        """The edit that switches the head off."""
        return f"{self.path}.weights[{self.head}]=set:0"


@dataclass(frozen=True)
class HeadSearch:
    """The state of a greedy search for heads whose ablation changes the answer at a position.

    `heads` are switched off in this order; `leads` are the leads of the answer before the first and after each of them.
    In the current round `tested` heads have been tried, and `best` left the smallest margin. The search is `stuck` once
    no further head reduces the margin.
    """

    heads: tuple[AblatedHead, ...] = ()
    leads: tuple[AnswerLead, ...] = ()
    tested: int = 0
    best: AblatedHead | None = None
    stuck: bool = False

    @property
    def edits(self) -> tuple[str, ...]:
        """The edits that switch the heads off."""
        return tuple(head.edit for head in self.heads)

    @property
    def is_changed(self) -> bool:
        """Whether a different answer is now the likeliest."""
        return bool(self.leads) and self.leads[-1].margin < 0

    def is_done(self, most: int) -> bool:
        """Whether the search has ended: the answer has changed, `most` heads are off, or no further head would help."""
        return self.stuck or self.is_changed or len(self.leads) > most


def all_heads(model: Transformer) -> list[tuple[str, int]]:
    """Each head of a model as the path of its attention and its index there, attention by attention."""
    groups = attention_groups(model.config)
    paths = [group.path(layer) for group in groups for layer in range(group.layers)]
    return [(path, head) for path in paths for head in range(attention_at(model, path)[0].heads)]


@torch.inference_mode()
def advance_search(model: Transformer, trace: Trace, search: HeadSearch, position: int, token: int) -> HeadSearch:
    """One step of a search: computes the current lead of the answer `token` at `position`, or tries a batch of heads.

    The trace comes from a run with the edits of `search` after all others, and holds KEEP. A round tries every head in
    addition to those that are off, and switches off the one that leaves the smallest margin.
    """
    problem_type = problem_type_of(model.config)
    if len(search.leads) == len(search.heads):
        lead = AnswerLead.of(logits_at(model, trace, position), token, problem_type)
        return replace(search, leads=(*search.leads, lead))
    heads = all_heads(model)
    if search.tested >= len(heads):
        return _end_round(search)
    path, first = heads[search.tested]
    count = min(heads_per_batch(trace), attention_at(model, path)[0].heads - first)
    logits = logits_without_heads(model, trace, path, position, first, count).float().cpu().numpy()
    leads = [AnswerLead.of(row, token, problem_type) for row in logits]
    tried = [AblatedHead(path, first + number, lead.margin) for number, lead in enumerate(leads)]
    best = min(filter(None, (search.best, *tried)), key=lambda head: head.margin)
    return replace(search, tested=search.tested + count, best=best)


def _end_round(search: HeadSearch) -> HeadSearch:
    """Switches off the best head, or ends the search if it does not reduce the margin."""
    best = search.best
    if best is None or best.margin > search.leads[-1].margin - SMALLEST_CHANGE:
        return replace(search, stuck=True)
    return replace(search, heads=(*search.heads, best), tested=0, best=None)


HIDDEN_TOKENS_PER_BATCH = 2048  # of copies of a text, each with a different token hidden


def require_text_classifier(model: Transformer) -> None:
    """Raise ConfigError for a model that does not label whole texts."""
    config = model.config
    if not task_of(config).whole_text or config.reads_signal:
        raise ConfigError("This model does not label whole texts.")


@torch.inference_mode()
def ablate_tokens(model: Transformer, trace: Trace, positions: Sequence[int]) -> Float[np.ndarray, "position label"]:
    """The logits without each of some tokens: no token attends to it, it is not pooled, and the others do not move.

    In an encoder-decoder whose decoder reads the source as well, both stacks lack it.

    Text and edits come from the trace. Raises ConfigError for a model that does not label whole texts, TextError for a
    position that does not exist (Li et al. 2016, "erasure", with a token as the smallest unit).
    """
    require_text_classifier(model)
    length = len(trace.text.ids)
    for position in positions:
        require_position(position, length)
    ids, segments = token_tensor(trace.text, model), segment_tensor(trace.text, model)
    rows, found = max(1, HIDDEN_TOKENS_PER_BATCH // length), []
    for first in range(0, len(positions), rows):
        check_cancelled()
        hidden = torch.tensor(positions[first : first + rows], device=model.device)
        is_token = torch.arange(length, device=model.device) != hidden[:, None]
        logits = model(
            ids.expand(len(hidden), -1), padding_mask=is_token, segment_ids=segments, hook=intervention_hook(trace),
            **_source_without(model, trace, is_token),
        )  # fmt: skip
        assert logits is not None  # `require_text_classifier` refuses models without an output head
        found.append(logits.float().cpu().numpy())
    return np.concatenate(found) if found else np.zeros((0, len(model.config.labels)), dtype=np.float32)


def _source_without(model: Transformer, trace: Trace, is_token: Tensor) -> dict[str, Tensor]:
    """The source of an encoder-decoder for each row, without the token that the decoder lacks there."""
    if trace.source is None:
        return {}
    ids = token_tensor(trace.source, model, source=True).expand(len(is_token), -1)
    is_read = torch.ones_like(ids, dtype=torch.bool)
    if trace.text.ids[1:] == trace.source.ids[:-1]:  # the decoder reads the source after a start token
        is_read[:, :-1] = is_token[:, 1:]
    return {"source": ids, "source_padding_mask": is_read}
