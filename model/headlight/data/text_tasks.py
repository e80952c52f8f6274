"""Tasks whose examples are read from files, one text in ten held out: sentiment, entities and translation."""

from __future__ import annotations

import re
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from random import Random

import numpy as np

from headlight.array_types import Int
from headlight.data.corpus import expand_path, read_lines, require_files
from headlight.data.examples import VALIDATION_SEED, Example, GeneratedTask
from headlight.data.generated import GENERATED_TASKS
from headlight.errors import DataError
from headlight.registry import Registry
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import MASKED_SPECIAL_TOKENS, SEQUENCE_SPECIAL_TOKENS, train_tokenizer

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
    """The words of a text, which decide its part: texts that differ in case and punctuation alone stay together."""
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


WORD = re.compile(r"\w+|[^\w\s]")  # a word or a punctuation mark, each of which has a label
_CLOSING = re.compile(r"[.,!?;:%)\]}…]+|'(s|re|ve|ll|d|m|t)|n't", re.IGNORECASE)  # takes no space before it
_OPENING = ("(", "[", "{", "$", "#")  # takes none after it


def word_spans(text: str) -> list[tuple[int, int]]:
    """The characters of each word or punctuation mark."""
    return [match.span() for match in WORD.finditer(text)]


def join_words(words: Sequence[str]) -> tuple[str, list[int]]:
    """The words as one text with spaces where people type them, and where each word begins."""
    text, starts, opens = "", [], True
    for word in words:
        text += "" if opens or _CLOSING.fullmatch(word) else " "
        starts.append(len(text))
        text, opens = text + word, word in _OPENING
    return text, starts


VOCABULARY_SIZE = 8000  # shared by both languages, as are the embeddings
PLAIN = str.maketrans({"’": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


def plain_text(text: str) -> str:
    """A sentence with composed letters, straight apostrophes and single, plain spaces."""
    return " ".join(unicodedata.normalize("NFC", text).translate(PLAIN).split())


def read_pairs(path: Path) -> Iterator[Example]:
    """The pairs of a file whose lines are English TAB French."""
    for number, line in enumerate(read_lines(path), 1):
        english, tab, french = line.partition("\t")
        if not tab:
            raise DataError(f"Line {number} of {path} has no tab between two sentences.")
        yield Example(plain_text(english), plain_text(french))


def train_translation_tokenizer(examples: Sequence[Example]) -> Tokenizer:
    """Byte-level BPE of both languages together."""
    sentences = chain.from_iterable((example.text, example.answer) for example in examples)
    return train_tokenizer("bpe", sentences, VOCABULARY_SIZE, SEQUENCE_SPECIAL_TOKENS)


TRANSLATE = TextTask("translate", ("$HEADLIGHT_DATA/tasks/eng-fra.tsv.xz",), read_pairs, train_translation_tokenizer)


SENTIMENT_LABELS = ("negative", "positive")  # 0 and 1 in the file


def read_reviews(path: Path) -> Iterator[Example]:
    """The sentences of a file whose columns are label, sentence and source, below a line that says so."""
    for number, line in enumerate(read_lines(path), 1):
        label, sentence, *_ = (*line.split("\t"), "", "")
        if number == 1 and label == "label":
            continue
        if label not in ("0", "1") or not sentence.split():
            raise DataError(f"Line {number} of {path} is no label 0 or 1, a tab and a sentence.")
        yield Example(join_words(sentence.split())[0], SENTIMENT_LABELS[int(label)])


def train_encoder_tokenizer(examples: Sequence[Example]) -> Tokenizer:
    """Byte-level BPE with [CLS] and [SEP] around a text."""
    return train_tokenizer("bpe", (one.text for one in examples), VOCABULARY_SIZE, MASKED_SPECIAL_TOKENS)


SENTIMENT = TextTask(
    "sentiment", ("$HEADLIGHT_DATA/tasks/sentiment.tsv.xz",), read_reviews, train_encoder_tokenizer, SENTIMENT_LABELS
)


OUTSIDE = "O"
ENTITY_LABELS = (OUTSIDE, "PER", "LOC", "ORG")
# The corpora's word for each kind of name; MISC, product and creative-work are no names here.
LABEL_OF = {
    "PER": "PER", "person": "PER", "LOC": "LOC", "location": "LOC", "ORG": "ORG", "corporation": "ORG", "group": "ORG",
    "MISC": OUTSIDE, "product": OUTSIDE, "creative-work": OUTSIDE, OUTSIDE: OUTSIDE,
}  # fmt: skip


def read_sentences(path: Path) -> Iterator[Example]:
    """The sentences of a file in CoNLL columns: a word and its tag on each line, an empty line between sentences."""
    numbered = enumerate(read_lines(path), 1)
    for is_sentence, lines in groupby(numbered, key=lambda line: bool(line[1].strip())):
        rows = [_read_row(path, number, line) for number, line in lines] if is_sentence else []
        if words := [(word, label) for word, label in rows if word.strip()]:  # some words are nothing but a space
            yield tagged_example(*zip(*words, strict=True))


def _read_row(path: Path, number: int, line: str) -> tuple[str, str]:
    """A word and its label."""
    columns = re.split(r"[ \t]", line.rstrip())
    word, tag = " ".join(columns[:-1]), columns[-1]
    label = LABEL_OF.get(tag.removeprefix("B-").removeprefix("I-"))
    if label is None:
        raise DataError(f"Line {number} of {path} has {tag!r} where the tag of a word is wanted.")
    return word, label


def tagged_example(words: Sequence[str], labels: Sequence[str]) -> Example:
    """Words as one text, and the label of each word and punctuation mark in it.

    Labels tell inside from outside (IO): B- and I- are the same, so names of one kind side by side are one name.
    """
    text, starts = join_words(words)
    label_of = [labels[bisect_right(starts, start) - 1] for start, _ in word_spans(text)]
    return Example(text, " ".join(label_of))


ENTITIES = TextTask(
    "entities",
    tuple(f"$HEADLIGHT_DATA/tasks/ner-{corpus}.conll.xz" for corpus in ("wikigold", "broad_twitter", "wnut17")),
    read_sentences,
    train_encoder_tokenizer,
    ENTITY_LABELS,
)


TEXT_TASKS: Registry[TextTask] = Registry(
    "task on texts", {task.name: task for task in (SENTIMENT, ENTITIES, TRANSLATE)}
)


EXAMPLE_TASKS: Registry[GeneratedTask | TextTask] = Registry("task", {**GENERATED_TASKS, **TEXT_TASKS})
