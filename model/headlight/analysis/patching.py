"""Activation patching: the share of another run's answer that is restored by patching in one of its values.

A patch of the residual at one token and layer shows where the difference between the two texts is stored (causal
tracing, Meng et al. 2022, section 2); a patch of one head's output shows which heads carry it. If all later heads are
frozen as in this run, only the direct effect of a head on the answer counts (path patching, Wang et al. 2023, section
3.1). All are measured as the share of the logit difference that is restored (Zhang and Nanda 2024, section 2): 0 as in
this run, 1 as in the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.ablation import KEEP as ABLATION_KEEP
from headlight.analysis.ablation import (
    HoldingHook,
    WholeValueHook,
    final_from_layer,
    heads_per_batch,
    logits_of_final,
    require_prediction,
)
from headlight.analysis.residual_stream import require_attention_alone
from headlight.array_types import Float
from headlight.attention_groups import attention_groups
from headlight.cancellation import check_cancelled
from headlight.errors import TextError, shortened
from headlight.nn.hooks import Hook, HookAfter
from headlight.nn.transformer import Transformer, attention_at
from headlight.tracing.recompute import intervention_hook, logits_at, traced_tensor
from headlight.tracing.trace import Trace, position_index
from headlight.tracing.transformer_lens import native_path

KEEP = (*ABLATION_KEEP, "*.weighted_values")  # of both runs
RECEIVING_PARTS = ("q", "k", "v")  # of a head: the inputs through which an earlier head can act on it
_RECEIVER = re.compile(r"(encoder|decoder)\.(\d{1,6})\.self\.([qkv])\[\s*(\d{1,6})\s*(?:,\s*:\s*)?\]")
SMALLEST_DIFFERENCE = 1e-3  # between the runs' logit differences; shares of less would be rounding errors


@dataclass(frozen=True)
class PatchingMap:
    """The share of the logit difference that each patch restores: 0 as in this run, 1 as in the other.

    `residual` patches one token of a layer's input, `heads` one head's weighted values, at all tokens; `direct_heads`
    does the same while all later heads of the stack are frozen as in this run (NaN for a model with layers of linear
    attention, which carry a patch on as well). `answer` and `other_answer` are the
    predictions of this run and the other at `position`. The logit of `other_answer` minus the logit of `answer` is
    `before` in this run and `after` in the other.
    """

    residual: Float[np.ndarray, "layer pos"]
    heads: Float[np.ndarray, "layer head"]
    direct_heads: Float[np.ndarray, "layer head"]
    position: int
    answer: int
    other_answer: int
    before: float
    after: float


class _Recording(WholeValueHook):
    """A hook that calls another, then records the value at one of `paths`, for the whole batch."""

    value: Tensor | None = None

    def __call__(self, path: str, value: Tensor) -> Tensor:
        value = self.hook(path, value)
        if path in self.paths:
            self.value = value
        return value


class _PatchEachHead(WholeValueHook):
    """A hook that calls another, then patches one head's output from the other run into each row, each its own."""

    def __init__(self, hook: Hook, path: str, donor: Float[Tensor, "head pos head_dim"], first: int) -> None:
        super().__init__(hook, (path,))
        self.donor, self.first = donor, first

    def __call__(self, path: str, value: Tensor) -> Tensor:
        value = self.hook(path, value)
        if path not in self.paths:
            return value
        value = value.clone()
        rows = torch.arange(len(value), device=value.device)
        value[rows, self.first + rows] = self.donor[self.first + rows].to(value)
        return value


@torch.inference_mode()
def patching_map(
    model: Transformer,
    trace: Trace,
    other: Trace,
    position: int = -1,
    answers: tuple[int, int] | None = None,
    stack: str | None = None,
) -> PatchingMap:
    """The share of the other run's answer that each patch restores, in a stack (by default the one that predicts).

    Both traces come from the same model, have equally many tokens, and hold KEEP. `answers` are the answers of this run
    and the other, by default the likeliest of each at `position`. The edits of `trace` apply again to patched values.
    Raises ConfigError for a model that predicts nothing, TextError for texts or answers that cannot be compared.
    """
    runs = PatchedRuns.of(model, trace, other, position, answers, stack)
    residual, heads = (runs.whole_map(kind) for kind in ("residual", "heads"))
    direct = np.full_like(heads, np.nan) if model.config.has_recurrence else runs.whole_map("direct_heads")
    return PatchingMap(residual, heads, direct, runs.position, *runs.answers, runs.before, runs.after)


