"""Examples: a text or a drawing, with the right answer."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol, runtime_checkable

from headlight.text.tokenizer import Tokenizer
from headlight.vision.image import Box, Drawing

VALIDATION_SEED = 1
HELD_OUT_FRACTION = 10  # one key in ten is held out
Span = tuple[int, int]  # index of the first character, and of the one after the last


@dataclass(frozen=True)
class Link:
    """Characters of an answer, and their source: characters of the text, or a box of a drawing in pixels."""

    answer: Span
    text: Span = (0, 0)
    box: Box | None = None


@dataclass(frozen=True)
class Example:
    """A text or a drawing, and the answer; `links` connect each part of the answer to its source."""

    text: str
    answer: str
    links: tuple[Link, ...] = ()
    drawing: Drawing | None = None


@runtime_checkable
class ExampleTask(Protocol):
    """A task that a model learns from examples; some examples are held out for measurements."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """A sentence about the examples, for a model's card."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a classifier; empty if the answer is a text."""
        ...

    def make_tokenizer(self) -> Tokenizer:
        """The tokenizer of texts and answers; deterministic."""
        ...

    def training_examples(self, seed: int, count: int) -> list[Example]:
        """About `count` examples to train on, determined by the seed; none is held out."""
        ...

    def validation_examples(self, count: int) -> list[Example]:
        """At most `count` examples for choosing a run's best weights, always the same and never trained on."""
        ...

    def held_out_examples(self, seed: int, count: int) -> list[Example]:
        """At most `count` examples for measurements, which training never sees."""
        ...


def is_held_out(key: str) -> bool:
    """Whether examples with this key are held out, which depends only on the key."""
    return zlib.crc32(key.encode()) % HELD_OUT_FRACTION == 0


def answer_of(example: Example) -> str:
    """The answer: in most tasks the key that decides whether an example is held out."""
    return example.answer


@dataclass(frozen=True)
class GeneratedTask:
    """A task whose examples are generated randomly; the seed determines them.

    `draw` makes an example, `make_tokenizer` the tokenizer of texts and answers, which is deterministic. `labels` are
    the labels of a classifier. Of the examples with one `split_key`, either all or none are held out.
    """

    name: str
    draw: Callable[[Random], Example]
    make_tokenizer: Callable[[], Tokenizer]
    labels: tuple[str, ...] = ()
    split_key: Callable[[Example], str] = answer_of

    @property
    def about(self) -> str:
        """A sentence on the number of examples, which is unlimited."""
        return f"New examples of the task {self.name} in every step; one answer in ten is held out."

    def open(self) -> ExampleTask:
        """The task itself, which reads no files."""
        return self

    def training_examples(self, seed: int, count: int) -> list[Example]:
        """Examples to train on; none of them is held out."""
        return self._draw_examples(Random(seed), count, held_out=False)

    def validation_examples(self, count: int) -> list[Example]:
        """Held-out examples, other than those for measurements."""
        return self.held_out_examples(VALIDATION_SEED, count)

    def held_out_examples(self, seed: int, count: int) -> list[Example]:
        """Examples for measurements; training sees no example with the same key."""
        return self._draw_examples(Random(seed), count, held_out=True)

    def _draw_examples(self, random: Random, count: int, *, held_out: bool) -> list[Example]:
        examples: list[Example] = []
        while len(examples) < count:
            example = self.draw(random)
            if is_held_out(self.split_key(example)) is held_out:
                examples.append(example)
        return examples


def joined_spans(words: Sequence[str], start: int = 0) -> list[Span]:
    """The span of each word when single spaces join them; the first starts at `start`."""
    spans = []
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return spans
