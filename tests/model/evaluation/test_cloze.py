"""Cloze tests: accepted tokens, file format, and the shipped sentences."""

from pathlib import Path

import pytest
import torch

from headlight import Transformer
from headlight.errors import DataError
from headlight.evaluation.language_modeling import ClozeSentence, accepted_ids, read_cloze, run_cloze
from headlight.paths import assets_dir
from tests.model import toys


def write_cloze(folder: Path, text: str) -> Path:
    path = folder / "small.txt"
    path.write_text(text, encoding="utf-8")
    return path


def always_predicting(model: Transformer, token: int) -> Transformer:
    """The masked model, changed to predict one token everywhere."""
    bias = model.get_parameter("output_head.projection.bias")
    with torch.no_grad():
        bias.zero_()
        bias[token] = 1000.0
    return model


def test_a_line_is_a_sentence_and_its_words(tmp_path: Path) -> None:
    path = write_cloze(tmp_path, "# a note\n\nthe cat | sat ran\na | or b | c\n")
    assert read_cloze(path) == (ClozeSentence("the cat", ("sat", "ran")), ClozeSentence("a | or b", ("c",)))


@pytest.mark.parametrize("text", ["the cat", "the cat | ", "the cat|sat", "the cat | sat\nthe dog |"])
def test_a_line_without_words_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"line [12]: wanted SENTENCE"):
        read_cloze(write_cloze(tmp_path, text))


def test_a_file_without_sentences_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sentence"):
        read_cloze(write_cloze(tmp_path, "# nothing\n"))
    with pytest.raises(DataError, match="cannot be read"):
        read_cloze(tmp_path / "missing.txt")


def test_in_place_of_a_mask_only_words_of_one_token_count() -> None:
    tokenizer = toys.masked()
    sentence = ClozeSentence("the [MASK] sat on the mat", ("cat", "dog", "sang away", "Ж"))
    assert len(tokenizer.encode_batch(["Ж"])[0]) == 1  # [UNK]
    assert {tokenizer.stripped_token_text(token) for token in accepted_ids(tokenizer, sentence)} == {"cat", "dog"}


def test_at_the_end_a_word_of_one_token_with_its_space_counts() -> None:
    tokenizer = toys.causal()
    tokens = accepted_ids(tokenizer, ClozeSentence("the cat sat on the", ("mat", "zebra")))
    assert len(tokenizer.encode_batch([" zebra"])[0]) > 1  # its first token may begin another word
    assert {tokenizer.token_text(token) for token in tokens} == {" mat"}


def test_hits_and_misses_are_counted(tmp_path: Path) -> None:
    tokenizer = toys.masked()
    path = write_cloze(tmp_path, "the [MASK] sat | cat\nthe [MASK] ran | dog\n")
    (dog,) = tokenizer.encode_batch(["dog"])[0]
    result = run_cloze(always_predicting(toys.encoder(), dog), tokenizer, path)
    assert result.answers[1].rank == 0
    assert result.answers[1].guesses[0] == "dog"
    assert result.hits(1) == 1
    assert result.accuracy(1) == 0.5
    assert {answer.sentence.text for answer in result.misses} <= {"the [MASK] sat"}


def test_a_file_for_the_other_kind_of_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"one \[MASK\]"):
        run_cloze(toys.encoder(), toys.masked(), write_cloze(tmp_path, "the cat sat on the | mat\n"))
    with pytest.raises(DataError, match=r"without \[MASK\]"):
        run_cloze(toys.decoder(), toys.causal(), write_cloze(tmp_path, "the [MASK] sat | cat\n"))


@pytest.mark.parametrize(("name", "gaps"), [("causal", 0), ("masked", 1)])
def test_the_shipped_sentences_are_well_formed(name: str, gaps: int) -> None:
    sentences = read_cloze(assets_dir() / "cloze" / f"{name}.txt")
    assert len(sentences) >= 70
    assert len({sentence.text for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        assert sentence.text.count("[MASK]") == gaps
        assert len(set(sentence.accepted)) == len(sentence.accepted)
