"""Small files that would need much memory or time are refused early."""

import os
import struct
import zipfile
from pathlib import Path

import pytest
import torch

from headlight.checkpoints import load
from headlight.checkpoints.tokenizers.open import READERS, open_tokenizer
from headlight.errors import CheckpointError
from headlight.paths import MAX_JSON_BYTES
from tests.families.cases import CASES
from tests.families.reference import build, build_adapter, build_pickle

GPT2 = CASES["gpt2"][0]


def test_a_pickle_that_grows_when_it_is_unpacked(tmp_path: Path) -> None:
    build_pickle(GPT2, tmp_path)
    (tmp_path / "pytorch_model.bin").rename(tmp_path / "stored")
    with (
        zipfile.ZipFile(tmp_path / "stored") as stored,
        zipfile.ZipFile(tmp_path / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for entry in stored.infolist():
            more = bytes(10_000_000) if entry.filename.endswith("data.pkl") else b""
            packed.writestr(entry.filename, stored.read(entry) + more)
    with pytest.raises(CheckpointError, match=r"would grow to 10,\d+,\d+ bytes in memory"):
        load(tmp_path)


def test_a_tensor_that_repeats_one_number(tmp_path: Path) -> None:
    build_pickle(GPT2, tmp_path, **{"lm_head.weight": torch.zeros(1).expand(2**40)})
    with pytest.raises(CheckpointError, match="more numbers than its file holds"):
        load(tmp_path)


def test_an_adapter_whose_product_is_larger_than_any_memory(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "base")
    for shapes in (((1, 2**21), (2**21, 1)), ((2, 24), (72, 3)), ((24,), (72, 1))):
        build_adapter(tmp_path / "adapter", "base", shapes)
        with pytest.raises(CheckpointError, match="which does not fit the base weight"):
            load(tmp_path / "adapter")


@pytest.mark.parametrize("files", READERS, ids="+".join)
def test_a_vocabulary_larger_than_any(files: tuple[str, ...], tmp_path: Path) -> None:
    for file in files:
        (tmp_path / file).touch()
        os.truncate(tmp_path / file, MAX_JSON_BYTES + 1)  # a sparse file: all zeros, and nothing on the disk
    with pytest.raises(CheckpointError, match="far larger than any vocabulary"):
        open_tokenizer(tmp_path, "nanogpt", "it")


def test_a_file_of_llama2c_with_a_million_layers(tmp_path: Path) -> None:
    with (tmp_path / "model.bin").open("wb") as file:
        file.write(struct.pack("<7i", 1, 1, 2**20, 1, 1, 2, 2))
        file.truncate(50 * 2**20)
    with pytest.raises(CheckpointError, match="sizes that are not possible"):
        load(tmp_path)
