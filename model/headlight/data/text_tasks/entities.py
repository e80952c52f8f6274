"""Names of people, places and organizations: sentences of Wikipedia, tweets and other noisy texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from headlight.data.corpus import read_lines
from headlight.data.examples import Example
from headlight.data.text_tasks.sentiment import train_encoder_tokenizer
from headlight.data.text_tasks.text_task import TextTask
from headlight.data.text_tasks.words import join_words, word_spans
from headlight.errors import DataError

OUTSIDE = "O"
LABELS = (OUTSIDE, "PER", "LOC", "ORG")
# What the corpora call each kind of name; MISC, product and creative-work are no names here.
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
    LABELS,
)
