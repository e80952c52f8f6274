"""Folders made to break listing or opening: each stays listed, with one short message."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch

from headlight import catalog, save
from headlight.checkpoints import load
from headlight.checkpoints.catalog import checkpoint_locations, read_metadata
from headlight.checkpoints.load import choose_device, read_card
from headlight.errors import MAX_SENTENCE_LENGTH, CheckpointError, HeadlightError, TextError, shortened
from headlight.text.tokenizer import Tokenizer
from tests.families.cases import CASES
from tests.families.reference import build
from tests.families.test_tokenizers import gpt2
from tests.families.texts import configured
from tests.model import toys
from tests.shell import Shell

Spoil = Callable[[Path], object]
LONG = "x" * 100_000
WEIGHTS = "model.safetensors"


def changed(file: str, **fields: Any) -> Spoil:
    """Returns a function that changes fields of a JSON file."""

    def spoil(folder: Path) -> None:
        path = folder / file
        path.write_text(json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), **fields}))

    return spoil


def replaced(file: str, put: Callable[[Path], object]) -> Spoil:
    """Returns a function that replaces a file or adds another."""

    def spoil(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        put(folder / file)

    return spoil


def pipe(file: str) -> Spoil:
    """Returns a function that replaces a file by a FIFO without a writer."""
    return replaced(file, os.mkfifo)


def device_file(file: str) -> Spoil:
    return replaced(file, lambda path: path.symlink_to("/dev/zero"))


def sharded(name: str) -> Spoil:
    index = json.dumps({"weight_map": {"wte.weight": name}})
    return replaced(WEIGHTS, lambda path: path.with_name(f"{WEIGHTS}.index.json").write_text(index))


def pickled(tensor: torch.Tensor) -> Spoil:
    return replaced(WEIGHTS, lambda path: torch.save({"wte.weight": tensor}, path.with_name("pytorch_model.bin")))


def old_vocabulary(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    gpt2(configured(folder / "old", "gpt2", bos_token="\ud800"))
    for file in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        shutil.move(folder / "old" / file, folder)
    shutil.rmtree(folder / "old")


FILES = ("config.json", WEIGHTS, "tokenizer.json")
SPOILS: dict[str, Spoil] = {
    **{f"{field} of {'-' * (value < 0)}10**400": changed("config.json", **{field: value})
       for field in ("n_embd", "layer_norm_epsilon", "n_positions", "n_layer", "vocab_size")
       for value in (10**400, -(10**400))},
    "a number too long to be read": lambda folder: (folder / "config.json").write_text(f'{{"n_embd": {"9" * 5_000}}}'),
    "a long shard name": sharded("x" * 300),
    "a shard name with a NUL": sharded("x\0y"),
    "a sparse tensor": pickled(torch.eye(3).to_sparse()),
    "a tensor without numbers": pickled(torch.empty(3, 3, device="meta")),
    "a lone surrogate as an activation": changed("config.json", activation_function="\ud800"),
    "a lone surrogate as a token": old_vocabulary,
    "a lone surrogate as a family": changed("config.json", model_type="\ud800"),
    "a long family": changed("config.json", model_type=LONG),
    "a long activation": changed("config.json", activation_function=LONG),
    "a long class": changed("config.json", architectures=LONG),
    "a long method": changed("config.json", quantization_config={"quant_method": LONG}),
    **{f"a pipe as {file}": pipe(file) for file in FILES},
    **{f"a device as {file}": device_file(file) for file in FILES},
}  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    build(CASES["gpt2"][0], folder)
    return folder


@pytest.fixture
def spoilt(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "models" / "victim"))


@pytest.mark.parametrize("name", SPOILS)
def test_a_folder_is_refused_by_a_short_sentence(name: str, spoilt: Path) -> None:
    SPOILS[name](spoilt)
    with pytest.raises(CheckpointError) as refused:
        load(spoilt)
    said = str(refused.value)
    assert len(said) <= MAX_SENTENCE_LENGTH + 5 and "\n" not in said and str(spoilt) not in said
    said.encode()
    read_metadata(spoilt).error.encode()


@pytest.mark.parametrize("name", SPOILS)
def test_a_listing_goes_on(name: str, spoilt: Path, shell: Shell) -> None:
    save(spoilt.parent / "sound", toys.decoder(), toys.causal())
    SPOILS[name](spoilt)
    assert "sound" in {entry.name for entry in catalog([spoilt.parent])}
    places = [place for place in checkpoint_locations([spoilt.parent]) if not place.shipped]
    assert {place.name: bool(read_metadata(place.folder).config) for place in places}["sound"]
    assert "sound" in shell(["models", "--models", str(spoilt.parent)])


def test_whatever_fails_while_a_folder_is_read_is_a_sentence(spoilt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """The exception that a panic in Rust code raises."""

    def panic(*given: object) -> None:
        raise PanicException("index out of range")

    monkeypatch.setattr("headlight.checkpoints.source.read_json", panic)
    assert read_metadata(spoilt, "mine").error == "mine cannot be opened: index out of range."
    assert "victim" not in {entry.name for entry in catalog([spoilt.parent])}
    with pytest.raises(CheckpointError, match=r"^mine cannot be opened: index out of range\.$"):
        load(spoilt, name="mine")


def test_a_tokenizer_that_panics_at_tokens_gives_a_sentence() -> None:
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    backend.decoder = tokenizers.decoders.Strip("a", left=2, right=2)
    try:
        Tokenizer(backend).decode([0])
    except TextError as error:
        assert "fails at these tokens" in str(error)


def test_a_card_that_is_no_file_is_empty(spoilt: Path) -> None:
    pipe("README.md")(spoilt)
    assert read_card(spoilt) == "" and load(spoilt).card == ""


@pytest.mark.parametrize("architecture", [LONG, "\ud800Model\ud800"])
def test_what_a_note_echoes_is_short_and_can_be_shown(architecture: str, spoilt: Path) -> None:
    changed("config.json", architectures=[architecture])(spoilt)
    for note in load(spoilt).notes:
        assert len(note) < 300
        note.encode()


@pytest.mark.parametrize("device", ["cpu:000", "cpu:00", "cuda:٣", "cpu:-1", LONG, "\ud800"])
def test_a_strange_device_gives_a_short_sentence(device: str) -> None:
    with pytest.raises(CheckpointError, match="There is no device") as refused:
        choose_device(device)
    assert len(str(refused.value)) < 300
    str(refused.value).encode()


def test_every_sentence_is_cut_and_keeps_its_end() -> None:
    said = str(HeadlightError(f"There is no model {LONG!r}. Known: a, b."))
    assert len(said) < MAX_SENTENCE_LENGTH + 10 and said.endswith("Known: a, b.") and " ... " in said
    assert shortened("short") == "short" and shortened("\ud800") == "\\ud800"
