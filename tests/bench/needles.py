"""Planted needles: does `trace_copying` name the source passage of an answer, and does deleting it prove that?

The answer's word is also in a second passage, where it does not fit, so that finding the word is not enough. Only texts
with a right answer of the model count; the first column says how many those are. `python -m tests.bench needles`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from headlight.analysis.faithfulness.copying import KEEP, cut_passages, trace_copying
from headlight.checkpoints import Checkpoint, find_checkpoint, load
from headlight.tracing.run import run
from headlight.tracing.trace import Trace

TEXTS, PASSAGES = 100, 5
NAMES = ["Anna", "Ben", "Tom", "Lily", "Sam", "Mia", "Max", "Sara"]
COLOURS = ["red", "blue", "green", "yellow", "white", "black", "brown", "pink"]
THINGS = ["ball", "kite", "hat", "cat", "dog", "book", "car", "box", "bird", "cake", "doll", "boat"]
FORMS = (
    ("{name} has a {colour} {thing}.", "{name} has a {colour}"),
    ("{name} loves the {colour} {thing}.", "{name} loves the {colour}"),
    ("{name} said, I want a {colour} {thing}.", "{name} said, I want a {colour}"),
)


@dataclass(frozen=True)
class Needle:
    """Passages, the question after them, the right answer, and the index of the passage with the answer."""

    passages: tuple[str, ...]
    question: str
    answer: str
    place: int

    def without(self, passage: int | None) -> str:
        """The text without one passage, or with all."""
        return "\n".join([*(each for place, each in enumerate(self.passages) if place != passage), self.question])


def repeated_block(draw: Random, words: list[str]) -> Needle:
    """Blocks of five words, then the beginning of one again; its next word is also in another block."""
    drawn = draw.sample(words, 5 * PASSAGES)
    blocks = [drawn[5 * place : 5 * place + 5] for place in range(PASSAGES)]
    (place, decoy), given = draw.sample(range(PASSAGES), 2), draw.randint(1, 4)
    answer = blocks[place][given]
    blocks[decoy][draw.randint(1, 4)] = answer
    return Needle(tuple(map(" ".join, blocks)), " ".join(blocks[place][:given]), answer, place)


def sentence(draw: Random, form: str, question: str) -> Needle:
    """Sentences of one form with different words, then the beginning of one again; its thing is also in another
    sentence.
    """
    columns = zip(*(draw.sample(some, PASSAGES) for some in (NAMES, COLOURS, THINGS)), strict=True)
    rows = [dict(zip(("name", "colour", "thing"), row, strict=True)) for row in columns]
    place, decoy = draw.sample(range(PASSAGES), 2)
    rows[decoy]["thing"] = rows[place]["thing"]
    return Needle(
        tuple(form.format(**row) for row in rows), question.format(**rows[place]), rows[place]["thing"], place
    )


def lines() -> Iterator[str]:
    """The table, a row for each model and form."""
    yield f"| model | needle, of {PASSAGES} passages | right | named | deleting it flips | another one flips |"
    yield "|---|---|---:|---:|---:|---:|"
    induction = load(find_checkpoint("induction"))
    texts = map(induction.tokenizer.token_text, range(induction.tokenizer.vocabulary_size))
    words = [text.strip() for text in texts if text.strip().isalpha()]
    draw = Random(0)
    yield _row("induction", "a repeated block", induction, [repeated_block(draw, words) for _ in range(TEXTS)])
    stories = load(find_checkpoint("stories-causal"))
    for form, question in FORMS:
        yield _row("stories-causal", form, stories, [sentence(draw, form, question) for _ in range(TEXTS)])


def _row(name: str, form: str, opened: Checkpoint, needles: list[Needle]) -> str:
    draw, found = Random(1), []
    for needle in needles:
        trace, token = _answer(opened, needle.without(None))
        if opened.tokenizer.token_text(token).strip() == needle.answer:
            found.append(_tested(opened, needle, trace, token, draw))
    shares = [f"{sum(column)} ({sum(column) / len(found):.0%})" for column in zip(*found, strict=True)]
    return f"| `{name}` | {form} | {len(found)} of {len(needles)} | {' | '.join(shares or ['-'] * 3)} |"


def _tested(opened: Checkpoint, needle: Needle, trace: Trace, token: int, draw: Random) -> tuple[bool, bool, bool]:
    """Whether the passage is named, and whether the answer flips without it, and without another passage."""
    passages = cut_passages(trace.text)[:PASSAGES]
    copying = trace_copying(opened.model, trace, -1, token, passages)
    other = draw.choice([place for place in range(PASSAGES) if place != needle.place])
    flips = [_answer(opened, needle.without(passage))[1] != token for passage in (needle.place, other)]
    return copying.source == needle.place, flips[0], flips[1]


def _answer(opened: Checkpoint, text: str) -> tuple[Trace, int]:
    trace = run(opened.model, opened.tokenizer, text, keep=KEEP)
    assert trace.logits is not None
    return trace, int(np.argmax(trace.logits[-1]))
