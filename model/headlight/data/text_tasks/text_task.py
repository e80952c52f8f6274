"""A task whose examples are read from files, one text in ten held out."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np

from headlight.array_types import Int
from headlight.data.corpus import expand_path, require_files
from headlight.data.examples import VALIDATION_SEED, Example
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer

PARTS = ("training", "validation", "held_out")
LENGTH_SPREAD = 4  # characters by which the texts of a batch may differ though there are others of the same length


@dataclass(frozen=True)
class TextTask:
    """A task on texts: the files, and how to read the examples of one and train a tokenizer on examples.

    `labels` are those of a classifier.
    """

    name: str
    files: tuple[str, ...]
    read: Callable[[Path], Iterator[Example]]
    train_tokenizer: Callable[[Sequence[Example]], Tokenizer]
    labels: tuple[str, ...] = ()

    def open(self) -> TextExamples:
        """The examples. Raises DataError where a file is missing or holds none."""
        paths = [expand_path(file) for file in self.files]
        require_files(paths)
        parts: dict[str, list[Example]] = {part: [] for part in PARTS}
        for path in paths:
            for example in self.read(path):
                parts[part_of(example.text)].append(example)
        if not all(parts.values()):
            raise DataError(f"There are too few examples of {self.name} in {', '.join(map(str, paths))}.")
        return TextExamples(self, *(tuple(parts[part]) for part in PARTS))


def split_key(text: str) -> str:
    """What decides to which part a text belongs: its words, so that one that differs in nothing else goes with it."""
    return " ".join(re.findall(r"\w+", text.lower()))


def part_of(text: str) -> str:
    """Which of the PARTS a text belongs to: one in ten is held out, one in twenty validates."""
    number = zlib.crc32(split_key(text).encode()) % 20
    return "held_out" if number % 10 == 0 else "validation" if number == 1 else "training"


@dataclass(frozen=True)
class TextExamples:
    """The examples of a task on texts: to train on, to choose the best weights by, and to measure on."""

    task: TextTask
    training: tuple[Example, ...]
    validation: tuple[Example, ...]
    held_out: tuple[Example, ...]

    @property
    def name(self) -> str:
        """The task's."""
        return self.task.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The task's."""
        return self.task.labels

    def make_tokenizer(self) -> Tokenizer:
        """A tokenizer trained on the examples to train on."""
        return self.task.train_tokenizer(self.training)

    @cached_property
    def _lengths(self) -> Int[np.ndarray, " example"]:
        return np.array([len(example.text) + len(example.answer) + 1 for example in self.training])

    def training_examples(self, seed: int, count: int) -> list[Example]:
        """Examples of similar length, so that little of a batch is padding (Vaswani et al. 2017, section 5.1).

        They have about as many characters as `count` examples of the mean length. In the long run all examples come
        equally often: a batch of long ones, which holds fewer, is drawn more often.
        """
        generator, lengths = np.random.default_rng(seed), self._lengths
        length = int(generator.choice(lengths, p=lengths / lengths.sum()))
        wanted = min(len(lengths), max(1, round(count * float(lengths.mean()) / length)))
        distance = abs(lengths - length) + LENGTH_SPREAD * generator.random(len(lengths))
        return [self.training[index] for index in np.argpartition(distance, wanted - 1)[:wanted]]

    def validation_examples(self, count: int) -> list[Example]:
        """Some of those that validate, always the same ones."""
        return Random(VALIDATION_SEED).sample(self.validation, min(count, len(self.validation)))

    def held_out_examples(self, seed: int, count: int) -> list[Example]:
        """Some of those held out, the same ones from the same seed."""
        return Random(seed).sample(self.held_out, min(count, len(self.held_out)))
