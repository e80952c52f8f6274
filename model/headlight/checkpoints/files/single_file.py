"""Checkpoints that are one file: nanoGPT's ckpt.pt, and the .bin files of llama2.c."""

from __future__ import annotations

import struct
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.checkpoints.config_reader import MAX_LAYERS
from headlight.checkpoints.files.tensor_files import LazyTensors, TensorReaders, load_pickle, require_supported
from headlight.errors import CheckpointError
from headlight.paths import open_regular

MAGIC = 0x616B3432  # "ak42", the first bytes of llama2.c's later formats
_HEADER_BYTES = 256


def read_nanogpt(path: Path, name: str) -> tuple[dict[str, Any], LazyTensors]:
    """The config and tensors of a file that nanoGPT's train.py saved."""
    checkpoint = load_pickle(path, name)
    model_args, tensors = checkpoint.get("model_args"), checkpoint.get("model")
    if not isinstance(model_args, dict) or not isinstance(tensors, dict):
        raise CheckpointError(f"{name} is no checkpoint of nanoGPT: it has no model_args and model.")
    readers: TensorReaders = {
        str(key).removeprefix("_orig_mod."): partial(require_supported, tensor, str(key), name)
        for key, tensor in tensors.items()
        if isinstance(tensor, Tensor)
    }
    return {**model_args, "model_type": "nanogpt", "architectures": ["GPTForCausalLM"]}, LazyTensors(readers)


def is_llama2c(path: Path) -> bool:
    """Whether a file of any name is llama2.c's, by its header and its length."""
    try:
        return bool(read_llama2c(path, path.name))
    except (CheckpointError, OSError):
        return False


def read_llama2c(path: Path, name: str) -> tuple[dict[str, Any], LazyTensors]:
    """The config and tensors of a float32 file that llama2.c's export.py wrote."""
    with open_regular(path) as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < 36:
        raise CheckpointError(f"{name} is too short for a model of llama2.c.")
    has_magic = struct.unpack_from("<I", header)[0] == MAGIC
    version = struct.unpack_from("<i", header, 4)[0] if has_magic else 0
    if version > 1:
        raise CheckpointError(
            f"{name} is version {version} of llama2.c's format, which is quantised; export version 1."
        )
    sizes = struct.unpack_from("<7i", header, 8 if has_magic else 0)
    hidden_size, intermediate_size, layers, heads, key_value_heads, vocabulary, context = sizes
    if (
        min(hidden_size, intermediate_size, layers, heads, key_value_heads, abs(vocabulary), context) < 1
        or hidden_size % heads
        or max(map(abs, sizes)) > 2**24
        or layers > MAX_LAYERS
    ):
        raise CheckpointError(f"{name} has sizes that are no model's: {', '.join(map(str, sizes))}.")
    tied = bool(header[36]) if has_magic else vocabulary > 0
    values = {
        "model_type": "llama2.c",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": hidden_size,
        "intermediate_size": intermediate_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": key_value_heads,
        "vocab_size": abs(vocabulary),
        "max_position_embeddings": context,
        "tie_word_embeddings": tied,
        "rms_norm_eps": 1e-5,
    }
    return values, LazyTensors(_tensor_readers(path, name, values, has_magic))


def _layout(values: dict[str, Any], has_magic: bool) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes in the order of the file; those that begin with `layers` hold all layers."""
    hidden_size, intermediate_size, vocabulary = (
        values["hidden_size"],
        values["intermediate_size"],
        values["vocab_size"],
    )
    head_dim = hidden_size // values["num_attention_heads"]
    key_value_size = values["num_key_value_heads"] * head_dim
    embedding = ("tok_embeddings", (vocabulary, hidden_size))
    norms = [("layers.attention_norm", (hidden_size,)), ("layers.ffn_norm", (hidden_size,)), ("norm", (hidden_size,))]
    attention = [
        ("layers.wq", (hidden_size, hidden_size)),
        ("layers.wk", (key_value_size, hidden_size)),
        ("layers.wv", (key_value_size, hidden_size)),
        ("layers.wo", (hidden_size, hidden_size)),
    ]
    feedforward = [
        ("layers.w1", (intermediate_size, hidden_size)),
        ("layers.w2", (hidden_size, intermediate_size)),
        ("layers.w3", (intermediate_size, hidden_size)),
    ]
    output = [] if values["tie_word_embeddings"] else [("output", (vocabulary, hidden_size))]
    if has_magic:
        return [*norms, embedding, *attention, *feedforward, *output]
    rope_tables = [
        (name, (values["max_position_embeddings"], head_dim // 2)) for name in ("freq_cis_real", "freq_cis_imag")
    ]
    return [embedding, norms[0], *attention, norms[1], *feedforward, norms[2], *rope_tables, *output]


def _tensor_readers(path: Path, name: str, values: dict[str, Any], has_magic: bool) -> TensorReaders:
    layout, layers, start = _layout(values, has_magic), values["num_hidden_layers"], _HEADER_BYTES if has_magic else 28
    needed = start + 4 * sum(prod(shape) * (layers if key.startswith("layers.") else 1) for key, shape in layout)
    if path.stat().st_size < needed:
        raise CheckpointError(f"{name} is cut off: its sizes need {needed:,} bytes, it has {path.stat().st_size:,}.")
    numbers = torch.from_numpy(np.memmap(path, np.float32, mode="c", offset=start, shape=((needed - start) // 4,)))
    readers: TensorReaders = {}
    offset = 0
    for key, shape in layout:
        for layer in range(layers) if key.startswith("layers.") else (None,):
            full = key if layer is None else key.replace("layers.", f"layers.{layer}.")
            tensor = numbers[offset : offset + prod(shape)].view(shape)
            readers[f"{full}.weight"] = partial(require_supported, tensor, full, name)
            offset += prod(shape)
    return readers
