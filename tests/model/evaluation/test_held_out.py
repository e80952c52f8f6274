"""The hand-written sentences for measuring task models: file format and contents of the shipped files."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from headlight.data.examples import Example
from headlight.data.rows import Row, read_rows
from headlight.data.text_tasks import EXAMPLE_TASKS, TEXT_TASKS, read_review, word_spans
from headlight.errors import DataError
from headlight.evaluation.held_out import (
    aligned_examples,
    hand_written_examples,
    hand_written_rows,
    join_french,
    read_alignment,
)
from headlight.evaluation.text_tasks import group_references
from headlight.paths import assets_dir

SETS = assets_dir() / "held_out"
REVIEW, ALIGNED = ("label", "sentence"), ("english", "french", "links")


def rows(folder: Path, text: str, columns: tuple[str, ...]) -> list[Row]:
    path = folder / "small.tsv"
    path.write_text(text, encoding="utf-8")
    return list(read_rows(path, columns, comment="# "))


def test_comments_and_empty_lines_are_no_sentences(tmp_path: Path) -> None:
    read = rows(tmp_path, "# a note\n\n1\tgood\n\n0\t# bad\n", REVIEW)
    found = [(row.text("sentence"), read_review(row).answer) for row in read]
    assert found == [("good", "positive"), ("# bad", "negative")]


def test_links_are_pairs_of_words(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, "a red cat\tun chat rouge\t0-0 1-2 2-1\n", ALIGNED)
    read = read_alignment(row)
    linked = [(read.text[slice(*link.text)], read.answer[slice(*link.answer)]) for link in read.links]
    assert linked == [("a", "un"), ("red", "rouge"), ("cat", "chat")]


@pytest.mark.parametrize(
    ("columns", "read", "text"),
    [
        (REVIEW, read_review, "1\tgood\n2\tbad\n"),
        (REVIEW, read_review, "1\tgood\ngood\n"),
        (REVIEW, read_review, "1\tgood\n0\t\n"),
        (ALIGNED, read_alignment, "a\tun\t0-0\na\tun\t0-1\n"),
        (ALIGNED, read_alignment, "a\tun\t0-0\na\tun\t1-0\n"),
        (ALIGNED, read_alignment, "a\tun\t0-0\na\tun\t0\n"),
    ],
)
def test_the_first_malformed_line_is_named(
    columns: tuple[str, ...], read: Callable[[Row], Example], text: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"^Line 2 of .*small\.tsv has"):
        list(map(read, rows(tmp_path, text, columns)))


def test_french_is_joined_as_people_type_it() -> None:
    assert join_french(["J'", "ai", "vu", ",", "tu", "vois", "?"]) == ("J'ai vu, tu vois ?", [0, 2, 5, 7, 9, 12, 17])


@pytest.mark.parametrize("path", sorted(SETS.iterdir()), ids=lambda path: path.name)
def test_each_shipped_set_says_what_it_is_for(path: Path) -> None:
    what, purpose, empty, *_ = path.read_text(encoding="utf-8").splitlines()
    assert what.startswith("# ")
    assert purpose.startswith("# Written by hand before any model was seen")
    assert empty == ""


def test_each_task_on_texts_has_a_hundred_sentences() -> None:
    for name in TEXT_TASKS:
        examples = hand_written_examples(name)
        assert len({example.text for example in examples}) >= 100
        labels = EXAMPLE_TASKS[name].labels
        assert not labels or {label for one in examples for label in one.answer.split()} == set(labels)
    assert all(len(one.answer.split()) == len(word_spans(one.text)) for one in hand_written_examples("entities"))


def test_the_shipped_reviews_are_balanced() -> None:
    reviews = hand_written_examples("sentiment")
    for half in (reviews[:60], reviews[60:]):  # about films, and about things
        assert Counter(review.answer for review in half) == {"negative": 30, "positive": 30}
    assert len({review.text.lower() for review in reviews}) == len(reviews)


def test_the_shipped_entities_are_of_every_type_and_some_sentences_have_none() -> None:
    sentences = list(hand_written_rows("entities.conll"))
    assert len({tuple(row.words("text")) for row in sentences}) == len(sentences) == 120
    tags = [row.words("labels") for row in sentences]
    assert sum(set(each) == {"O"} for each in tags) >= 15
    begun = Counter(tag for each in tags for tag in each if tag.startswith("B-"))
    assert set(begun) == {"B-PER", "B-LOC", "B-ORG"} and min(begun.values()) >= 30
    for each in tags:
        for before, tag in pairwise(["O", *each]):  # I- tags only continue a name
            assert tag == "O" or tag in begun or (tag.startswith("I-") and before[2:] == tag[2:])


def test_the_shipped_translations_are_mostly_short() -> None:
    sentences = group_references(hand_written_examples("translate"))
    lengths = [len(source.split()) for source in sentences]
    assert sum(2 <= length <= 8 for length in lengths) == 90
    assert sum(9 <= length <= 14 for length in lengths) == 30
    assert len(list(hand_written_rows("english_french.tsv", "english", "french"))) == len(sentences)
    assert sum(map(len, sentences.values())) == len(hand_written_examples("translate"))
    assert all({reference[-1] for reference in right} == {source[-1]} for source, right in sentences.items())


def test_the_shipped_alignments_link_most_words_and_many_cross() -> None:
    examples = aligned_examples()
    assert len({example.text for example in examples}) == len(examples) == 50
    for row, example in zip(hand_written_rows("alignments.tsv", *ALIGNED), examples, strict=True):
        assert len({link.answer for link in example.links}) > len(row.words("french")) / 2, example
    in_order = [[link.answer for link in sorted(example.links, key=lambda link: link.text)] for example in examples]
    assert sum(targets != sorted(targets) for targets in in_order) >= 20
    first = examples[0]
    pairs = [(first.text[slice(*link.text)], first.answer[slice(*link.answer)]) for link in first.links]
    assert first.text == "The bread is still warm." and ("bread", "pain") in pairs and ("warm", "chaud") in pairs
