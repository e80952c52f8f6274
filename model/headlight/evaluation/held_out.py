"""Sentences for measuring the task models: reviews, named entities, translations and word alignments.

The files in `assets/held_out` contain examples; lines that start with "# " are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from headlight.data.examples import Example, Link
from headlight.data.rows import Row, read_rows
from headlight.data.text_tasks import join_words, read_review, read_sentence
from headlight.paths import assets_dir

_ELIDED = re.compile(r"\w+'")  # J' in J'ai
_LINK = re.compile(r"(\d+)-(\d+)", re.ASCII)  # a word of the first sentence and one of the second, counted from 0


def hand_written_rows(file: str, *columns: str) -> Iterator[Row]:
    """The rows of a file in `assets/held_out`."""
    return read_rows(assets_dir() / "held_out" / file, columns, comment="# ")


def hand_written_examples(task: str) -> list[Example]:
    """The examples of a task on texts; each translation of a sentence is an example."""
    if task == "sentiment":
        rows = hand_written_rows("sentiment.tsv", "label", "sentence")
        return [replace(read_review(row), text=row.text("sentence")) for row in rows]
    if task == "entities":
        return list(map(read_sentence, hand_written_rows("entities.conll")))
    rows = hand_written_rows("english_french.tsv", "english", "french") if task == "translate" else iter(())
    return [Example(row.text("english"), reference) for row in rows for reference in row.text("french").split(" | ")]


def aligned_examples() -> list[Example]:
    """English sentences and their French translations, with links between the words that translate each other."""
    return list(map(read_alignment, hand_written_rows("alignments.tsv", "english", "french", "links")))


def read_alignment(row: Row) -> Example:
    """A sentence, its translation and links such as 0-0 1-2. Raises DataError if a link's word does not exist."""
    english, french = row.words("english"), row.words("french")
    text, starts = join_words(english)
    answer, french_starts = join_french(french)
    links = []
    for link in row.words("links"):
        match = _LINK.fullmatch(link)
        if not match or int(match[1]) >= len(english) or int(match[2]) >= len(french):
            raise row.fault(f"has {link!r} where a link such as 0-1 between two of its words is wanted")
        first, second = int(match[1]), int(match[2])
        span = (french_starts[second], french_starts[second] + len(french[second]))
        links.append(Link(span, (starts[first], starts[first] + len(english[first]))))
    return Example(text, answer, tuple(links))


def join_french(words: list[str]) -> tuple[str, list[int]]:
    """French words as one text, and the index at which each word starts."""
    text, starts, opens = "", [], True
    for word in words:
        text += "" if opens or word in (".", ",", ")") else " "
        starts.append(len(text))
        text, opens = text + word, word == "(" or _ELIDED.fullmatch(word) is not None
    return text, starts
