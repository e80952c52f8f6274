"""The fill-in test: which tokens count, what is read, and the shipped sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model import Transformer
from model.data.corpus import Source
from model.errors import DataError
from model.evaluation.baselines import Shelf
from model.evaluation.cloze import Sentence, accepted_ids, count_in, fill_in, read
from model.paths import assets
from tests.model import toys


def written(folder: Path, text: str) -> Path:
    path = folder / "small.txt"
    path.write_text(text, encoding="utf-8")
    return path


def leaning(model: Transformer, token: int) -> Transformer:
    """A masked model that always guesses one token."""
    bias = model.get_parameter("top.project.bias")
    with torch.no_grad():
        bias.zero_()
        bias[token] = 1000.0
    return model


def test_a_line_is_a_sentence_and_its_words(tmp_path: Path) -> None:
    path = written(tmp_path, "# a note\n\nthe cat | sat ran\na | or b | c\n")
    assert read(path) == (Sentence("the cat", ("sat", "ran")), Sentence("a | or b", ("c",)))


@pytest.mark.parametrize("text", ["the cat", "the cat | ", "the cat|sat", "the cat | sat\nthe dog |"])
def test_a_line_without_words_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"line [12]: wanted SENTENCE"):
        read(written(tmp_path, text))


def test_a_file_without_sentences_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sentence"):
        read(written(tmp_path, "# nothing\n"))
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "missing.txt")


def test_in_a_gap_only_words_of_one_token_count() -> None:
    tokenizer = toys.masked()
    sentence = Sentence("the [MASK] sat on the mat", ("cat", "dog", "sang away", "Ж"))
    assert len(tokenizer.numbers(["Ж"])[0]) == 1  # [UNK]
    assert {tokenizer.readable(token) for token in accepted_ids(tokenizer, sentence)} == {"cat", "dog"}


def test_at_the_end_a_word_of_one_token_with_its_space_counts() -> None:
    tokenizer = toys.causal()
    tokens = accepted_ids(tokenizer, Sentence("the cat sat on the", ("mat", "zebra")))
    assert len(tokenizer.numbers([" zebra"])[0]) > 1  # its beginning may be another word's
    assert {tokenizer.piece(token) for token in tokens} == {" mat"}


def test_counting_models_are_asked_the_same(tmp_path: Path) -> None:
    learn = written(tmp_path, "\n".join(toys.LINES))
    ends = tmp_path / "ends.txt"
    ends.write_text("the cat sat on the | mat\nthe dog saw the | zebra mat\n", encoding="utf-8")
    shelf = Shelf(tmp_path, toys.causal(), [Source(learn)], lambda text: None)
    result = count_in(shelf.kneser_ney(), toys.causal(), ends)
    assert [answer.place for answer in result.answers] == [0, None]  # "cat" is what follows there
    gaps = tmp_path / "gaps.txt"
    gaps.write_text("the cat [MASK] on the mat | sat\n[MASK] small bird sang | zzz the\n", encoding="utf-8")
    shelf = Shelf(tmp_path, toys.masked(), [Source(learn)], lambda text: None)
    result = count_in(shelf.two_sided(), toys.masked(), gaps)
    assert result.answers[0].place == 0 and result.answers[1].said[0] == "a"
    assert result.by == "two-sided 5-gram"


def test_the_answer_names_hits_and_misses(tmp_path: Path) -> None:
    tokenizer = toys.masked()
    path = written(tmp_path, "the [MASK] sat | cat\nthe [MASK] ran | dog\n")
    (dog,) = tokenizer.numbers(["dog"])[0]
    result = fill_in(leaning(toys.encoder(), dog), tokenizer, path)
    assert result.answers[1].place == 0
    assert result.answers[1].said[0] == "dog"
    assert result.hits(1) == 1
    assert result.rate(1) == 0.5
    assert {answer.sentence.text for answer in result.misses} <= {"the [MASK] sat"}


def test_a_file_for_the_other_kind_of_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"one \[MASK\]"):
        fill_in(toys.encoder(), toys.masked(), written(tmp_path, "the cat sat on the | mat\n"))
    with pytest.raises(DataError, match=r"without \[MASK\]"):
        fill_in(toys.decoder(), toys.causal(), written(tmp_path, "the [MASK] sat | cat\n"))


@pytest.mark.parametrize(("name", "gaps"), [("causal", 0), ("masked", 1)])
def test_the_shipped_sentences_can_be_asked(name: str, gaps: int) -> None:
    sentences = read(assets() / "fill-in" / f"{name}.txt")
    assert len(sentences) >= 70
    assert len({sentence.text for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        assert sentence.text.count("[MASK]") == gaps
        assert len(set(sentence.accepted)) == len(sentence.accepted)
