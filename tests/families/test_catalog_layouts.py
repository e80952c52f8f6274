"""Checkpoints of any layout in folders and in the Hub's cache are listed and found by name."""

import shutil
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from headlight.checkpoints import catalog, find_checkpoint, load
from headlight.checkpoints.catalog import checkpoint_locations, weight_bytes
from headlight.cli.main import main
from headlight.errors import CheckpointError
from headlight_app.inference.model_listing import list_folder
from tests.families.cases import CASES
from tests.families.reference import build, build_adapter, build_nanogpt, tokenizer

GPT2 = CASES["gpt2"][0]
SIZES = (24, 38, 2, 3, 3, 26, 20)  # width, inner, layers, heads, key/value heads, vocabulary, context


def story(path: Path) -> None:
    """Write a llama2.c file of zeros."""
    width, inner, layers, _, _, vocabulary, context = SIZES
    numbers = vocabulary * width + layers * (2 * width + 4 * width * width + 3 * width * inner) + width + context * 8
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(struct.pack("<7i", *SIZES) + bytes(4 * numbers))
    tokenizer(False).save(str(path.parent / "tokenizer.json"))


def test_single_files_and_adapters_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_nanogpt(tmp_path / "nano")
    story(tmp_path / "c" / "stories.bin")
    (tmp_path / "c" / "train.bin").write_bytes(bytes(range(256)) * 40)
    build(GPT2, tmp_path / "base")
    build_adapter(tmp_path / "tuned", "somebody/base")
    own = {entry.name: entry for entry in catalog([tmp_path]) if not entry.shipped}
    assert set(own) == {"nano", "c/stories.bin", "base", "tuned"}
    assert all(entry.size_bytes > 0 for name, entry in own.items() if name != "tuned")
    for name in own:
        assert main(["predict", "the cat", "--model", name, "--models", str(tmp_path)]) == 0
        assert list_folder(name, name, own[name].folder).entry
    assert {place.name for place in checkpoint_locations([tmp_path], within_root=True) if not place.shipped} == set(own)
    assert not [place for place in checkpoint_locations([tmp_path / "tuned"], within_root=True) if not place.shipped], (
        "its base is outside the folder"
    )


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hub cache."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "hub"


def cached(made: Path, entry: Path, blobs: Path) -> Path:
    """A folder as in the Hub's cache: a snapshot of links to blobs."""
    snapshot = entry / "snapshots" / "0123"
    for folder in (snapshot, blobs):
        folder.mkdir(parents=True)
    for path in made.iterdir():
        shutil.copy(path, blobs)
        (snapshot / path.name).symlink_to(blobs / path.name)
    return snapshot


@pytest.fixture
def snapshot(hub: Path, tmp_path: Path) -> Path:
    """A model of two shards in the Hub's cache."""
    build(replace(GPT2, shards=True), tmp_path / "made")
    entry = hub / "models--some--gpt"
    return cached(tmp_path / "made", entry, entry / "blobs")


def test_the_hub_cache_is_listed_by_the_names_of_its_models(snapshot: Path, hub: Path, tmp_path: Path) -> None:
    cached(tmp_path / "made", hub / "models--evil", tmp_path / "outside")
    names = {entry.name for entry in catalog()}
    assert "some/gpt" in names and not any("evil" in name for name in names)
    assert load(find_checkpoint("some/gpt")).model.config.d_model == 24


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "model-00001-of-00002.safetensors"])
def test_half_a_download_is_refused_by_a_sentence(snapshot: Path, missing: str) -> None:
    (snapshot / missing).resolve().unlink()
    assert weight_bytes(snapshot) >= 0 and catalog()
    assert (snapshot / "model.safetensors.index.json").is_symlink() and find_checkpoint(
        "some/gpt", fetch=False
    ) == snapshot
    with pytest.raises(CheckpointError, match=r"some/gpt"):
        load(find_checkpoint("some/gpt", fetch=True))
    card = list_folder("some/gpt", "some/gpt", snapshot)
    assert card.metadata.error or missing == "tokenizer.json"


def test_a_download_of_all_shards_opens_without_their_index(snapshot: Path) -> None:
    (snapshot / "model.safetensors.index.json").resolve().unlink()
    assert load(find_checkpoint("some/gpt", fetch=False)).model.config.d_model == 24


def test_a_stray_link_does_not_hide_a_whole_download(snapshot: Path) -> None:
    (snapshot / "pytorch_model.bin").symlink_to(snapshot / "nowhere")
    entry = next(entry for entry in catalog() if entry.name == "some/gpt")
    assert entry.size_bytes > 0 and list_folder(entry.name, entry.name, entry.folder).entry
