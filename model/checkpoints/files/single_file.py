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

from model.checkpoints.config_reader import DEEPEST
from model.checkpoints.files.tensor_files import Readers, Tensors, computable, load_pickled
from model.errors import CheckpointError

MAGIC = 0x616B3432  # "ak42", in front of the later of llama2.c's formats
_HEADER = 256


def nanogpt(path: Path, name: str) -> tuple[dict[str, Any], Tensors]:
    """The config and tensors of a file that nanoGPT's train.py saved."""
    saved = load_pickled(path, name)
    sizes, tensors = saved.get("model_args"), saved.get("model")
    if not isinstance(sizes, dict) or not isinstance(tensors, dict):
        raise CheckpointError(f"{name} is no checkpoint of nanoGPT: it has no model_args and model.")
    readers: Readers = {
        str(key).removeprefix("_orig_mod."): partial(computable, tensor, str(key), name)
        for key, tensor in tensors.items()
        if isinstance(tensor, Tensor)
    }
    return {**sizes, "model_type": "nanogpt", "architectures": ["GPTForCausalLM"]}, Tensors(readers)


def is_llama2c(path: Path) -> bool:
    """Whether a file of any name is llama2.c's, by its head and its length."""
    try:
        return bool(llama2c(path, path.name))
    except (CheckpointError, OSError):
        return False


def llama2c(path: Path, name: str) -> tuple[dict[str, Any], Tensors]:
    """The config and tensors of a float32 file that llama2.c's export.py wrote."""
    with path.open("rb") as file:
        head = file.read(_HEADER)
    if len(head) < 36:
        raise CheckpointError(f"{name} is too short for a model of llama2.c.")
    later = struct.unpack_from("<I", head)[0] == MAGIC
    version = struct.unpack_from("<i", head, 4)[0] if later else 0
    if version > 1:
        raise CheckpointError(
            f"{name} is version {version} of llama2.c's format, which is quantised; export version 1."
        )
    sizes = struct.unpack_from("<7i", head, 8 if later else 0)
    width, inner, layers, heads, keys, vocabulary, context = sizes
    if (
        min(width, inner, layers, heads, keys, abs(vocabulary), context) < 1
        or width % heads
        or max(map(abs, sizes)) > 2**24
        or layers > DEEPEST
    ):
        raise CheckpointError(f"{name} has sizes that are no model's: {', '.join(map(str, sizes))}.")
    shared = bool(head[36]) if later else vocabulary > 0
    values = {
        "model_type": "llama2.c", "architectures": ["LlamaForCausalLM"], "hidden_size": width,
        "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": keys, "vocab_size": abs(vocabulary), "max_position_embeddings": context,
        "tie_word_embeddings": shared, "rms_norm_eps": 1e-5,
    }  # fmt: skip
    return values, Tensors(_sliced(path, name, values, later))


def _layout(values: dict[str, Any], later: bool) -> list[tuple[str, tuple[int, ...]]]:
    """The names and shapes in the order they lie in the file; `layers` ones hold every layer's."""
    width, inner, vocabulary = values["hidden_size"], values["intermediate_size"], values["vocab_size"]
    head = width // values["num_attention_heads"]
    narrow = values["num_key_value_heads"] * head
    embedding = ("tok_embeddings", (vocabulary, width))
    norms = [("layers.attention_norm", (width,)), ("layers.ffn_norm", (width,)), ("norm", (width,))]
    attention = [("layers.wq", (width, width)), ("layers.wk", (narrow, width)), ("layers.wv", (narrow, width)),
                 ("layers.wo", (width, width))]  # fmt: skip
    feed = [("layers.w1", (inner, width)), ("layers.w2", (width, inner)), ("layers.w3", (inner, width))]
    output = [] if values["tie_word_embeddings"] else [("output", (vocabulary, width))]
    if later:
        return [*norms, embedding, *attention, *feed, *output]
    waves = [(name, (values["max_position_embeddings"], head // 2)) for name in ("freq_cis_real", "freq_cis_imag")]
    return [embedding, norms[0], *attention, norms[1], *feed, norms[2], *waves, *output]


def _sliced(path: Path, name: str, values: dict[str, Any], later: bool) -> Readers:
    layout, layers, start = _layout(values, later), values["num_hidden_layers"], _HEADER if later else 28
    needed = start + 4 * sum(prod(shape) * (layers if key.startswith("layers.") else 1) for key, shape in layout)
    if path.stat().st_size < needed:
        raise CheckpointError(f"{name} is cut off: its sizes need {needed:,} bytes, it has {path.stat().st_size:,}.")
    numbers = torch.from_numpy(np.memmap(path, np.float32, mode="c", offset=start, shape=((needed - start) // 4,)))
    readers: Readers = {}
    at = 0
    for key, shape in layout:
        for layer in range(layers) if key.startswith("layers.") else (None,):
            full = key if layer is None else key.replace("layers.", f"layers.{layer}.")
            tensor = numbers[at : at + prod(shape)].view(shape)
            readers[f"{full}.weight"] = partial(computable, tensor, full, name)
            at += prod(shape)
    return readers
