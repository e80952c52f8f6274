"""Continuation: a request whose text begins like that of an earlier run, so that only the tokens after it are read.

In a causal model the beginning of a text has the same values whatever follows it: its keys and values are cached, and
its rows of the trace are used again. A letter typed at the end of a text then costs only its own tokens. If a token may
depend on later ones, the whole text is read (`shared_length`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from weakref import ReferenceType

import numpy as np
from torch import Tensor

from headlight.config import Config
from headlight.nn.attention import KeyValues, KVCache, common_prefix_length, truncate_key_values
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS
from headlight.nn.masks import is_causal
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.tracing.interventions import Intervention, InterventionHook
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


@dataclass(frozen=True, eq=False)
class Continuation:
    """A request, and the earlier run that has read the first `start` tokens of its text; None and 0 without one."""

    request: RunRequest
    previous: FinishedRun | None
    start: int

    @classmethod
    def of(cls, model: Transformer, request: RunRequest, previous: FinishedRun | None) -> Continuation:
        """The continuation of an earlier run, if its text begins alike and the values of its tokens stay valid."""
        start = shared_length(model, request, previous) if previous else 0
        return cls(request, previous if start else None, start)

    @property
    def length(self) -> int:
        """The number of tokens of the whole text."""
        return len(self.request.text.ids)

    @property
    def new_length(self) -> int:
        """The number of tokens that are read."""
        return self.length - self.start

    def edits(self) -> InterventionHook:
        """A hook that applies the request's edits to the new tokens."""
        start, total = (self.start, self.length) if self.previous else (None, None)
        return InterventionHook(self.request.edits, start, total, self.request.live)

    def cache(self) -> KVCache:
        """The keys and values of the tokens that the earlier run has read."""
        return KVCache(self.start, truncate_key_values(self.previous.key_values, self.start) if self.previous else {})


@dataclass(frozen=True, eq=False)
class NewValues:
    """What a forward pass gives for a text: the recorded values of the new tokens, by path, and all keys and values.

    `memory` is the encoder's output; `live_paths` are the paths whose values live edits changed.
    """

    values: Mapping[str, np.ndarray]
    key_values: KeyValues
    memory: Tensor | None = None
    live_paths: frozenset[str] = frozenset()


def shared_length(model: Transformer, request: RunRequest, previous: FinishedRun) -> int:
    """The number of tokens at the beginning of a text that a previous run has read: at most all but the last.

    0 if anything but the text differs, or the segments of a pair, or if values may change with later tokens: a mask
    that is not causal, a live edit or one whose result depends on other tokens, rotary frequencies that depend on the
    length, the label of a whole text. 0 as well for a text that is an image or a sound, and for scores whose attention
    input is not recorded.
    """
    config, read = model.config, previous.trace
    can_continue = (
        previous.model() is model
        and replace(previous.request, text=request.text) == request
        and not looks_ahead(config, request.edits)
        and not request.live
        and not (task_of(config).whole_text and request.wants_logits)
        and config.reads_text
        and all(f"{path}.input" in read.values for path in _attentions_to_recompute(read))
        and encodes_alike(model, len(read.text.ids), len(request.text.ids))
    )
    same_segments = read.text.segment_ids == request.text.segment_ids
    return common_prefix_length(read.text.ids, request.text.ids[:-1]) if can_continue and same_segments else 0


def looks_ahead(config: Config, edits: Sequence[Intervention]) -> bool:
    """Whether a token's values may depend on later tokens, so that its keys and values are valid for one text only."""
    return not is_causal(config.masks) or not all(edit.row_local for edit in edits)


def encodes_alike(model: Transformer, length: int, other_length: int) -> bool:
    """Whether the predicting stack encodes positions in the same way for texts of these two lengths."""
    return model.stack(model.config.stacks[-1]).same_for_lengths(length, other_length)


def paths_with_later_keys(trace: Trace) -> list[str]:
    """The paths of recorded values that have numbers for keys after each query."""
    stack = trace.config.stacks[-1]
    paths = (path for path in trace.values if path.endswith(_WITH_LATER_KEYS))
    return [path for path in paths if path.startswith(f"{stack}.") and ".self." in path]


def _attentions_to_recompute(trace: Trace) -> set[str]:
    """The attentions of the values with later keys, and the attentions whose keys they read."""
    own = {path.rpartition(".")[0] for path in paths_with_later_keys(trace)}
    return own | {trace.config.key_value_path(path) for path in own}


def _bytes_of(array: np.ndarray) -> int:
    sizes: list[int] = [size for size, stride in zip(array.shape, array.strides, strict=True) if stride]
    return array.itemsize * prod(sizes)
