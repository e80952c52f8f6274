"""The runner: one path from a request to a finished run, for one text or for several.

1. `Continuation.of` finds how much of the text an earlier run has read.
2. `shared_passes` finds which texts share a forward pass; one text has its own.
3. `read`, for one text, or `read_together` does a forward pass over the new tokens, which applies the edits and records
   the values.
4. `assembled_trace` puts the rows of the earlier run before the new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import ref

import torch

from headlight.nn.attention import KVCache
from headlight.nn.hooks import HookScope, hook_scope
from headlight.nn.transformer import Transformer
from headlight.tracing.assembly import assembled_trace
from headlight.tracing.continuation import Continuation, FinishedRun, NewValues, looks_ahead
from headlight.tracing.inputs import encode_memory, segment_tensor, signal_tensor, token_tensor
from headlight.tracing.recording import RecordingHook
from headlight.tracing.request import RunRequest
from headlight.tracing.shared_pass import read_together, shared_passes


@torch.inference_mode()
def run_request(
    model: Transformer, request: RunRequest, previous: FinishedRun | None = None, *, continuable: bool = True
) -> FinishedRun:
    """The run of one request, which does not read again what a previous run has read.

    A run that will not be continued (`continuable=False`) keeps no keys and values. Raises EditError for an edit that
    changes nothing or cannot be applied, TextError, ImageError or SoundError for an input that does not fit the model.
    """
    continuation = Continuation.of(model, request, previous)
    has_cache = continuation.previous or (continuable and not looks_ahead(model.config, request.edits))
    new = read(model, continuation, continuation.cache() if has_cache else None)
    return _finished_run(model, continuation, new)


@torch.inference_mode()
def run_requests(
    model: Transformer, requests: Sequence[tuple[RunRequest, FinishedRun | None]]
) -> list[FinishedRun | None]:
    """The runs of several requests, each with its previous run, in as few forward passes as possible.

    A forward pass for one letter spends its time on reading weights and on calls between modules; both cost the same
    for the letters of thirty visitors. None for a request that must run alone (`can_share_pass`) or that failed, which
    raises its error when it runs alone.
    """
    continuations = [Continuation.of(model, request, previous) for request, previous in requests]
    finished: list[FinishedRun | None] = [None] * len(requests)
    for numbers in shared_passes(model, continuations):
        group = [continuations[number] for number in numbers]
        for number, continuation, new in zip(numbers, group, read_together(model, group), strict=True):
            finished[number] = None if new is None else _finished_run(model, continuation, new)
    return finished


def read(model: Transformer, continuation: Continuation, cache: KVCache | None) -> NewValues:
    """One forward pass over the new tokens of one text; `cache` holds the earlier ones, and then all."""
    request, previous, edits = continuation.request, continuation.previous, continuation.edits()
    record = RecordingHook(edits, request.keep)
    memory = previous.memory if previous else encode_memory(model, request.source, record)
    ids, signal = token_tensor(request.text, model), signal_tensor(request.text, model)
    segments = segment_tensor(request.text, model)
    final = model.encode_hidden(
        ids[:, continuation.start :],
        signal=signal,
        memory=memory,
        segment_ids=None if segments is None else segments[:, continuation.start :],
        hook=record,
        cache=cache,
    )
    # The logits of a long text are larger than all other values: they are computed only if recorded or edited.
    if hook_scope(record, "logits") is not HookScope.NONE:
        model.logits(final, model.answerable(ids), record)
    if previous is None:  # the earlier run has checked them
        edits.require_all_applied()
    return NewValues(record.arrays(), cache.key_values if cache else {}, memory, frozenset(edits.live_paths))


def _finished_run(model: Transformer, continuation: Continuation, new: NewValues) -> FinishedRun:
    trace = assembled_trace(model, continuation, new)
    return FinishedRun(continuation.request, trace, ref(model), new.key_values, new.memory)
