"""Sentences to begin with, chosen so that there is something to see in them."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import Config


@dataclass(frozen=True)
class Example:
    """A sentence to click; `source` is what an encoder-decoder's encoder reads."""

    text: str
    source: str = ""


NEXT = (
    Example("Once upon a time there was a little"),
    Example("Tom gave the ball to Anna because she asked"),
    Example("The dog was hungry, so the girl gave the dog a"),
    Example("Red, blue, red, blue, red,"),
    Example("“I am so tired,” said the"),
)
MASKED = (
    Example("The cat sat on the [MASK]."),
    Example("She opened the door with a [MASK]."),
    Example("The boy lost his shoes and [MASK] was sad."),
    Example("In winter the lake is covered with [MASK]."),
    Example("He drank a [MASK] of cold water."),
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
