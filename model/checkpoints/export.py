"""Our models in the layout of other families, wherever one fits: for `transformers`, and whatever else reads its files.

A family fits where its own table, asked to read the config that would be written, gives back the very same model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as serialized
from torch import Tensor

from model.checkpoints.config_reader import Fields
from model.checkpoints.families import FAMILIES
from model.checkpoints.files.tensor_files import SAFE, Tensors
from model.checkpoints.weight_mapping import Family, Pouring, plan
from model.config import Config
from model.errors import CheckpointError, UnknownName
from model.nn.transformer import Transformer
from model.text.tokenizer import Tokenizer


def llama(config: Config) -> dict[str, Any]:
    """A decoder with rope, RMSNorm and SwiGLU."""
    return {
        "architectures": ["LlamaForCausalLM" if config.top == "language" else "LlamaModel"],
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.context,
        "hidden_size": config.width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.key_value_heads,
        "head_dim": config.head_width,
        "intermediate_size": config.inner,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_epsilon,
        "rope_theta": config.rotation.base,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rotation.base},
        "tie_word_embeddings": config.tied,
        "attention_bias": False,
        "mlp_bias": False,
    }


def eurobert(config: Config) -> dict[str, Any]:
    """An encoder with rope, RMSNorm and SwiGLU, its head a single linear map."""
    names = {"masked-language": "MaskedLM", "sequence-classifier": "SequenceClassification"}
    names["token-classifier"] = "TokenClassification"
    pooling = {"classifier_pooling": "mean" if config.pooling == "mean" else "bos"}
    kind = f"EuroBertFor{names[config.top]}" if config.top in names else "EuroBertModel"
    return llama(config) | pooling | {"architectures": [kind]}


def modernbert(config: Config) -> dict[str, Any]:
    """An encoder with rope, LayerNorm and a gated feed-forward, every layer looking everywhere."""
    base = config.rotation.base
    names = {"masked-language": "MaskedLM", "sequence-classifier": "SequenceClassification"}
    names["token-classifier"] = "TokenClassification"
    turning = {"rope_type": "default", "rope_theta": base}
    return {
        "architectures": [f"ModernBertFor{names[config.top]}" if config.top in names else "ModernBertModel"],
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.context,
        "hidden_size": config.width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "intermediate_size": config.inner,
        "hidden_activation": {"swiglu": "silu", "geglu-tanh": "gelu_new"}.get(config.feedforward, "gelu"),
        "norm_eps": config.norm_epsilon,
        "norm_bias": config.has_bias("norm"),
        "attention_bias": config.has_bias("query"),
        "mlp_bias": config.has_bias("rise"),
        "classifier_bias": config.has_bias("transform"),
        "classifier_activation": config.answer.activation,
        "classifier_pooling": "mean" if config.pooling == "mean" else "cls",
        "decoder_bias": config.answer.bias is not False,
        "layer_types": ["full_attention"] * config.layers,
        "global_attn_every_n_layers": 1,
        "global_rope_theta": base,
        "local_rope_theta": base,
        "rope_parameters": {"full_attention": turning, "sliding_attention": turning},
        "tie_word_embeddings": config.tied,
    }


EXPORTS: Mapping[str, Callable[[Config], dict[str, Any]]] = {
    "llama": llama,
    "eurobert": eurobert,
    "modernbert": modernbert,
}


def export(folder: str | Path, model: Transformer, tokenizer: Tokenizer) -> str:
    """Write a folder that `transformers` opens; gives the family. Raises CheckpointError where none fits."""
    folder = Path(folder)
    kind, values = _fitting(model.config)
    tensors = _named(FAMILIES[kind], values, model)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SAFE).write_bytes(serialized(tensors, metadata={"format": "pt"}))
    marks = {"pad_token_id": tokenizer.pad_id, "bos_token_id": tokenizer.start_id, "eos_token_id": tokenizer.end_id}
    if kind == "eurobert" and tokenizer.mask_id is not None:  # unnamed, it is a number beyond a small vocabulary
        marks["mask_token_id"] = tokenizer.mask_id
    labels = {str(number): label for number, label in enumerate(model.config.labels)}
    named = {"id2label": labels, "label2id": {label: int(number) for number, label in labels.items()}} if labels else {}
    written = {"model_type": kind, "dtype": "float32", **marks, **named, **values}
    (folder / "config.json").write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    tokenizer.save(folder)
    options = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": model.config.context}
    tokens = {
        f"{name}_token": tokenizer.backend.id_to_token(number)
        for name, number in (
            ("pad", tokenizer.pad_id), ("unk", tokenizer.unknown_id), ("mask", tokenizer.mask_id),
            ("bos", tokenizer.start_id), ("eos", tokenizer.end_id),
        )
        if number is not None
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(options | tokens, indent=2) + "\n", encoding="utf-8")
    return kind


def _fitting(config: Config) -> tuple[str, dict[str, Any]]:
    for kind, values in EXPORTS.items():
        try:
            written = values(config) | {"id2label": {str(i): label for i, label in enumerate(config.labels)}}
            read = plan(FAMILIES[kind], Fields(written, "export"), Tensors({})).config
        except (CheckpointError, UnknownName):
            continue
        if read.change(dropout=0.0) == _plain(config):
            return kind, values(config)
    raise CheckpointError(
        "No family that others know is built like this model, so it can only be kept as it is. "
        f"Known for export: {', '.join(EXPORTS)}."
    )


def _plain(config: Config) -> Config:
    """The config without what acts in training alone, or not at all under its top."""
    answer = config.answer if config.top != "language" else replace(config.answer, activation="gelu")
    return config.change(dropout=0.0, answer=answer)


def _named(family: Family, values: dict[str, Any], model: Transformer) -> dict[str, Tensor]:
    """Our parameters under the family's names; what the family keeps in one tensor is put one below the other."""
    pouring = Pouring(plan(family, Fields(values, "export"), Tensors({})), Tensors({}))
    parts: dict[str, list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        parts.setdefault(pouring.names(name)[0], []).append(parameter.detach().to("cpu", torch.float32))
    return {name: torch.cat(tensors).contiguous() for name, tensors in parts.items()}
