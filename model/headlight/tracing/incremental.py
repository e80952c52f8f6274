"""continue_run(): continue an earlier run, so that a letter typed at the end of a text costs only its own tokens.

In a causal model the beginning of a text has the same values as before: its keys and values are cached, its rows of the
trace are reused, and only the tokens after it are read. If a token may depend on later ones, the whole text is read
(`FinishedRun.shared_length`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from weakref import ReferenceType, ref

import numpy as np
import torch
from torch import Tensor

from headlight.config import Config
from headlight.nn.attention import KeyValues, KVCache, common_prefix_length, truncate_key_values
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, hook_point_of
from headlight.nn.masks import is_causal
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.tracing.interventions import Intervention, InterventionHook, is_source_axis, token_axes
from headlight.tracing.recompute import recompute_attention
from headlight.tracing.recording import RecordingHook, to_numpy
from headlight.tracing.request import RunRequest
from headlight.tracing.trace import Trace

# Values with numbers at later keys, too; mask and weights of a causal model are 0 there.
_WITH_LATER_KEYS = tuple(f".{name}" for name in QUERY_KEY_HOOK_POINTS if name not in ("mask", "weights"))


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A run's trace, and the cache to continue it on a text with the same beginning.

    Keys and values are listed by attention path, empty if a token may depend on later ones; `memory` is the encoder's
    output. All of it is immutable; the model is not kept in memory.
    """

    request: RunRequest
    trace: Trace
    model: ReferenceType[Transformer]
    key_values: KeyValues
    memory: Tensor | None

    @property
    def bytes(self) -> int:
        """The size in memory; if an array repeats one part (one mask for all heads), the part counts once.

        An array that layers share counts once for each layer.
        """
        tensors = [tensor for pair in self.key_values.values() for tensor in pair]
        if self.memory is not None:
            tensors.append(self.memory)
        return sum(tensor.nbytes for tensor in tensors) + sum(map(_bytes_of, self.trace.values.values()))

    def shared_length(self, model: Transformer, request: RunRequest) -> int:
        """The number of tokens at the beginning that another run can skip: at most all but its last.

        0 if anything but the text differs, or if a token may depend on later ones: a mask that is not causal, an edit,
        rotary frequencies that depend on the length, the label of a whole text, an image or a sound, scores whose
        attention input is not recorded.
        """
        config, length = model.config, len(request.text.ids)
        can_continue = (
            self.model() is model
            and replace(self.request, text=request.text) == request
            and not looks_ahead(config, request.edits)
            and not request.live
            and not (task_of(config).whole_text and request.wants_logits)
            and config.reads_text
            and all(f"{path}.input" in self.trace.values for path in self._attentions_to_recompute())
            and encodes_alike(model, len(self.trace.text.ids), length)
        )
        return common_prefix_length(self.trace.text.ids, request.text.ids[:-1]) if can_continue else 0

    def extended_trace(
        self, model: Transformer, request: RunRequest, new: Mapping[str, np.ndarray], start: int
    ) -> Trace:
        """The trace of the whole text: this trace's first `start` tokens, and the new values of the later tokens."""
        recomputed = self._paths_with_later_keys()
        values, extended = dict(self.trace.values), dict[tuple[int, int], np.ndarray]()
        for path in new.keys() & values.keys():
            pair = id(values[path]), id(new[path])  # may belong to several paths: layers share a mask
            if pair not in extended:
                extended[pair] = _extended(path, values[path], new[path], start)
            values[path] = extended[pair]
        trace = request.trace(model, values)
        for attention in dict.fromkeys(map(_attention_of, recomputed)):
            rows = recompute_attention(model, trace, attention).compute(slice(0, start))
            for name in _WITH_LATER_KEYS:
                if (path := attention + name) in recomputed:
                    values[path] = np.concatenate((to_numpy(rows[name[1:]]), new[path]), axis=1)
        return request.trace(model, values) if recomputed else trace

    def _attentions_to_recompute(self) -> set[str]:
        """The attentions of the values with later keys, and the attentions whose keys they read."""
        own = {_attention_of(path) for path in self._paths_with_later_keys()}
        return own | {self.trace.config.key_value_path(path) for path in own}

    def _paths_with_later_keys(self) -> list[str]:
        """The paths of recorded values that have numbers for keys after each query."""
        stack = self.trace.config.stacks[-1]
        paths = (path for path in self.trace.values if path.endswith(_WITH_LATER_KEYS))
        return [path for path in paths if path.startswith(f"{stack}.") and ".self." in path]


@torch.inference_mode()
def continue_run(previous: FinishedRun | None, model: Transformer, request: RunRequest) -> FinishedRun:
    """The result of `run` for a request, without rereading the beginning that a previous run has read."""
    start = previous.shared_length(model, request) if previous else 0
    if previous is None or start == 0:
        cache = None if looks_ahead(model.config, request.edits) else KVCache()
        trace, memory = request.run(model, cache)
    else:
        cache = KVCache(start, truncate_key_values(previous.key_values, start))
        record = RecordingHook(InterventionHook(request.edits, start, len(request.text.ids)), request.keep)
        memory = request.read(model, record, cache, previous.memory)
        trace = previous.extended_trace(model, request, record.arrays(), start)
    return FinishedRun(request, trace, ref(model), cache.key_values if cache else {}, memory)


def looks_ahead(config: Config, edits: Sequence[Intervention]) -> bool:
    """Whether a token's values may depend on later tokens, so that its keys and values are valid for one text only."""
    return not is_causal(config.masks) or not all(edit.row_local for edit in edits)


def encodes_alike(model: Transformer, length: int, other_length: int) -> bool:
    """Whether the predicting stack encodes positions in the same way for texts of these two lengths."""
    return model.stack(model.config.stacks[-1]).same_for_lengths(length, other_length)


def _extended(path: str, earlier: np.ndarray, new: np.ndarray, start: int) -> np.ndarray:
    """A value of the whole text: the rows of the first `start` tokens from an earlier run, then the new rows."""
    token_axis, has_own_keys = _token_axis(path)
    if token_axis is None:
        return new
    repeats = token_axis > 0 and new.strides[0] == earlier.strides[0] == 0  # one mask for all heads
    first, last = (value[:1] if repeats else value for value in (earlier, new))
    rows = (slice(None),) * token_axis
    shape = (*last.shape[:token_axis], start + last.shape[token_axis], *last.shape[token_axis + 1 :])
    whole = np.zeros(shape, last.dtype)  # mask and weights are 0 at keys after the query
    known = first[(*rows, slice(start))]
    known = known[..., :start] if has_own_keys else known
    whole[tuple(slice(size) for size in known.shape)] = known
    whole[(*rows, slice(start, None))] = last
    return np.broadcast_to(whole, (new.shape[0], *shape[1:])) if repeats else whole


@lru_cache(maxsize=4_096)  # called for every path at each letter
def _token_axis(path: str) -> tuple[int | None, bool]:
    """The axis that counts the text's tokens, None if there is none, and whether the last axis counts them as keys."""
    hook_point = hook_point_of(path)
    axis = next((axis - 1 for axis in token_axes(hook_point)), None)
    is_of_source = axis is not None and is_source_axis(path, hook_point, hook_point.axes[axis])
    return None if is_of_source else axis, hook_point.axes[-1] == "key" and ".self." in path


def _attention_of(path: str) -> str:
    return path.rpartition(".")[0]


def _bytes_of(array: np.ndarray) -> int:
    sizes: list[int] = [size for size, stride in zip(array.shape, array.strides, strict=True) if stride]
    return array.itemsize * prod(sizes)
