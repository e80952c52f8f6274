"""`python -m tests.bench ngrams`, from the arguments to what is printed."""

import json
from pathlib import Path

import pytest

from headlight import save
from headlight.data.corpus import TextSource
from headlight.errors import DataError
from tests.bench.ngrams.report import main, ngram_cloze, ngram_cloze_sentence
from tests.bench.ngrams.store import NgramStore
from tests.model import toys


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "tales.valid.txt"
    documents = ["\n".join(toys.LINES[:8]), "\n".join(reversed(toys.LINES[:6]))]
    path.write_text("\n<|endoftext|>\n".join(documents) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def causal(tmp_path: Path) -> str:
    save(tmp_path / "causal", toys.decoder(context_length=128), toys.causal())
    return str(tmp_path / "causal")


@pytest.fixture
def masked(tmp_path: Path) -> str:
    save(tmp_path / "masked", toys.encoder(context_length=64), toys.masked())
    return str(tmp_path / "masked")


def test_a_next_token_model_beside_kneser_ney(
    causal: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [causal, "--text", text, "--train", f"{text}=2", "--cache", str(tmp_path / "cache"), "--json"]
    main(arguments)
    first = json.loads(capsys.readouterr().out)
    numbers = first["texts"]["tales.valid"]
    assert numbers["bits per byte"] > numbers["Kneser-Ney bits per byte"] > 0  # random weights; a text seen before
    assert numbers["less by"] < 0
    assert numbers["tokens"] > 20
    main(arguments)  # from the cached tables
    again = capsys.readouterr()
    assert json.loads(again.out) == first
    assert "Counting" not in again.err


def test_a_masked_model_beside_a_two_sided_ngram(
    masked: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([masked, "--text", text, "--train", text, "--cache", str(tmp_path / "cache"), "--json"])
    numbers = json.loads(capsys.readouterr().out)["texts"]["tales.valid"]
    assert numbers["two-sided 5-gram top-1"] > numbers["unigram top-1"]
    for predictor in ("", "unigram ", "two-sided 5-gram "):
        assert 0 <= numbers[f"{predictor}top-1"] <= numbers[f"{predictor}top-5"] <= 1


def test_a_text_that_was_counted_gets_a_warning(
    causal: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([causal, "--text", text, "--train", text, "--cache", str(tmp_path / "cache"), "--markdown"])
    printed = capsys.readouterr()
    assert "tales.valid is both counted and measured" in printed.err
    assert printed.out.startswith(
        "| held-out text | bits per byte | bits per token | Kneser-Ney bits per byte | less by | tokens | bytes |\n"
    )


def test_a_missing_training_text_is_named(causal: str, text: str) -> None:
    with pytest.raises(DataError, match="no file nowhere"):
        main([causal, "--text", text, "--train", "nowhere.txt"])


def test_ngrams_answer_the_cloze_tests_of_both_kinds_of_model(tmp_path: Path) -> None:
    train, ends, gaps = (tmp_path / f"{name}.txt" for name in ("train", "ends", "gaps"))
    train.write_text("\n".join(toys.LINES), encoding="utf-8")
    ends.write_text("the cat sat on the | mat\nthe dog saw the | zebra mat\n", encoding="utf-8")
    gaps.write_text("the cat [MASK] on the mat | sat\n[MASK] small bird sang | zzz the\n", encoding="utf-8")
    kneser_ney = NgramStore(tmp_path, toys.causal(), [TextSource(train)], lambda text: None).kneser_ney()
    result = ngram_cloze(kneser_ney, toys.causal(), ends)
    assert [answer.rank for answer in result.answers] == [0, None]  # only "cat" occurs in this context
    two_sided = NgramStore(tmp_path, toys.masked(), [TextSource(train)], lambda text: None).two_sided()
    result = ngram_cloze(two_sided, toys.masked(), gaps)
    assert result.answers[0].rank == 0 and result.answers[1].guesses[0] == "a"
    assert ngram_cloze_sentence(two_sided, result).startswith("A two-sided 5-gram on the same sentences: first in 1 ")
