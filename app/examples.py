"""Sentences to begin with, chosen so that there is something to see in them."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import Config


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
