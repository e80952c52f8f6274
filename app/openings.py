"""The sentences that a page begins with, as suits the very model that is open."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import monotonic

from app.cached import loaded, place
from app.examples import MASKED, NEXT, Example, examples
from model.checkpoint import Entry, Loaded
from model.dice import Rule
from model.errors import HeadlightError
from model.generation import Past, Writer

LONGEST = 16  # tokens that a model writes for an opening
PATIENCE = 1.0  # seconds; the rest of what a large model would write, nobody waits for


def openings(entry: Entry, device: str = "auto") -> tuple[Example, ...]:
    """Sentences to begin with; the first one is on the page when nobody has typed yet.

    An encoder-decoder begins with what it would write itself; the others as `prompts` says.
    """
    known = prompts(entry, device)
    if not entry.config.has_cross:
        return known
    try:
        found = place(entry.name)
        return tuple(replace(one, text=_written(entry.name, device, one.source, *found)) for one in known)
    except HeadlightError:
        return known


def prompts(entry: Entry, device: str = "auto") -> tuple[Example, ...]:
    """Sentences that a model is to go on with; one that fills masks reads its own word for a mask."""
    known = examples(entry.config)
    if entry.config.has_cross or entry.config.top != "masked-language":
        return known
    try:
        return _masked(loaded(entry.name, device))
    except HeadlightError:
        return known


def _masked(opened: Loaded) -> tuple[Example, ...]:
    """The sentences with the model's own word for a mask; RoBERTa's is <mask>."""
    mask = opened.tokenizer.mask_id
    if mask is None:
        return NEXT
    word = opened.tokenizer.piece(mask).strip()
    return tuple(
        replace(one, **{name: getattr(one, name).replace("[MASK]", word) for name in ("text", "look")})
        for one in MASKED
    )


@lru_cache(maxsize=128)
def _written(name: str, device: str, source: str, folder: Path, stamp: int) -> str:
    """What a model writes for a source, always the likeliest token, as far as it gets while somebody waits."""
    opened = loaded(name, device)
    writer = Writer.begin(
        opened.model, opened.tokenizer, "", source=source, rule=Rule(temperature=0.0), keep=("logits",), asking=True
    )
    until = monotonic() + PATIENCE
    written: tuple[int, ...] = ()
    past: Past | None = None
    while len(written) < LONGEST and monotonic() < until:
        step, past = writer.step(written, past)
        if writer.ended(step) or step.chosen >= opened.tokenizer.size:  # a row of the table without a token
            break
        written = (*written, step.chosen)
    return opened.tokenizer.decode(written) or source  # nothing but marks: then something to look at
