"""One forward pass over the new tokens of several texts, with the values that each text has alone.

Their new tokens are rows of one tensor (`headlight.nn.ragged`); each text's edits apply to its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.errors import HeadlightError
from headlight.nn.attention import CELLS_AT_ONCE
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, Hook, HookScope, hook_point_of, no_hook, with_prefix
from headlight.nn.ragged import RaggedCache, RaggedRows, ragged_contexts
from headlight.nn.transformer import Transformer
from headlight.tracing.continuation import Continuation, NewValues, encodes_alike, looks_ahead
from headlight.tracing.inputs import segment_tensor, token_tensor
from headlight.tracing.interventions import token_axes
from headlight.tracing.recording import RecordingHook, distinct_arrays, to_numpy
from headlight.tracing.request import RunRequest
from headlight.tracing.trace import is_on_residual_stream

MAX_BYTES = 64 << 20  # of all attention weights of one forward pass, padding included
MAX_LENGTH = 256  # tokens of a text that shares a pass; a longer text uses the processor fully by itself


def can_share_pass(model: Transformer, request: RunRequest) -> bool:
    """Whether a request may share a forward pass with other requests to the same model.

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


def shared_passes(model: Transformer, continuations: Sequence[Continuation]) -> list[list[int]]:
    """The numbers of the texts in each shared forward pass; those of texts that must run alone are missing.

    Texts of one pass record the same paths, and their padded weights stay within MAX_BYTES.
    """
    longest = max((each.length for each in continuations), default=0)
    by_paths: dict[tuple[str, ...] | None, list[int]] = {}
    for number, each in enumerate(continuations):
        if can_share_pass(model, each.request) and encodes_alike(model, each.length, longest):
            by_paths.setdefault(each.request.keep, []).append(number)
    return [numbers for alike in by_paths.values() for numbers in _within_budget(model, continuations, alike)]


def _within_budget(
    model: Transformer, continuations: Sequence[Continuation], numbers: Sequence[int]
) -> list[list[int]]:
    groups: list[list[int]] = []
    most, longest, cells = 0, 0, model.config.heads * model.config.num_layers(model.config.stacks[-1])
    for number in numbers:
        length, count = continuations[number].length, continuations[number].new_length
        most, longest = max(most, count), max(longest, length)
        if not groups or 4 * cells * (len(groups[-1]) + 1) * most * longest > MAX_BYTES:
            groups.append([])
            most, longest = count, length
        groups[-1].append(number)
    return groups


def read_together(model: Transformer, continuations: Sequence[Continuation]) -> list[NewValues | None]:
    """One forward pass over the new tokens of several texts; None for a text whose edits failed."""
    starts, lengths = zip(*((each.start, each.length) for each in continuations), strict=True)
    rows = RaggedRows(starts, lengths, model.device)
    cache = RaggedCache(rows, [each.previous.key_values if each.previous else {} for each in continuations])
    record = RaggedRecording(rows, continuations)
    name = model.config.stacks[-1]
    stack, hook = model.stack(name), with_prefix(record, name)
    ids = torch.cat([token_tensor(each.request.text, model)[:, each.start :] for each in continuations], dim=1)
    embedded = model.embed(ids, segment_ids=_segments(model, continuations))
    x, token_vectors = stack.begin(embedded, rows.position, hook, ids, cache)
    stack.forward_from(x, 0, ragged_contexts(stack, rows), None, None, hook, cache, token_vectors)
    return [record.new_values(text, model.config, cache) for text in range(len(continuations))]


def _segments(model: Transformer, continuations: Sequence[Continuation]) -> Tensor | None:
    """The segments of the new tokens of several texts; None if no text is a pair."""
    found = [segment_tensor(each.request.text, model) for each in continuations]
    if all(each is None for each in found):
        return None
    filled = (
        torch.zeros((1, each.length), dtype=torch.long, device=model.device) if segments is None else segments
        for segments, each in zip(found, continuations, strict=True)
    )
    return torch.cat([row[:, each.start :] for row, each in zip(filled, continuations, strict=True)], dim=1)


class RaggedRecording:
    """A hook that applies each text's edits to its rows, and records the requested values of all texts."""

    def __init__(self, rows: RaggedRows, continuations: Sequence[Continuation]) -> None:
        self.rows, self.continuations = rows, continuations
        self.keep = RecordingHook(no_hook, continuations[0].request.keep)
        self.edits = {text: each.edits() for text, each in enumerate(continuations) if each.request.edits}
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
        """All of every value: attention among the rows of several texts is neither chunked nor fused."""
        return HookScope.ALL

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

    def new_values(self, text: int, config: Config, cache: RaggedCache) -> NewValues | None:
        """Copies of one text's own values; None if it failed."""
        continuation, edits = self.continuations[text], self.edits.get(text)
        if text in self.failed:
            return None
        if edits and not continuation.previous and set(edits.interventions) - edits.applied:
            return None  # an edit of a value that this model lacks
        # If one text edits a mask, the others still keep one mask for all heads and layers.
        own = {
            path: value if edits and edits.scope(path) is not HookScope.NONE else self.unedited.get(path, value)
            for path, value in self.keep.values.items()
        }
        values = distinct_arrays(own, lambda path, value: _copied(self._part(path, value, text)[0]))
        return NewValues(values, {} if looks_ahead(config, continuation.request.edits) else cache.of_text(text))


@lru_cache(maxsize=4_096)
def _row_axis(path: str) -> int | None:
    """The axis of a value that counts rows; None if the first axis counts the texts."""
    axes = token_axes(hook_point_of(path))
    return axes[0] if axes and path.rpartition(".")[2] not in QUERY_KEY_HOOK_POINTS else None


def _copied(value: Tensor) -> np.ndarray:
    """An array with its own memory; if one part repeats (one mask for all heads), it is stored once."""
    if value.dim() > 1 and value.stride(0) == 0:
        return np.broadcast_to(to_numpy(value[:1]).copy(), value.shape)
    return to_numpy(value).copy()