@dataclass(frozen=True)
class Receiver:
    """The queries, keys or values of a head, written `decoder.4.self.q[3]`.

    The number is that of the head for queries, and that of the key/value head, which heads may share, for the others.
    """

    stack: str
    layer: int
    part: str
    head: int

    @classmethod
    def of(cls, model: Transformer, text: str) -> Receiver:
        """From its text form, or TransformerLens' (`blocks.4.attn.hook_q[:,3]`).

        Raises TextError for anything but the query, key or value of one head of the model.
        """
        found, config = _RECEIVER.fullmatch(native_path(model.config, text)), model.config
        if found is None or found[1] not in config.stacks or not 0 < int(found[2]) < config.num_layers(found[1]):
            raise TextError(
                f"{shortened(text)!r} receives nothing from earlier heads. Name the queries, keys or values of one "
                f"head from layer 1 on, such as {config.stacks[-1]}.1.self.q[0]."
            )
        receiver = cls(found[1], int(found[2]), found[3], int(found[4]))
        attention, _ = attention_at(model, f"{receiver.stack}.{receiver.layer}.self")
        heads = attention.heads if receiver.part == "q" else attention.key_value_heads
        if receiver.head >= heads:
            raise TextError(f"{receiver.path} has the heads 0 to {heads - 1}, and no head {receiver.head}.")
        return receiver

    @classmethod
    def of_head(cls, model: Transformer, stack: str, layer: int, part: str, head: int) -> Receiver:
        """One of RECEIVING_PARTS of a head, counted as queries are; heads may share keys and values. Raises as `of`."""
        attention, _ = attention_at(model, f"{stack}.{layer}.self")
        return cls.of(model, f"{stack}.{layer}.self.{part}[{head if part == 'q' else head // attention.group_size}]")

    @property
    def path(self) -> str:
        """The path of the value in a trace."""
        return f"{self.stack}.{self.layer}.self.{self.part}"

    def __str__(self) -> str:
        return f"{self.path}[{self.head}]"


@torch.inference_mode()
def path_patching(
    model: Transformer,
    trace: Trace,
    other: Trace,
    receiver: str,
    position: int = -1,
    answers: tuple[int, int] | None = None,
) -> Float[np.ndarray, "layer head"]:
    """The share of the other run's answer that each earlier head restores by its direct effect on one later head.

    The head's output of the other run reaches the `receiver`, such as `decoder.4.self.q[3]`, while all heads in between
    are frozen as in this run; then this run is computed with only that query, key or value patched in. The other
    arguments and the errors are as in `patching_map`; the traces hold the receiver's value besides KEEP.
    """
    into = Receiver.of(model, receiver)
    return PatchedRuns.of(model, trace, other, position, answers, into.stack).whole_map(into)


def _require_equal_lengths(trace: Trace, other: Trace, stack: str) -> None:
    here, there = (len(each.text_of_stack(stack).ids) for each in (trace, other))
    if here != there:
        raise TextError(
            f"The texts have {here} and {there} tokens; a patch replaces a token by the token at the same position of "
            "the other text, so both need equally many. Exchange words of one token each."
        )


