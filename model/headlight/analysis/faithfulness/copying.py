"""Copying: where in a text a generated token may come from, which heads copied it, and each passage's contribution.

A head copies if it attends from the predicting token to an occurrence of the generated token, and the moved value
raises that token's logit (Elhage et al. 2021, "induction heads"); it suppresses if this lowers the logit ("copy
suppression", McDougall et al. 2023). The predicting token is an occurrence like any other. Both are exact, with norms
frozen at their current scale (`attribution`). The logit is divided among the passages by ALTI-Logit, which estimates
what earlier layers moved between tokens. All are measured relative to the mean of all tokens' logits, because a change
of all logits alike changes no probability. This misses tokens that are derived from the text without occurring in it,
and heads that copy through a later layer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from headlight.analysis.attribution import attribute_probes
from headlight.analysis.faithfulness.alti_logit import KEEP as ALTI_KEEP
from headlight.analysis.faithfulness.alti_logit import alti_logit
from headlight.analysis.moved_values import value_outputs
from headlight.analysis.residual_stream import Probe
from headlight.nn.masks import is_causal
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.trace import Trace, position_index

KEEP = ALTI_KEEP
LEAST_LOGIT = 0.05  # that a head must add or subtract to be named
_LINE_ENDS, _SENTENCE_ENDS = re.compile(r"\n+"), re.compile(r"(?<=[.!?])[\"'”’)]*\s+")


@dataclass(frozen=True)
class Passage:
    """A part of a text: its characters from `start` to `stop`, and its tokens from `first` to `end`."""

    start: int
    stop: int
    first: int
    end: int


@dataclass(frozen=True)
class Copy:
    """A head's copy of one occurrence of a token: its weight, and its contribution to the token's logit."""

    path: str
    head: int
    key: int
    weight: float
    logit: float


@dataclass(frozen=True)
class Copying:
    """The sources of a generated token.

    `occurrences` are the positions of the same token that the predicting token may read, `heads` are the heads' copies
    of them that are large enough to be named, largest first. For each passage, `copied` is the sum of all copies from
    its occurrences, and `moved` its total contribution to the token's logit (`alti_logit`); `rest` belongs to no
    passage. No text contains a label, so it has no occurrences, and `moved` and `rest` add up to its logit.
    """

    occurrences: tuple[int, ...]
    heads: tuple[Copy, ...]
    copied: tuple[float, ...]
    moved: tuple[float, ...]
    rest: float

    @property
    def source(self) -> int | None:
        """The passage from which most is copied; None if nothing is copied."""
        best = int(np.argmax(self.copied)) if self.copied else 0
        return best if self.copied and self.copied[best] > 0 else None


def cut_passages(text: Encoded) -> tuple[Passage, ...]:
    """The passages of a text: its lines, or the sentences of a single line. Special tokens belong to none."""
    ends = _LINE_ENDS if _LINE_ENDS.search(text.text.strip()) else _SENTENCE_ENDS
    breaks = [0, *(match.end() for match in ends.finditer(text.text)), len(text.text)]
    ordinary = [place for place, special in enumerate(text.special_mask) if not special]
    passages = []
    for start, stop in pairwise(breaks):
        tokens = [place for place in ordinary if start < text.offsets[place][1] <= stop]
        if tokens and text.text[start:stop].strip():
            passages.append(Passage(start, stop, tokens[0], tokens[-1] + 1))
    return tuple(passages)


@torch.inference_mode()
def trace_copying(
    model: Transformer, trace: Trace, position: int, token: int, passages: Sequence[Passage] = ()
) -> Copying:
    """The sources of a token that is predicted at a position; the trace holds KEEP.

    Raises ConfigError for an encoder-decoder, whose words come from two texts; otherwise raises as `attribute_logits`.
    """
    place, is_label = position_index(position, len(trace.text.ids)), task_of(trace.config).predicts_labels
    found = alti_logit(model, trace, place, token, relative=not is_label)
    moved = tuple(float(found.tokens[passage.first : passage.end].sum()) for passage in passages)
    rest = float(found.tokens.sum()) + found.rest - sum(moved)
    readable = trace.text.ids[: place + 1] if is_causal(trace.config.masks) else trace.text.ids
    occurrences = () if is_label else tuple(key for key, other in enumerate(readable) if other == token)
    copies = _copies(model, trace, place, token, occurrences)
    copied = tuple(
        sum((copy.logit for copy in copies if passage.first <= copy.key < passage.end), 0.0) for passage in passages
    )
    heads = tuple(copy for copy in copies if abs(copy.logit) >= LEAST_LOGIT)
    return Copying(occurrences, heads, copied, moved, rest)


def _copies(model: Transformer, trace: Trace, place: int, token: int, keys: Sequence[int]) -> tuple[Copy, ...]:
    """Every head's copies of some keys at the predicting token, largest first."""
    if not keys:
        return ()
    stack = trace.config.stacks[-1]
    paths = [f"{stack}.{layer}.self" for layer in range(trace.config.num_layers(stack))]
    weights, probes = [], []
    for path in paths:
        every, outputs = value_outputs(model, trace, path)
        weights.append(every[:, place, list(keys)])
        written = weights[-1][..., None] * outputs[:, list(keys)]  # head key d_model
        probes.append(Probe(path, written.flatten(0, 1).double().cpu()))
    attribution = attribute_probes(model, trace, place, probes)
    logits = attribution.relative_logits(token).numpy()[-sum(len(probe.vectors) for probe in probes) :]
    table = logits.reshape(len(paths), -1, len(keys))
    copies = [
        Copy(paths[layer], head, keys[column], float(weights[layer][head, column]), float(table[layer, head, column]))
        for layer, head, column in np.ndindex(table.shape)
    ]
    return tuple(sorted(copies, key=lambda copy: -abs(copy.logit)))
