"""continue_runs(): runs of several texts by one model in one forward pass, with the same results as `continue_run`.

A forward pass for one letter spends its time on reading weights and on calls between modules; both cost the same for
the letters of thirty visitors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from weakref import ref

import numpy as np
import torch
from torch import Tensor

from headlight.cancellation import check_cancelled
from headlight.errors import HeadlightError
from headlight.nn.attention import CELLS_AT_ONCE
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, Hook, HookScope, hook_point_of, with_prefix
from headlight.nn.ragged import RaggedCache, RaggedRows, ragged_contexts
from headlight.nn.transformer import Transformer
from headlight.tracing.incremental import FinishedRun, encodes_alike, looks_ahead
from headlight.tracing.inputs import token_tensor
from headlight.tracing.interventions import InterventionHook, token_axes
from headlight.tracing.recording import RecordingHook, distinct_arrays, to_numpy
from headlight.tracing.request import RunRequest
from headlight.tracing.trace import is_on_residual_stream

MAX_BYTES = 64 << 20  # of all attention weights of one forward pass, padding included
MAX_LENGTH = 256  # tokens of a text that shares a pass; a longer text uses the processor fully by itself


def can_run_together(model: Transformer, request: RunRequest) -> bool:
    """Whether a text's run may share a forward pass with others by the same model.

    It may not if it reads an image, a sound or a source, if logits are recorded, or if values at a token depend on the
    length of the text.
    """
    config, encodings = model.config, model.stack(model.config.stacks[-1]).layer_positional_encodings
    length, masks = len(request.text.ids), "+".join((*config.masks, *config.per_layer.masks))
    return (
        request.keep is not None
        and not (config.reads_signal or config.has_cross_attention or request.live or request.wants_logits)
        and 0 < length <= min(MAX_LENGTH, config.context_length)
        and config.heads * length**2 <= CELLS_AT_ONCE
        and config.embedding.dropped_token_id is None
        and "custom:" not in masks
        and not any(encoding.has_content_bias for encoding in encodings)
        and not any(edit.path.endswith("position_ids") for edit in request.edits)
    )


@torch.inference_mode()
def continue_runs(
    model: Transformer, requests: Sequence[tuple[RunRequest, FinishedRun | None]]
) -> list[FinishedRun | None]:
    """The result of `continue_run` for each request and its previous run, all in one forward pass.

    None for a request that must run alone (`can_run_together`) or that failed, which raises its error when run alone.
    """
    longest = max((len(request.text.ids) for request, _ in requests), default=0)
    chosen = [
        number
        for number, (request, _) in enumerate(requests)
        if can_run_together(model, request) and encodes_alike(model, len(request.text.ids), longest)
    ]
    found: list[FinishedRun | None] = [None] * len(requests)
    for keep in dict.fromkeys(requests[number][0].keep for number in chosen):
        alike = [number for number in chosen if requests[number][0].keep == keep]
        starts = {number: _start(model, *requests[number]) for number in alike}
        for group in _groups(model, [(number, requests[number][0], starts[number]) for number in alike]):
            runs = _run(model, [requests[number] for number in group], [starts[number] for number in group])
            for number, run in zip(group, runs, strict=True):
                found[number] = run
    return found


def _start(model: Transformer, request: RunRequest, previous: FinishedRun | None) -> int:
    return previous.shared_length(model, request) if previous else 0


def _groups(model: Transformer, texts: Sequence[tuple[int, RunRequest, int]]) -> list[list[int]]:
    """Groups of text numbers, one for each forward pass, whose padded weights stay within MAX_BYTES."""
    groups: list[list[int]] = []
    most, longest, cells = 0, 0, model.config.heads * model.config.num_layers(model.config.stacks[-1])
    for number, request, start in texts:
        length = len(request.text.ids)
        most, longest = max(most, length - start), max(longest, length)
        if not groups or 4 * cells * (len(groups[-1]) + 1) * most * longest > MAX_BYTES:
            groups.append([])
            most, longest = length - start, length
        groups[-1].append(number)
    return groups


def _run(
    model: Transformer, requests: Sequence[tuple[RunRequest, FinishedRun | None]], starts: Sequence[int]
) -> list[FinishedRun | None]:
    rows = RaggedRows(tuple(starts), tuple(len(request.text.ids) for request, _ in requests), model.device)
    cache = RaggedCache(rows, [previous.key_values if previous else {} for _, previous in requests])
    record = RaggedRecording(rows, [request for request, _ in requests])
    name = model.config.stacks[-1]
    stack, hook = model.stack(name), with_prefix(record, name)
    ids = [token_tensor(request.text, model)[:, start:] for (request, _), start in zip(requests, starts, strict=True)]
    all_ids = torch.cat(ids, dim=1)
    x, token_vectors = stack.begin(model.embed(all_ids), rows.position, hook, all_ids)
    stack.forward_from(x, 0, ragged_contexts(stack, rows), None, None, hook, cache, token_vectors)
    return [record.finished(text, model, request, previous, cache) for text, (request, previous) in enumerate(requests)]


class RaggedRecording:
    """A hook that applies each text's edits to its rows, and records the requested values of all texts."""

    def __init__(self, rows: RaggedRows, requests: Sequence[RunRequest]) -> None:
        self.rows, self.keep = rows, RecordingHook(_unchanged, requests[0].keep)
        self.edits = {
            text: _edits(request, start, length)
            for text, (request, start, length) in enumerate(zip(requests, rows.starts, rows.lengths, strict=True))
            if request.edits
        }
        self.failed: set[int] = set()
        self.unedited: dict[str, Tensor] = {}  # recorded values before any text's edits

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value with each text's edits. Raises Cancelled once no answer is needed."""
        check_cancelled()
        unedited = value
        for text, edits in self.edits.items():
            is_seen = path.endswith(".mask") or is_on_residual_stream(path)
            if text not in self.failed and (is_seen or edits.scope(path) is not HookScope.NONE):
                value = self._edited(path, value, text, edits)
        if value is not unedited and self.keep.keeps(path):
            self.unedited[path] = unedited
        return self.keep(path, value)

    def scope(self, path: str) -> HookScope:
        """All of a value that is recorded or edited."""
        scopes = [self.keep.scope(path), *(edits.scope(path) for edits in self.edits.values())]
        return HookScope.NONE if max(scopes) is HookScope.NONE else HookScope.ALL

    def _edited(self, path: str, value: Tensor, text: int, edits: Hook) -> Tensor:
        part = self._part(path, value, text)
        try:
            edited = edits(path, part)
        except HeadlightError:  # the text is run again alone, which raises the error
            self.failed.add(text)
            return value
        if edited is part:
            return value
        by_text = _row_axis(path) is None
        value = value.expand(len(self.rows.counts), *value.shape[1:]).clone() if by_text else value.clone()
        self._part(path, value, text).copy_(edited)
        return value

    def _part(self, path: str, value: Tensor, text: int) -> Tensor:
        """The rows of one text, with a batch axis of one."""
        if (axis := _row_axis(path)) is not None:
            return value.narrow(axis, self.rows.offsets[text], self.rows.counts[text])
        value = value[text : text + 1] if len(value) > 1 else value
        return value[:, :, : self.rows.counts[text], : self.rows.lengths[text]] if value.dim() == 4 else value

    def finished(
        self, text: int, model: Transformer, request: RunRequest, previous: FinishedRun | None, cache: RaggedCache
    ) -> FinishedRun | None:
        """The run of one text, with copies of its own values only; None if it failed."""
        start, edits = self.rows.starts[text], self.edits.get(text)
        if text in self.failed:
            return None
        if edits and not start and set(request.edits) - edits.applied:
            return None  # an edit of a value that this model lacks
        # If one text edits a mask, the others still keep one mask for all heads and layers.
        own = {
            path: value if edits and edits.scope(path) is not HookScope.NONE else self.unedited.get(path, value)
            for path, value in self.keep.values.items()
        }
        values = distinct_arrays(own, lambda path, value: _copied(self._part(path, value, text)[0]))
        trace = (
            previous.extended_trace(model, request, values, start)
            if previous and start
            else request.trace(model, values)
        )
        key_values = {} if looks_ahead(model.config, request.edits) else cache.of_text(text)
        return FinishedRun(request, trace, ref(model), key_values, None)


@lru_cache(maxsize=4_096)
def _row_axis(path: str) -> int | None:
    """The axis of a value that counts rows; None if the first axis counts the texts."""
    axes = token_axes(hook_point_of(path))
    return axes[0] if axes and path.rpartition(".")[2] not in QUERY_KEY_HOOK_POINTS else None


def _edits(request: RunRequest, start: int, length: int) -> InterventionHook:
    return InterventionHook(request.edits, start, length) if start else InterventionHook(request.edits)


def _copied(value: Tensor) -> np.ndarray:
    """An array with its own memory; if one part repeats (one mask for all heads), it is stored once."""
    if value.dim() > 1 and value.stride(0) == 0:
        return np.broadcast_to(to_numpy(value[:1]).copy(), value.shape)
    return to_numpy(value).copy()


def _unchanged(path: str, value: Tensor) -> Tensor:
    return value