@dataclass(frozen=True)
class PatchedRuns:
    """Two runs whose answers differ at a position, and runs of one with values of the other, in batches.

    See `PatchingMap` for `answers`, `before` and `after`.
    """

    model: Transformer
    trace: Trace
    other: Trace
    stack: str
    position: int
    answers: tuple[int, int]
    before: float
    after: float

    @classmethod
    def of(
        cls,
        model: Transformer,
        trace: Trace,
        other: Trace,
        position: int = -1,
        answers: tuple[int, int] | None = None,
        stack: str | None = None,
    ) -> PatchedRuns:
        """From two traces, with the arguments and the errors of `patching_map`."""
        require_prediction(model)
        name = stack or model.config.stacks[-1]
        _require_equal_lengths(trace, other, name)
        place = position_index(position, len(trace.text.ids))
        logits, other_logits = logits_at(model, trace, place), logits_at(model, other, place)
        pair = answers or (int(logits.argmax()), int(other_logits.argmax()))
        before, after = (float(each[pair[1]] - each[pair[0]]) for each in (logits, other_logits))
        if pair[0] == pair[1] or abs(after - before) < SMALLEST_DIFFERENCE:
            raise TextError(
                "Both texts give the same answer here, so there is no difference to restore. Change the other text, or "
                "name two answers."
            )
        return cls(model, trace, other, name, place, pair, before, after)

    def whole_map(self, kind: str | Receiver) -> Float[np.ndarray, "layer patch"]:
        """The share that each patch restores, in every layer."""
        return np.stack([np.concatenate([*self.shares(kind, layer)]) for layer in range(self.layers(kind))])

    def layers(self, kind: str | Receiver) -> int:
        """The number of layers with such patches: for a receiver, the layers before its own."""
        return kind.layer if isinstance(kind, Receiver) else self.model.config.num_layers(self.stack)

    def shares(self, kind: str | Receiver, layer: int, first: int = 0) -> Iterator[Float[np.ndarray, " patch"]]:
        """The share that each patch restores in a layer, from patch `first` on, batch after batch.

        `kind` is one of PATCHES, or the receiver through which patched heads act on the answer.
        """
        if isinstance(kind, Receiver):
            found = self.differences_into(kind, layer, first)
        else:
            found = PATCHES[kind](self, layer, first)
        for differences in found:
            check_cancelled()
            yield (differences - self.before) / (self.after - self.before)

    def patch_residual(self, layer: int, first: int) -> Iterator[Float[np.ndarray, " pos"]]:
        """Logit differences with each token of a layer's input from the other run."""
        path = f"{self.stack}.{layer}.residual"
        here, there = (traced_tensor(self.model, each, path) for each in (self.trace, self.other))
        for places in self._batches(here, first):
            residual = here.repeat(len(places), 1, 1)
            rows = torch.arange(len(places), device=places.device)
            residual[rows, places] = there[places]
            yield self._differences(layer, residual, HookAfter(intervention_hook(self.trace), path))

    def patch_heads(self, layer: int, first: int, direct: bool = False) -> Iterator[Float[np.ndarray, " head"]]:
        """Logit differences with each head's weighted values from the other run; `direct` freezes all later heads."""
        for residual, hook in self._with_each_head(layer, first, direct):
            yield self._differences(layer, residual, hook)

    def _with_each_head(self, layer: int, first: int, direct: bool) -> Iterator[tuple[Tensor, _PatchEachHead]]:
        entry, path = f"{self.stack}.{layer}.residual", f"{self.stack}.{layer}.self.weighted_values"
        donor = traced_tensor(self.model, self.other, path)
        if direct:
            require_attention_alone(self.model.config, "patching of a direct path")
        held = {each: traced_tensor(self.model, self.trace, each) for each in self._heads_after(layer) if direct}
        for heads in self._batches(donor, first):
            residual = traced_tensor(self.model, self.trace, entry).repeat(len(heads), 1, 1)
            hook = HoldingHook(HookAfter(intervention_hook(self.trace), entry), held)
            yield residual, _PatchEachHead(hook, path, donor, int(heads[0]))

    def differences_into(self, receiver: Receiver, layer: int, first: int) -> Iterator[Float[np.ndarray, " head"]]:
        """Logit differences with the receiver's value that results from each head of a layer in the other run."""
        entry = f"{self.stack}.{receiver.layer}.residual"
        here = traced_tensor(self.model, self.trace, receiver.path)
        for rows, received in self._received(receiver, layer, first):
            value = here.repeat(rows, 1, 1, 1)
            value[:, receiver.head] = received[:, receiver.head]
            residual = traced_tensor(self.model, self.trace, entry).repeat(rows, 1, 1)
            edits = HookAfter(intervention_hook(self.trace), entry)
            yield self._differences(receiver.layer, residual, HoldingHook(edits, {receiver.path: value}))

    def _received(
        self, receiver: Receiver, layer: int, first: int
    ) -> Iterator[tuple[int, Float[Tensor, "row head pos head_dim"]]]:
        """The receiver's value with each head of a layer from the other run and all heads in between frozen."""
        for residual, hook in self._with_each_head(layer, first, direct=True):
            recording = _Recording(hook, (receiver.path,))
            final_from_layer(self.model, self.trace, self.stack, layer, residual, recording)
            assert recording.value is not None
            yield len(residual), recording.value

    def _heads_after(self, layer: int) -> Iterator[str]:
        """The paths of the weighted values of all heads that can read the output of a layer's heads."""
        for group in attention_groups(self.model.config):
            if group.stack == self.stack:
                first = layer if group.kind == "cross" else layer + 1
                yield from (f"{group.path(later)}.weighted_values" for later in range(first, group.layers))

    def _batches(self, value: Tensor, start: int) -> Iterator[Tensor]:
        """The indices along a value's first axis from `start` on, one batch at a time."""
        size = heads_per_batch(self.trace)
        for first in range(start, len(value), size):
            yield torch.arange(first, min(first + size, len(value)), device=value.device)

    @torch.inference_mode()
    def _differences(self, layer: int, residual: Tensor, hook: Hook) -> np.ndarray:
        final = final_from_layer(self.model, self.trace, self.stack, layer, residual, hook)
        logits = logits_of_final(self.model, self.trace, final, self.position)
        found: np.ndarray = (logits[:, self.answers[1]] - logits[:, self.answers[0]]).float().cpu().numpy()
        return found


# The kinds of patches, by the names of the fields of a PatchingMap.
PATCHES: Mapping[str, Callable[[PatchedRuns, int, int], Iterator[np.ndarray]]] = {
    "residual": PatchedRuns.patch_residual,
    "heads": PatchedRuns.patch_heads,
    "direct_heads": partial(PatchedRuns.patch_heads, direct=True),
}
