"""Sentences to measure the task models on: reviews, named entities, translations and word alignments.

The files in `assets/held_out` are UTF-8. Lines that begin with "# " are comments, and empty lines separate sentences in
the CoNLL columns and mean nothing elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from headlight.data.examples import Example, Link
from headlight.data.text_tasks import OUTSIDE, SENTIMENT_LABELS, join_words, tagged_example
from headlight.errors import DataError
from headlight.paths import assets_dir

LABELS = ("0", "1")
ENTITY_TYPES = ("PER", "LOC", "ORG")
WordPair = tuple[int, int]  # a word of the first sentence and a word of the second, counted from 0


@dataclass(frozen=True)
class LabeledSentence:
    """A review, and whether it is good (1) or bad (0)."""

    label: int
    text: str


@dataclass(frozen=True)
class TaggedSentence:
    """Words, and the BIO tag of each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class TranslatedSentence:
    """A sentence, and every translation that counts as right."""

    source: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class AlignedSentences:
    """The words of a sentence and of its translation, and those that surely translate each other."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[WordPair]


def read_labeled(path: Path) -> tuple[LabeledSentence, ...]:
    """The reviews of a file. Raises DataError that names the first malformed line."""
    return tuple(LabeledSentence(int(label), text) for label, text in _columns(path, "0 or 1, TAB, SENTENCE", LABELS))


def read_translated(path: Path) -> tuple[TranslatedSentence, ...]:
    """The sentences of a file with their translations. Raises DataError that names the first malformed line."""
    rows = _columns(path, "SENTENCE TAB TRANSLATION | TRANSLATION ...")
    return tuple(TranslatedSentence(source, tuple(references.split(" | "))) for source, references in rows)


def read_aligned(path: Path) -> tuple[AlignedSentences, ...]:
    """The aligned sentences of a file. Raises DataError that names the first malformed line."""
    wanted = "WORDS TAB WORDS TAB 0-0 1-2 ..., with indices of those words"
    sentences = []
    for number, line in _lines(path):
        source, target, links = _split(path, number, line, 3, wanted)
        pairs = [link.partition("-")[::2] for link in links.split()]
        if not all(first.isdecimal() and second.isdecimal() for first, second in pairs):
            _refuse(path, number, wanted, line)
        aligned = frozenset((int(first), int(second)) for first, second in pairs)
        sentence = AlignedSentences(tuple(source.split()), tuple(target.split()), aligned)
        if any(first >= len(sentence.source) or second >= len(sentence.target) for first, second in aligned):
            _refuse(path, number, wanted, line)
        sentences.append(sentence)
    return tuple(sentences)


def read_tagged(path: Path) -> tuple[TaggedSentence, ...]:
    """The tagged sentences of a file. Raises DataError that names the first malformed line."""
    sentences: list[list[tuple[str, str]]] = [[]]
    previous = "O"
    for number, line in _lines(path, keep_empty=True):
        if not line:
            sentences.append([])
            previous = "O"
            continue
        word, _, tag = line.partition(" ")
        if tag not in _tags_after(previous):
            _refuse(path, number, f"WORD and one of {', '.join(_tags_after(previous))}", line)
        sentences[-1].append((word, tag))
        previous = tag
    return tuple(TaggedSentence(*zip(*sentence, strict=True)) for sentence in sentences if sentence)


def _tags_after(tag: str) -> list[str]:
    """The tags that may follow one: only an entity that has begun can go on."""
    begun = [] if tag == "O" else [f"I-{tag[2:]}"]
    return ["O", *(f"B-{entity}" for entity in ENTITY_TYPES), *begun]


def _columns(path: Path, wanted: str, first: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The lines in two columns; the first column is one of `first`, if these are given."""
    for number, line in _lines(path):
        left, right = _split(path, number, line, 2, wanted)
        if first and left not in first:
            _refuse(path, number, wanted, line)
        yield left, right


def _split(path: Path, number: int, line: str, count: int, wanted: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != count or not all(columns):
        _refuse(path, number, wanted, line)
    return columns


def _lines(path: Path, keep_empty: bool = False) -> Iterator[tuple[int, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The sentences {path} cannot be read: {error}.") from error
    for number, line in enumerate(lines, 1):
        if not line.startswith("# ") and (line or keep_empty):
            yield number, line


def _refuse(path: Path, number: int, wanted: str, line: str) -> NoReturn:
    raise DataError(f"{path}, line {number}: wanted {wanted}, found {line!r}.")


_ELIDED = re.compile(r"\w+'")  # J' in J'ai


def hand_written_examples(task: str) -> list[Example]:
    """The examples of a task on texts; a sentence with several translations is as many examples."""
    folder = assets_dir() / "held_out"
    if task == "sentiment":
        return [Example(one.text, SENTIMENT_LABELS[one.label]) for one in read_labeled(folder / "sentiment.tsv")]
    if task == "entities":
        return [
            tagged_example(one.words, [OUTSIDE if tag == "O" else tag[2:] for tag in one.tags])
            for one in read_tagged(folder / "entities.conll")
        ]
    translated = read_translated(folder / "english_french.tsv") if task == "translate" else ()
    return [Example(one.source, reference) for one in translated for reference in one.references]


def aligned_examples() -> list[Example]:
    """English sentences and their French translations, with links between the words that translate each other."""
    examples = []
    for one in read_aligned(assets_dir() / "held_out" / "alignments.tsv"):
        source, source_starts = join_words(one.source)
        target, target_starts = join_french(one.target)
        links = [
            Link(
                (target_starts[second], target_starts[second] + len(one.target[second])),
                (source_starts[first], source_starts[first] + len(one.source[first])),
            )
            for first, second in sorted(one.links)
        ]
        examples.append(Example(source, target, tuple(links)))
    return examples


def join_french(words: tuple[str, ...]) -> tuple[str, list[int]]:
    """French words as one text, and where each begins."""
    text, starts, opens = "", [], True
    for word in words:
        text += "" if opens or word in (".", ",", ")") else " "
        starts.append(len(text))
        text, opens = text + word, word == "(" or _ELIDED.fullmatch(word) is not None
    return text, starts
