"""Transcribe: the tokens of a transcript, each with the span of the recording that it was heard in."""

from __future__ import annotations

import numpy as np

from headlight.array_types import Float
from headlight.attention_groups import AttentionGroup
from headlight.sound.frames import EncodedSound
from headlight.views.kinds import NumberTable, SpansView
from headlight.views.rows import row
from headlight.views.words import in_line, numbered
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.inference.resolved_question import ResolvedQuestion
from headlight_app.tasks.answers.shown_weights import (
    NOTHING_WRITTEN,
    READS,
    ShownHeads,
    attention_of_kind,
    combined_weights,
    shown_heads,
)

BEFORE = 0.25  # share of a token's weights before its span, and also after it


def transcribe(resolved: ResolvedQuestion, state: State) -> Views:
    """When each token was heard: the middle half of the weights of the query that wrote it."""
    group, sound = attention_of_kind(resolved.config, "cross"), resolved.trace.source
    if group is None or not isinstance(sound, EncodedSound):
        return ()
    text = resolved.trace.text
    written = [place for place, special in enumerate(text.special_mask) if place and not special]
    if not written:
        return (NOTHING_WRITTEN,)
    shown = combined_weights(resolved, group, listening_heads(group, state), range(sound.read_count))
    frames = (middle_half(shown.values[place - 1]) for place in written)
    spans = [(first * sound.frame_seconds, (last + 1) * sound.frame_seconds) for first, last in frames]
    tokens = tuple(text.token_texts[place] for place in written)
    return (
        row(
            SpansView(
                title=f"When each token was heard: {shown.heads}",
                labels=tuple(map(in_line, tokens)),
                spans=tuple(spans),
                high=sound.read_count * sound.frame_seconds,
                unit="s",
                places=tuple(("text", place - 1) for place in written),
                picks=tuple({"pinned": (place - 1,)} for place in written),
                tables={
                    "When each token was heard": NumberTable(
                        {"token": numbered(tokens), "second": ("from", "to")}, np.array(spans, float).reshape(-1, 2)
                    )
                },
            ),
            text="A quarter of the weight over what was heard lies before each span, and a quarter after it.",
        ),
    )


def listening_heads(group: AttentionGroup, state: State) -> ShownHeads:
    """The alignment heads that the checkpoint lists, else the shown heads."""
    if not group.aligned:
        return shown_heads(group, state)
    count = len(group.aligned)
    title = "the alignment head" if count == 1 else f"the mean of the {count} alignment heads"
    return ShownHeads(list(group.aligned), "mean", title)


def middle_half(weights: Float[np.ndarray, " frame"]) -> tuple[int, int]:
    """The first and the last frame of the middle half of a row of weights."""
    passed = weights.cumsum()
    limits = (share * passed[-1] for share in (BEFORE, 1 - BEFORE))
    first, last = (min(int(np.searchsorted(passed, limit)), len(weights) - 1) for limit in limits)
    return first, last


ANALYSIS = Analysis("Transcribe", reads=READS, compute=transcribe)
