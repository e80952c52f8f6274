"""The sentences to measure task models on: how the files are read, and what the shipped ones hold."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from headlight.errors import DataError
from headlight.evaluation.held_out import (
    AlignedSentences,
    LabeledSentence,
    TaggedSentence,
    TranslatedSentence,
    read_aligned,
    read_labeled,
    read_tagged,
    read_translated,
)
from headlight.paths import assets_dir

SETS = assets_dir() / "held_out"


def write(folder: Path, text: str) -> Path:
    path = folder / "small.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_comments_and_empty_lines_are_no_sentences(tmp_path: Path) -> None:
    path = write(tmp_path, "# a note\n\n1\tgood\n\n0\t# bad\n")
    assert read_labeled(path) == (LabeledSentence(1, "good"), LabeledSentence(0, "# bad"))


def test_a_sentence_has_one_translation_or_several(tmp_path: Path) -> None:
    path = write(tmp_path, "Yes.\tOui. | Si.\nNo.\tNon.\n")
    assert read_translated(path) == (TranslatedSentence("Yes.", ("Oui.", "Si.")), TranslatedSentence("No.", ("Non.",)))


def test_an_empty_line_ends_a_tagged_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, "# a note\n\nNew B-LOC\nYork I-LOC\n\n\n#fun O\nAnna B-PER\n")
    assert read_tagged(path) == (
        TaggedSentence(("New", "York"), ("B-LOC", "I-LOC")),
        TaggedSentence(("#fun", "Anna"), ("O", "B-PER")),
    )


def test_links_are_pairs_of_indices(tmp_path: Path) -> None:
    path = write(tmp_path, "a red cat\tun chat rouge\t0-0 1-2 2-1\n")
    links = frozenset({(0, 0), (1, 2), (2, 1)})
    assert read_aligned(path) == (AlignedSentences(("a", "red", "cat"), ("un", "chat", "rouge"), links),)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_labeled, "1\tgood\n2\tbad\n"),
        (read_labeled, "1\tgood\ngood\n"),
        (read_translated, "Yes.\tOui.\nNo.\t\n"),
        (read_tagged, "Anna B-PER\nAnna B-MISC\n"),
        (read_tagged, "and O\nAnna I-PER\n"),
        (read_tagged, "Anna B-PER\nParis I-LOC\n"),
        (read_tagged, "\nParis I-LOC\n"),
        (read_aligned, "a\tun\t0-0\na\tun\t0-1\n"),
        (read_aligned, "a\tun\t0-0\na\tun\t1-0\n"),
        (read_aligned, "a\tun\t0-0\na\tun\t0\n"),
    ],
)
def test_the_first_malformed_line_is_named(tmp_path: Path, read: Callable[[Path], object], text: str) -> None:
    with pytest.raises(DataError, match="line 2: wanted"):
        read(write(tmp_path, text))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_tagged(tmp_path / "missing.conll")


@pytest.mark.parametrize("path", sorted(SETS.iterdir()), ids=lambda path: path.name)
def test_each_shipped_set_says_what_it_is_for(path: Path) -> None:
    what, purpose, empty, *_ = path.read_text(encoding="utf-8").splitlines()
    assert what.startswith("# ")
    assert purpose.startswith("# Written by hand before any model was seen")
    assert empty == ""


def test_the_shipped_reviews_are_balanced() -> None:
    reviews = read_labeled(SETS / "sentiment.tsv")
    films, things = reviews[:60], reviews[60:]
    assert Counter(review.label for review in films) == Counter(review.label for review in things) == {0: 30, 1: 30}
    assert len({review.text.lower() for review in reviews}) == len(reviews)


def test_the_shipped_entities_are_of_every_type_and_some_sentences_have_none() -> None:
    sentences = read_tagged(SETS / "entities.conll")
    assert len({sentence.words for sentence in sentences}) == len(sentences) == 120
    assert sum(set(sentence.tags) == {"O"} for sentence in sentences) >= 15
    begun = Counter(tag for sentence in sentences for tag in sentence.tags if tag.startswith("B-"))
    assert min(begun[f"B-{entity}"] for entity in ("PER", "LOC", "ORG")) >= 30


def test_the_shipped_translations_are_mostly_short() -> None:
    sentences = read_translated(SETS / "english_french.tsv")
    lengths = [len(sentence.source.split()) for sentence in sentences]
    assert sum(2 <= length <= 8 for length in lengths) == 90
    assert sum(9 <= length <= 14 for length in lengths) == 30
    assert len({sentence.source for sentence in sentences}) == len(sentences)
    for source, references in ((sentence.source, sentence.references) for sentence in sentences):
        assert len(set(references)) == len(references)
        assert {reference[-1] for reference in references} == {source[-1]}


def test_the_shipped_alignments_link_most_words_and_many_cross() -> None:
    pairs = read_aligned(SETS / "alignments.tsv")
    assert len({pair.source for pair in pairs}) == len(pairs) == 50
    for pair in pairs:
        assert len({target for _, target in pair.links}) > len(pair.target) / 2, pair
    targets_in_order = [[target for _, target in sorted(pair.links)] for pair in pairs]
    assert sum(targets != sorted(targets) for targets in targets_in_order) >= 20
