"""The models in GGUF files, as the config and tensor names of the same models in folders.

An architecture is a row of ARCHITECTURES; its family does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.gguf_file import GgufFields, GgufFile
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.errors import CheckpointError, shortened

_FIELDS = {
    "context_length": "max_position_embeddings", "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size", "embedding_length": "hidden_size",
    "attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps", "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window", "rope.freq_base": "rope_theta",
    "attn_logit_softcapping": "attn_logit_softcapping", "final_logit_softcapping": "final_logit_softcapping",
}  # fmt: skip
_SCALING_FIELDS = {
    "rope.scaling.type": "rope_type", "rope.scaling.factor": "factor",
    "rope.scaling.original_context_length": "original_max_position_embeddings",
}  # fmt: skip
_UNUSED_FIELDS = ("vocab_size", "rope.scaling.finetuned", "attention.value_length", "rope.dimension_count")
_TOKEN_IDS = {"bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "padding_token_id": "pad_token_id"}
_OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_BLOCK = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}  # fmt: skip
_SANDWICH = _BLOCK | {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
_ROPE_FACTORS = "rope_freqs.weight"


@dataclass(frozen=True)
class Architecture:
    """The differences between files of one architecture and folders of the family `model_type`.

    block: tensor names in a block -> the family's.
    interleaved: whether queries and keys are ordered for pairs of neighbouring channels.
    norm_offset: number that the file adds to the weights of norms.
    scale_by_width: the number of layers of the only model whose scores are scaled by d_model / heads instead of the
        width of a head; 0 if the family has no such field.
    """

    model_type: str
    block: Mapping[str, str] = field(default_factory=lambda: _BLOCK)
    interleaved: bool = False
    norm_offset: float = 0.0
    scale_by_width: int = 0


ARCHITECTURES: Mapping[str, Architecture] = {
    "llama": Architecture("llama", interleaved=True),
    "qwen2": Architecture("qwen2"),
    "qwen3": Architecture("qwen3"),
    "gemma": Architecture("gemma", norm_offset=1.0),
    "gemma2": Architecture("gemma2", _SANDWICH, norm_offset=1.0, scale_by_width=46),
    "gemma3": Architecture("gemma3_text", _SANDWICH, norm_offset=1.0, scale_by_width=62),
}


def as_folder(file: GgufFile) -> tuple[dict[str, Any], LazyTensors]:
    """The config.json and the tensors of the same model in a folder. Raises CheckpointError."""
    name = shortened(str(file.fields.get("general.architecture", "")))
    if name not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise CheckpointError(f"{file.name}: its architecture is {name!r}; known GGUF architectures are {known}.")
    if file.fields.get("split.count", 1) not in (0, 1):
        raise CheckpointError(f"{file.name} is a part of a model; merge the parts with llama.cpp's gguf-split.")
    architecture, tensors = ARCHITECTURES[name], file.tensors()
    fields = _own_fields(file.fields, f"{name}.")
    values = _config(architecture, fields, tensors, file)
    tokens = {ours: file.fields.get(f"tokenizer.ggml.{theirs}") for theirs, ours in _TOKEN_IDS.items()}
    return values | tokens, LazyTensors(dict(_renamed(architecture, ConfigReader(values, file.name), tensors)))


def _own_fields(fields: GgufFields, prefix: str) -> dict[str, Any]:
    return {key.removeprefix(prefix): value for key, value in fields.items() if key.startswith(prefix)}


def _config(
    architecture: Architecture, fields: Mapping[str, Any], tensors: LazyTensors, file: GgufFile
) -> dict[str, Any]:
    """The config; an unknown field keeps its name, and the family reports that it is ignored."""
    unknown = {key: value for key, value in fields.items() if key not in (*_FIELDS, *_SCALING_FIELDS, *_UNUSED_FIELDS)}
    values = unknown | {ours: fields[theirs] for theirs, ours in _FIELDS.items() if theirs in fields}
    read = ConfigReader(values, file.name)
    width = read.integer("hidden_size") // max(read.integer("num_attention_heads"), 1)
    head_width = read.integer("head_dim", 0) or width
    for theirs in ("rope.dimension_count", "attention.value_length"):
        if fields.get(theirs, head_width) != head_width:
            told = f"its {theirs} is {str(fields[theirs])[:40]}, but a head has {head_width} channels"
            raise CheckpointError(f"{file.name}: {told}, which is not supported.")
    if read.integer("expert_count", 0):
        raise CheckpointError(f"{file.name} is a mixture of experts; these only open as folders, not as GGUF files.")
    values |= {
        "model_type": architecture.model_type,
        "architectures": ["ForCausalLM"],
        "tie_word_embeddings": "output.weight" not in tensors,
        "vocab_size": _row_count(file, "token_embd.weight"),
        "head_dim": head_width,
        **_rope_scaling(fields, tensors),
    }
    if architecture.scale_by_width:
        largest = read.integer("num_hidden_layers") == architecture.scale_by_width
        values["query_pre_attn_scalar"] = width if largest else head_width
    return values | ({"attention_bias": True} if "blk.0.attn_output.bias" in tensors else {})


def _row_count(file: GgufFile, name: str) -> int:
    if name not in file.stored:
        raise CheckpointError(f"{file.name}: missing tensors: {name}.")
    return next(iter(file.stored[name].shape), 0)


def _rope_scaling(fields: Mapping[str, Any], tensors: LazyTensors) -> dict[str, Any]:
    """Rotary scaling by its type, or by a factor for each frequency, as Llama 3 stores it."""
    scaling = {ours: fields[theirs] for theirs, ours in _SCALING_FIELDS.items() if theirs in fields}
    if _ROPE_FACTORS in tensors:
        factors = tensors[_ROPE_FACTORS].flatten().tolist()
        scaling = {"rope_type": "longrope", "short_factor": factors, "long_factor": factors, "factor": 1.0}
    return {"rope_scaling": scaling} if scaling.get("rope_type", "none") != "none" else {}


def _renamed(
    architecture: Architecture, fields: ConfigReader, tensors: LazyTensors
) -> list[tuple[str, Callable[[], Tensor]]]:
    """The tensors under the family's names, in the family's order of channels."""
    heads = fields.integer("num_attention_heads")
    heads_of = {"attn_q": heads, "attn_k": fields.integer("num_key_value_heads", heads)}
    found = []
    for key, read in tensors.readers.items():
        stem, _, leaf = key.rpartition(".")
        block = re.fullmatch(r"blk\.(\d{1,4})\.(\w+)", stem)
        part = block[2] if block else stem
        theirs = architecture.block.get(part, part) if block else _OUTSIDE.get(part, part)
        if architecture.interleaved and block and part in heads_of:
            read = partial(_in_halves, read, heads_of[part])
        if architecture.norm_offset and part.endswith("norm"):
            read = partial(_without_offset, read, architecture.norm_offset)
        if key != _ROPE_FACTORS:
            found.append((f"model.layers.{block[1]}.{theirs}.{leaf}" if block else f"{theirs}.{leaf}", read))
    return found


def _in_halves(read: Callable[[], Tensor], heads: int) -> Tensor:
    """The rows of each head with the first channels of all pairs before the second ones."""
    tensor = read()
    if not heads or tensor.shape[0] % (2 * heads):
        return tensor  # the family rejects its shape
    return tensor.reshape(heads, -1, 2, *tensor.shape[1:]).transpose(1, 2).flatten(0, 2)


def _without_offset(read: Callable[[], Tensor], offset: float) -> Tensor:
    return read().float() - offset
