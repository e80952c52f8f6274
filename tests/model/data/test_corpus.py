"""Texts as tokens."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from headlight.data.corpus import (
    TextSource,
    expand_path,
    read_documents,
    text_mixture,
    tokenize_cached,
    tokenize_source,
)
from headlight.errors import DataError
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import train_tokenizer

TEXT = "One cat.\nTwo dogs.\n<|endoftext|>\nThree birds.\n<|endoftext|>\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.train.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def made() -> Tokenizer:
    return train_tokenizer("bpe", [TEXT] * 20, 300)


def test_documents_are_split_at_their_separator(file: Path) -> None:
    assert list(read_documents(file)) == [["One cat.", "Two dogs."], ["Three birds."]]


def test_compressed_texts_read_the_same(file: Path) -> None:
    packed = file.with_name("small.train.txt.xz")
    packed.write_bytes(lzma.compress(TEXT.encode()))
    assert list(read_documents(packed)) == list(read_documents(file))
    assert TextSource(packed).name == TextSource(file).name == "small.train"


def test_line_ends_of_windows_are_line_ends(file: Path) -> None:
    file.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert list(read_documents(file)) == [["One cat.", "Two dogs."], ["Three birds."]]


@pytest.mark.parametrize(
    ("text", "path", "epochs"),
    [
        ("a.txt", "a.txt", 1.0),
        ("a.txt.xz=3", "a.txt.xz", 3.0),
        ("a=b.txt=0.5", "a=b.txt", 0.5),
        ("a=b.txt", "a=b.txt", 1.0),
    ],
)
def test_a_source_is_a_path_and_epochs(text: str, path: str, epochs: float) -> None:
    assert TextSource.parse(text) == TextSource(Path(path), epochs)


@pytest.mark.parametrize("text", ["a.txt=0", "a.txt=-1", "a.txt=nan", "a.txt=inf"])
def test_epochs_must_be_positive(text: str) -> None:
    with pytest.raises(DataError, match="positive number"):
        TextSource.parse(text)


def test_variables_in_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_DATA", "/texts")
    assert expand_path("$HEADLIGHT_DATA/text/a.txt") == Path("/texts/text/a.txt")
    monkeypatch.delenv("HEADLIGHT_DATA")
    with pytest.raises(DataError, match=r"\$HEADLIGHT_DATA, which is not set.*export HEADLIGHT_DATA="):
        expand_path("$HEADLIGHT_DATA/text/a.txt")


def test_tokens_are_the_text_with_a_separator_before_each_document(file: Path, made: Tokenizer) -> None:
    tokens = tokenize_source(TextSource(file), made, made.start_id)
    assert made.backend.decode(tokens.ids.tolist(), skip_special_tokens=False) == (
        "<|endoftext|>One cat.\nTwo dogs.<|endoftext|>Three birds."
    )
    assert [made.token_text(int(tokens.ids[at])) for at in tokens.document_starts] == ["<|endoftext|>"] * 2
    assert [made.decode(tokens.ids[at : at + 20].tolist())[:3] for at in tokens.line_starts] == ["One", "Two", "Thr"]
    assert tokens.byte_count == len("One cat.\nTwo dogs.Three birds.")
    assert tokens.ids.dtype == np.uint16


def test_without_a_separator_documents_begin_with_their_first_line(file: Path, made: Tokenizer) -> None:
    tokens = tokenize_source(TextSource(file), made, None)
    assert tokens.document_starts.tolist() == tokens.line_starts[[0, 2]].tolist()


def test_cached_tokens_are_read_again_unless_the_file_has_changed(file: Path, made: Tokenizer, tmp_path: Path) -> None:
    messages: list[str] = []
    first = tokenize_cached(TextSource(file), made, None, tmp_path / "tokens", messages.append)
    again = tokenize_cached(TextSource(file, 3.0), made, None, tmp_path / "tokens", messages.append)
    assert len(messages) == 1 and again.epochs == 3.0
    for part in ("ids", "line_starts", "document_starts"):
        assert np.array_equal(getattr(first, part), getattr(again, part))
    file.write_text(TEXT + "Four fish.\n", encoding="utf-8")
    assert len(tokenize_cached(TextSource(file), made, None, tmp_path / "tokens", messages.append).line_starts) == 4
    assert len(messages) == 2


def test_the_mixture_repeats_and_drops_documents_by_epochs(file: Path) -> None:
    assert len(list(text_mixture([TextSource(file, 3.0)]))) == 6
    assert len(list(text_mixture([TextSource(file, 0.5)]))) == 1


def test_unusable_texts_are_errors(tmp_path: Path, made: Tokenizer) -> None:
    with pytest.raises(DataError, match="There is no file"):
        tokenize_cached(TextSource(tmp_path / "absent.txt"), made, None, tmp_path, print)
    empty, latin, broken = (tmp_path / name for name in ("empty.txt", "latin.txt", "broken.txt.xz"))
    empty.write_text("<|endoftext|>\n")
    with pytest.raises(DataError, match="is empty"):
        tokenize_source(TextSource(empty), made, None)
    latin.write_bytes(b"caf\xe9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        tokenize_source(TextSource(latin), made, None)
    broken.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be read"):
        tokenize_source(TextSource(broken), made, None)
