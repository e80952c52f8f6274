"""Examples: a text or a drawing, and the answer that a model is to give."""

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
Span = tuple[int, int]  # characters, from the first to the one after the last


@dataclass(frozen=True)
class Link:
    """Characters of an answer, and what they are made from: characters of the text, or a box of a drawing in pixels."""

    answer: Span
    text: Span = (0, 0)
    box: Box | None = None


@dataclass(frozen=True)
class Example:
    """A text or a drawing, and the answer; `links` say what each part of the answer is made from."""

    text: str
    answer: str
    links: tuple[Link, ...] = ()
    drawing: Drawing | None = None


@runtime_checkable
class ExampleTask(Protocol):
    """A task that a model learns from examples; some are held out to measure on."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """A sentence on its examples, for a model's card."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a classifier; none where the answer is a text."""
        ...

    def make_tokenizer(self) -> Tokenizer:
        """The tokenizer of texts and answers, always the same."""
        ...

    def training_examples(self, seed: int, count: int) -> list[Example]:
        """About `count` examples to train on, the same ones from the same seed; none is held out."""
        ...

    def validation_examples(self, count: int) -> list[Example]:
        """At most `count` examples by which a run chooses its best weights, always the same; none is trained on."""
        ...

    def held_out_examples(self, seed: int, count: int) -> list[Example]:
        """At most `count` examples to measure on, which training never sees."""
        ...


def is_held_out(key: str) -> bool:
    """Whether examples with this key are held out; nothing but the key decides."""
    return zlib.crc32(key.encode()) % HELD_OUT_FRACTION == 0


def answer_of(example: Example) -> str:
    """The answer, which decides in most tasks whether an example is held out."""
    return example.answer


@dataclass(frozen=True)
class GeneratedTask:
    """A task whose examples are drawn at random, the same ones from the same seed.

    `draw` makes an example, `make_tokenizer` the tokenizer of texts and answers, which is always the same. `labels` are
    those of a classifier. Examples of one `split_key` are all held out, or none is.
    """

    name: str
    draw: Callable[[Random], Example]
    make_tokenizer: Callable[[], Tokenizer]
    labels: tuple[str, ...] = ()
    split_key: Callable[[Example], str] = answer_of

    @property
    def about(self) -> str:
        """How many examples there are: as many as are asked for."""
        return f"New examples of the task {self.name} in every step; one answer in ten is held out."

    def open(self) -> ExampleTask:
        """The task itself, which reads no files."""
        return self

    def training_examples(self, seed: int, count: int) -> list[Example]:
        """Examples to train on; none of them is held out."""
        return self._draw_examples(Random(seed), count, held_out=False)

    def validation_examples(self, count: int) -> list[Example]:
        """Examples that are held out; others are measured on."""
        return self.held_out_examples(VALIDATION_SEED, count)

    def held_out_examples(self, seed: int, count: int) -> list[Example]:
        """Examples to measure on; training sees none of the same key."""
        return self._draw_examples(Random(seed), count, held_out=True)

    def _draw_examples(self, random: Random, count: int, *, held_out: bool) -> list[Example]:
        examples: list[Example] = []
        while len(examples) < count:
            example = self.draw(random)
            if is_held_out(self.split_key(example)) is held_out:
                examples.append(example)
        return examples


def joined_spans(words: Sequence[str], start: int = 0) -> list[Span]:
    """The characters of each word, where single spaces join them from `start` on."""
    spans = []
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return spans
