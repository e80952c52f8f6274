"""Tasks whose examples are read from files, one text in ten held out: sentiment, entities and translation."""

from __future__ import annotations

import re
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np

from headlight.array_types import Int
from headlight.data.corpus import expand_path, require_files
from headlight.data.examples import VALIDATION_SEED, Example, GeneratedTask
from headlight.data.generated import GENERATED_TASKS
from headlight.data.rows import Row, read_rows
from headlight.errors import DataError
from headlight.registry import Registry
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import MASKED_SPECIAL_TOKENS, SEQUENCE_SPECIAL_TOKENS, train_tokenizer

PARTS = ("training", "validation", "held_out")
LENGTH_SPREAD = 4  # characters; texts of a batch may differ this much in length even if equally long ones exist


class TargetKind(Enum):
    """What a model learns to give for an example: one label, one label per word, or a text."""

    LABEL = "label"
    WORD_LABELS = "word labels"
    TEXT = "text"


@dataclass(frozen=True)
class TextTask:
    """A task on texts: its files, the reader that turns a row into an example, and the kind of its targets.

    `labels` are the labels of a classifier; if not given, they are collected from the examples. `columns` names the
    columns of a TSV file without a header line. With separate validation files, no example of the other files is held
    out.
    """

    name: str
    files: tuple[str, ...]
    read: Callable[[Row], Example]
    target: TargetKind
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    validation: tuple[Path, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files to train on."""
        return tuple(map(expand_path, self.files))

    def open(self) -> TextExamples:
        """The examples. Raises DataError if a file is missing, a row cannot be read, or there are too few rows."""
        require_files([*self.paths, *self.validation])
        read = self._read(self.paths)
        if self.validation:
            others = self._read(self.validation)
            parts = {"training": read, "validation": others, "held_out": others}
        else:
            parts = {part: [one for one in read if part_of(one.text) == part] for part in PARTS}
        if not all(parts.values()):
            files = ", ".join(map(str, self.paths))
            raise DataError(
                f"There are too few examples of {self.name} in {files}: {len(read)}, of which "
                "one in ten is held out and one in twenty is for validation. Give more, or a validation file."
            )
        return TextExamples(self, *(tuple(parts[part]) for part in PARTS))

    def _read(self, paths: Iterable[Path]) -> list[Example]:
        return [self.read(row) for path in paths for row in read_rows(path, self.columns)]


def split_key(text: str) -> str:
    """The words of a text, which determine its part: texts that differ only in case and punctuation stay together."""
    return " ".join(re.findall(r"\w+", text.lower()))


def part_of(text: str) -> str:
    """The part (of PARTS) that a text belongs to: one in ten is held out, one in twenty is for validation."""
    number = zlib.crc32(split_key(text).encode()) % 20
    return "held_out" if number % 10 == 0 else "validation" if number == 1 else "training"


@dataclass(frozen=True)
class TextExamples:
    """The examples of a task on texts: for training, for choosing the best weights, and for measurements."""

    task: TextTask
    training: tuple[Example, ...]
    validation: tuple[Example, ...]
    held_out: tuple[Example, ...]

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.task.name

    @property
    def about(self) -> str:
        """A sentence on the number of examples."""
        return (
            f"{len(self.training):,} examples of {self.name} to train on; {len(self.validation):,} validate, "
            f"{len(self.held_out):,} are held out."
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The task's labels, or else those of the examples: O (not a name) first, the others sorted."""
        if self.task.labels or self.task.target is TargetKind.TEXT:
            return self.task.labels
        answers = {one.answer for one in (*self.training, *self.validation, *self.held_out)}
        found = answers if self.task.target is TargetKind.LABEL else {label for one in answers for label in one.split()}
        if len(found) < 2:
            raise DataError(f"All examples of {self.name} have the label {min(found)!r}; a classifier needs two.")
        return tuple(sorted(found, key=lambda label: (label != OUTSIDE, label)))

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The special tokens of the model that reads the texts."""
        return SEQUENCE_SPECIAL_TOKENS if self.task.target is TargetKind.TEXT else MASKED_SPECIAL_TOKENS

    @property
    def texts(self) -> Iterator[str]:
        """The texts for training a tokenizer: the training texts, and their answers if these are texts."""
        for one in self.training:
            yield one.text
            if self.task.target is TargetKind.TEXT:
                yield one.answer

    def make_tokenizer(self) -> Tokenizer:
        """A byte-level BPE tokenizer, trained on the training examples."""
        return train_tokenizer("bpe", self.texts, VOCABULARY_SIZE, self.special_tokens)

    @cached_property
    def _lengths(self) -> Int[np.ndarray, " example"]:
        return np.array([len(example.text) + len(example.answer) + 1 for example in self.training])

    def training_examples(self, seed: int, count: int) -> list[Example]:
        """Examples of similar length, so that a batch has little padding (Vaswani et al. 2017, section 5.1).

        They have about as many characters as `count` examples of the mean length. In the long run all examples occur
        equally often, because batches of long examples, which contain fewer, are drawn more often.
        """
        generator, lengths = np.random.default_rng(seed), self._lengths
        length = int(generator.choice(lengths, p=lengths / lengths.sum()))
        wanted = min(len(lengths), max(1, round(count * float(lengths.mean()) / length)))
        distance = abs(lengths - length) + LENGTH_SPREAD * generator.random(len(lengths))
        return [self.training[index] for index in np.argpartition(distance, wanted - 1)[:wanted]]

    def validation_examples(self, count: int) -> list[Example]:
        """Some of the validation examples, always the same ones."""
        return Random(VALIDATION_SEED).sample(self.validation, min(count, len(self.validation)))

    def held_out_examples(self, seed: int, count: int) -> list[Example]:
        """Some of the held-out examples, determined by the seed."""
        return Random(seed).sample(self.held_out, min(count, len(self.held_out)))


WORD = re.compile(r"\w+|[^\w\s]")  # a word or a punctuation mark, each of which has a label
_CLOSING = re.compile(r"[.,!?;:%)\]}…]+|'(s|re|ve|ll|d|m|t)|n't", re.IGNORECASE)  # without a space before it
_OPENING = ("(", "[", "{", "$", "#")  # without a space after it


def word_spans(text: str) -> list[tuple[int, int]]:
    """The span of each word or punctuation mark, in characters."""
    return [match.span() for match in WORD.finditer(text)]


def join_words(words: Sequence[str]) -> tuple[str, list[int]]:
    """The words as one text with the usual spaces, and the index at which each word starts."""
    text, starts, opens = "", [], True
    for word in words:
        text += "" if opens or _CLOSING.fullmatch(word) else " "
        starts.append(len(text))
        text, opens = text + word, word in _OPENING
    return text, starts


VOCABULARY_SIZE = 8000  # both languages of a translator share it, as well as the embeddings
PLAIN = str.maketrans({"’": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


def plain_text(text: str) -> str:
    """A sentence with composed letters, straight apostrophes and single, plain spaces."""
    return " ".join(unicodedata.normalize("NFC", text).translate(PLAIN).split())


def read_translation(row: Row) -> Example:
    """A sentence and its translation."""
    return Example(plain_text(row.text("english")), plain_text(row.text("french")))


TRANSLATE = TextTask(
    "translate",
    ("$HEADLIGHT_DATA/tasks/eng-fra.tsv.xz",),
    read_translation,
    TargetKind.TEXT,
    columns=("english", "french"),
)


SENTIMENT_LABELS = ("negative", "positive")  # 0 and 1 in the file


def read_review(row: Row) -> Example:
    """A sentence, and whether it is good (1) or bad (0)."""
    label = row.label("label")
    if label not in ("0", "1"):
        raise row.fault(f"has the label {label!r}; expected 0 or 1")
    return Example(join_words(row.words("sentence"))[0], SENTIMENT_LABELS[int(label)])


SENTIMENT = TextTask(
    "sentiment", ("$HEADLIGHT_DATA/tasks/sentiment.tsv.xz",), read_review, TargetKind.LABEL, SENTIMENT_LABELS
)


OUTSIDE = "O"
ENTITY_LABELS = (OUTSIDE, "PER", "LOC", "ORG")
# The corpora's words for each kind of name; MISC, product and creative-work do not count as names here.
LABEL_OF = {
    "PER": "PER", "person": "PER", "LOC": "LOC", "location": "LOC", "ORG": "ORG", "corporation": "ORG", "group": "ORG",
    "MISC": OUTSIDE, "product": OUTSIDE, "creative-work": OUTSIDE, OUTSIDE: OUTSIDE,
}  # fmt: skip


def read_sentence(row: Row) -> Example:
    """The words of a sentence, each with its kind of name."""
    labels = []
    for at, tag in enumerate(row.words("labels")):
        label = LABEL_OF.get(tag.removeprefix("B-").removeprefix("I-"))
        if label is None:
            raise row.fault(f"has {tag!r} where the tag of a word is wanted", at)
        labels.append(label)
    return tagged_example(row.words("text"), labels)


def tagged_example(words: Sequence[str], labels: Sequence[str]) -> Example:
    """Words as one text, and the label of each word and punctuation mark in it.

    Labels only distinguish inside from outside (IO): B- and I- are the same, so adjacent names of one kind merge.
    """
    text, starts = join_words(words)
    label_of = [labels[bisect_right(starts, start) - 1] for start, _ in word_spans(text)]
    return Example(text, " ".join(label_of))


ENTITIES = TextTask(
    "entities",
    tuple(f"$HEADLIGHT_DATA/tasks/ner-{corpus}.conll.xz" for corpus in ("wikigold", "broad_twitter", "wnut17")),
    read_sentence,
    TargetKind.WORD_LABELS,
    ENTITY_LABELS,
)


TEXT_TASKS: Registry[TextTask] = Registry(
    "task on texts", {task.name: task for task in (SENTIMENT, ENTITIES, TRANSLATE)}
)


EXAMPLE_TASKS: Registry[GeneratedTask | TextTask] = Registry("task", {**GENERATED_TASKS, **TEXT_TASKS})
