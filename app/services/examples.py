"""Sentences to begin with, chosen so that there is something to see in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import monotonic

from app.services.traces import loaded, place
from model.checkpoints import Entry, Loaded
from model.config import Config
from model.errors import HeadlightError
from model.generation.generate import Past, Writer
from model.generation.sampling import Rule


@dataclass(frozen=True)
class Example:
    """A sentence to click, and one line on what to look at; `source` is what an encoder-decoder's encoder reads.

    `sort` names what the heads are sorted by meanwhile, where that brings to the front what the line speaks of.
    """

    text: str
    source: str = ""
    look: str = ""
    sort: str = "layer"


NEXT = (
    Example(
        "Once upon a time there was a little",
        look="Heads that look one token back draw a stripe beside the diagonal; order them by “Previous token”.",
        sort="previous",
    ),
    Example(
        "Tom gave the ball to Anna because she asked",
        look="A pronoun: point at “she” and see which heads lead back to Anna, and which to Tom.",
    ),
    Example(
        "The birds in the tall tree",
        look="Subject and verb: “tree” stands nearest, yet “were” comes before “was”. Which heads look at “birds”?",
    ),
    Example(
        "Anna and Ben had a red ball. One day Anna and",
        look="Induction: at the second “and” the first of these heads look at Ben, who followed the first one.",
        sort="repeated",
    ),
    Example(
        '"I want to go home',
        look="Quotes that close: the first guess ends what was said. Which heads look at the mark that opened it?",
    ),
)
MASKED = (
    Example(
        "The cat sat on the [MASK].",
        look="Both sides count: the guess must fit what stands before it, and the full stop.",
    ),
    Example(
        "She cut the bread with a [MASK].",
        look="Point at [MASK]: which heads look at “cut”, which at “bread”? Mask those words, too.",
    ),
    Example(
        "The boy was tired, so [MASK] went to bed.",
        look="A pronoun to fill in: change “boy” to “girl” and see which heads carry it here.",
    ),
    Example("The dogs [MASK] very hungry.", look="Subject and verb: make it one dog, and “were” gives way to “was”."),
    Example(
        "She [MASK] the bread with a knife.",
        look="The same from the other end: what comes after decides, and only a model that looks ahead can know.",
    ),
)
TRANSLATED = (
    Example("", "The house is small."),
    Example("", "I read the letter again this morning."),
    Example("", "Where do the birds go in winter?"),
)


def examples(config: Config) -> tuple[Example, ...]:
    """What suits a model; the first one is on the page when nobody has typed yet. Pictures need no sentence."""
    if config.picture.channels:
        return (Example(""),)
    if config.has_cross:
        return TRANSLATED
    return MASKED if config.top == "masked-language" else NEXT


# """The sentences that a page begins with, as suits the very model that is open."""

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
