"""Checkpoints of any layout in folders and in the Hub's cache are listed and found by name."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from headlight.checkpoints import catalog, find_checkpoint, load
from headlight.checkpoints.catalog import checkpoint_locations, weight_bytes
from headlight.cli.main import main
from headlight.errors import CheckpointError
from headlight_app.inference.model_listing import list_folder
from tests.families.cases import CASES
from tests.families.reference import build, build_adapter, tokenizer

GPT2 = CASES["gpt2"][0]
SIZES = (24, 38, 2, 3, 3, 26, 20)  # width, inner, layers, heads, key/value heads, vocabulary, context


def nano(folder: Path) -> None:
    model = build(GPT2, folder)
    for path in folder.iterdir():
        path.unlink()
    sizes = {"n_layer": 2, "n_head": 3, "n_embd": 24, "block_size": 20, "bias": True, "vocab_size": 26}
    # nanoGPT's linear layers lie the other way round, and the inner size of the case is not its own.
    inner = (".c_fc.weight", ".mlp.c_proj.weight", ".c_fc.bias")
    weights = {name: tensor.t() if name.endswith((".c_attn.weight", ".attn.c_proj.weight")) else tensor
               for name, tensor in model.state_dict().items()}  # fmt: skip
    shapes = dict(zip(inner, ((96, 24), (24, 96), (96,)), strict=True))
    for name in weights:
        weights[name] = next((torch.ones(shapes[end]) for end in inner if name.endswith(end)), weights[name])
    torch.save({"model": weights, "model_args": sizes}, folder / "ckpt.pt")
    tokenizer(False).save(str(folder / "tokenizer.json"))


def story(path: Path) -> None:
    """A file of llama2.c, of zeros."""
    width, inner, layers, _, _, vocabulary, context = SIZES
    numbers = vocabulary * width + layers * (2 * width + 4 * width * width + 3 * width * inner) + width + context * 8
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(struct.pack("<7i", *SIZES) + bytes(4 * numbers))
    tokenizer(False).save(str(path.parent / "tokenizer.json"))


def test_single_files_and_adapters_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nano(tmp_path / "nano")
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
        "a base outside"
    )


@pytest.fixture
def snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of two shards in the Hub's cache."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    build(replace(GPT2, shards=True), tmp_path / "made")
    folder = tmp_path / "hub" / "models--some--gpt" / "snapshots" / "0123"
    folder.mkdir(parents=True)
    blobs = folder.parent.parent / "blobs"
    blobs.mkdir()
    for path in (tmp_path / "made").iterdir():
        path.rename(blobs / path.name)
        (folder / path.name).symlink_to(blobs / path.name)
    return folder


@pytest.mark.parametrize(
    "missing",
    ["config.json", "tokenizer.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors"],
)
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


def test_a_stray_link_does_not_hide_a_whole_download(snapshot: Path) -> None:
    (snapshot / "pytorch_model.bin").symlink_to(snapshot / "nowhere")
    entry = next(entry for entry in catalog() if entry.name == "some/gpt")
    assert entry.size_bytes > 0 and list_folder(entry.name, entry.name, entry.folder).entry
