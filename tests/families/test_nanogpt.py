"""A folder as nanoGPT writes it opens: a model of characters, with the meta.pkl of its data."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight.checkpoints import load
from headlight.errors import CheckpointError, TextError
from headlight.tracing.run import run
from tests.families.reference import build_nanogpt

CHARACTERS = sorted(set("The cat sat.\n\té日" + "abcdefghijklmn"))
TEXT = "The cat\nsat. é\t日"


def meta(**changes: Any) -> dict[str, Any]:
    """What nanoGPT's prepare.py writes."""
    ids = {character: number for number, character in enumerate(CHARACTERS)}
    return {"vocab_size": len(ids), "itos": dict(enumerate(CHARACTERS)), "stoi": ids} | changes


def folder(path: Path, content: bytes) -> Path:
    build_nanogpt(path / "nano")
    (path / "nano" / "tokenizer.json").unlink()
    (path / "nano" / "meta.pkl").write_bytes(content)
    return path / "nano"


@pytest.mark.parametrize("protocol", [0, 2, pickle.DEFAULT_PROTOCOL])
def test_a_model_of_characters_reads_the_characters_of_its_data(protocol: int, tmp_path: Path) -> None:
    path = folder(tmp_path, pickle.dumps(meta(dataset="own", sizes=[1, 2.5]), protocol=protocol))  # of a fork
    ids = [CHARACTERS.index(character) for character in TEXT]
    for opened in (load(path), load(path / "ckpt.pt")):
        encoded = opened.tokenizer.encode(TEXT)
        assert list(encoded.ids) == ids
        assert [TEXT[slice(*span)] for span in encoded.offsets] == list(TEXT)
        assert opened.tokenizer.decode(ids) == TEXT
        assert not any("meta.pkl" in note for note in opened.notes)
        with torch.inference_mode():
            expected = opened.model(torch.tensor([ids]))
        computed = run(opened.model, opened.tokenizer, TEXT).logits
        assert computed is not None
        np.testing.assert_allclose(computed, expected[0].numpy(), atol=1e-5)


def test_a_character_that_the_data_lack_is_a_sentence(tmp_path: Path) -> None:
    opened = load(folder(tmp_path, pickle.dumps(meta())))
    with pytest.raises(TextError, match="vocabulary of 23 characters lacks 'Ω'"):
        run(opened.model, opened.tokenizer, "The Ω")


class Hostile:
    """Runs a program when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("place", ["all", "inside", "a key"])
def test_a_pickle_that_would_run_something_is_refused(place: str, tmp_path: Path) -> None:
    hostile = Hostile(tmp_path / "ran")
    odd: dict[Any, int] = {**meta(), hostile: 1}
    values = {"all": hostile, "inside": meta(stoi={"a": hostile}), "a key": odd}[place]
    with pytest.raises(
        CheckpointError, match=r"holds more than dictionaries, texts and numbers; nothing in it was run"
    ):
        load(folder(tmp_path, pickle.dumps(values)))
    assert not (tmp_path / "ran").exists()


NESTED_TUPLES = b"".join(b"\x94h" + bytes([number]) + b"\x86" for number in range(60))
COSTLY = {
    "a key that is hashed for ever": b"\x80\x04})" + NESTED_TUPLES + b"K\x01s.",
    "a number that reserves 64 GB": b"\x80\x04}r\xff\xff\xff\xff.",
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_pickle_that_would_take_any_time_or_memory_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds more than dictionaries"):
        load(folder(tmp_path, COSTLY[name]))


WRONG: dict[str, Any] = {
    "no dictionary": [1], "no characters": meta(stoi={}) | {"stoi": 3},
    "words": meta(stoi={"the": 0}), "fractions": meta(stoi={"a": 0.5}), "holes": meta(stoi={"a": 0, "b": 2}),
    "twice": meta(stoi={"a": 0, "b": 0}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_meta_file_of_another_kind_is_refused_by_a_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"its meta\.pkl does not number"):
        load(folder(tmp_path, pickle.dumps(WRONG[name])))


@pytest.mark.parametrize("content", [b"", b"\x80", b"no pickle", pickle.dumps(meta())[:-9]])
def test_a_damaged_meta_file_is_refused_by_a_sentence(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"its meta\.pkl cannot be read"):
        load(folder(tmp_path, content))


def test_a_model_without_its_vocabulary_says_what_to_put_beside_it(tmp_path: Path) -> None:
    path = folder(tmp_path, b"")
    (path / "meta.pkl").unlink()
    with pytest.raises(CheckpointError, match=r"GPT-2's vocab\.json and merges\.txt beside it, or .* the meta\.pkl"):
        load(path)
