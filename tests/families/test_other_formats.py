"""Models in formats that are not read are named as what they are, with what to do; GGUF is known by its content."""

import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from headlight.checkpoints import load
from headlight.checkpoints.catalog import checkpoint_locations, weight_bytes
from headlight.errors import CheckpointError
from tests.families.cases import CASES
from tests.families.gguf_files import SIZES, small, write
from tests.families.reference import build

GPT2 = CASES["gpt2"][0]
BY_NAME = {
    "tf_model.h5": (b"\x89HDF\r\n\x1a\n", r"tf_model\.h5, weights of TensorFlow, .*from_tf=True"),
    "tf_model-00001-of-00002.h5": (b"\x89HDF\r\n\x1a\n", r"h5, weights of TensorFlow, .*from_tf=True"),
    "model.weights.h5": (b"\x89HDF\r\n\x1a\n", r"model\.weights\.h5, weights of TensorFlow, .*from_tf=True"),
    "model.h5": (b"\x89HDF\r\n\x1a\n", r"model\.h5, weights of TensorFlow, .*from_tf=True"),
    "saved_model.pb": (b"\x08\x01", r"saved_model\.pb, weights of TensorFlow"),
    "saved_model/1/saved_model.pb": (b"\x08\x01", r"saved_model\.pb, weights of TensorFlow"),
    "openvino_model.bin": (b"\x08", r"openvino_model\.bin, a model of OpenVINO, .*that it was converted from"),
    "model.ckpt.index": (b"", r"model\.ckpt\.index, weights of TensorFlow"),
    "flax_model.msgpack": (b"\x81", r"flax_model\.msgpack, weights of Flax, .*from_flax=True"),
    "model.onnx": (b"\x08\x07", r"model\.onnx, a model exported to ONNX, .*checkpoint that it was exported from"),
    "weights.npz": (b"PK", r"weights\.npz, weights of MLX, .*--dequantize"),
    "__0_0.distcp": (b"PK", r"__0_0\.distcp, a part of a distributed checkpoint, .*zero_to_fp32\.py"),
    "rust_model.ot": (b"PK", r"rust_model\.ot, weights of rust-bert, .*checkpoint that they were converted from"),
    "model.mlmodel": (b"\x08", r"model\.mlmodel, a model of Core ML, .*checkpoint that it was converted from"),
    "onnx/model.onnx": (b"\x08\x07", r"onnx/model\.onnx, a model exported to ONNX, which cannot be opened\. "),
}


@pytest.mark.parametrize("with_config", [True, False])
@pytest.mark.parametrize("name", BY_NAME)
def test_a_folder_with_another_format_is_told_what_it_holds(name: str, with_config: bool, tmp_path: Path) -> None:
    content, sentence = BY_NAME[name]
    build(GPT2, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    if not with_config:
        shutil.rmtree(tmp_path / "model")
        (tmp_path / "model").mkdir()
    (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "model" / name).write_bytes(content)
    for path in (tmp_path / "model", tmp_path / "model" / name):
        with pytest.raises(CheckpointError, match=sentence.split(", ", 1)[1]) as refused:
            load(path)
        assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize("name", ["data/train.h5", "train.h5"])
def test_data_in_hdf5_are_no_weights(name: str, tmp_path: Path) -> None:
    build(GPT2, tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(CheckpointError) as refused:
        load(tmp_path)
    assert "TensorFlow" not in str(refused.value)


def llm_c(path: Path) -> None:
    path.write_bytes(struct.pack("<256i", 20240326, 5, 1024, 50257, 12, 12, 768, *[0] * 249))


def whisper(path: Path) -> None:
    torch.save({"dims": {"n_mels": 80}, "model_state_dict": {"encoder.conv1.weight": torch.ones(2, 2)}}, path)


@pytest.mark.parametrize(
    ("name", "make", "sentence"),
    [
        ("gpt2_124M.bin", llm_c, r"a model of llm\.c, which cannot be opened\. .*export_hf\.py\."),
        ("tiny.pt", whisper, r"a model of OpenAI's Whisper in its own format, .*convert_openai_to_hf\.py"),
        ("model.bin", lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(99)), "weights of TensorFlow"),
    ],
)
def test_a_single_file_of_another_format_is_named(name: str, make: Any, sentence: str, tmp_path: Path) -> None:
    make(tmp_path / name)
    for path in (tmp_path / name, tmp_path):
        with pytest.raises(CheckpointError, match=sentence):
            load(path)


def test_quantised_weights_of_mlx_are_named(tmp_path: Path) -> None:
    build(GPT2, tmp_path)
    path = tmp_path / "model.safetensors"
    stem, parts = "transformer.h.0.attn.c_attn", {"scales": torch.ones(2, 2), "biases": torch.ones(2, 2)}
    save_file(load_file(path) | {f"{stem}.{part}": tensor for part, tensor in parts.items()}, path)
    with pytest.raises(CheckpointError, match=r"holds model\.safetensors, weights of MLX, .*convert --dequantize"):
        load(tmp_path)


def test_a_file_of_weights_beside_its_config_is_told_to_give_the_folder(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    with pytest.raises(CheckpointError, match=r"model\.safetensors holds only weights; give its folder, model\."):
        load(tmp_path / "model" / "model.safetensors")


@pytest.mark.parametrize("name", ["sha256-0f3e", "weights", "model.q8"])
def test_a_gguf_file_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    path = write(small(("llama", "LlamaForCausalLM", SIZES)), "llama", tmp_path / "blobs", "Q8_0")
    expected = next(load(path).model.parameters()).numpy()
    path.rename(path.with_name(name))
    np.testing.assert_array_equal(next(load(path.with_name(name)).model.parameters()).numpy(), expected)
    if name.startswith("sha256-"):
        np.testing.assert_array_equal(next(load(tmp_path / "blobs").model.parameters()).numpy(), expected)
        (place,) = [each for each in checkpoint_locations([tmp_path]) if not each.shipped and "blobs" in each.name]
        assert weight_bytes(place.folder) > 1_000
