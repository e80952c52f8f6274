"""Export models in the layout of a family of `transformers`, where one fits.

A family fits where its own mapping reads the config that would be written back as the same Config.
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

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.families.common import USUAL_FIELDS
from headlight.checkpoints.file_rules import CONFIG, SAFETENSORS_FILE
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.weight_mapping import Family, WeightLoader, make_plan
from headlight.config import Config
from headlight.errors import CheckpointError, UnknownNameError
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer


def llama_config(config: Config) -> dict[str, Any]:
    """A decoder with RoPE, RMSNorm and SwiGLU."""
    return {
        "architectures": ["LlamaForCausalLM" if config.output_head == "language-model" else "LlamaModel"],
        **{theirs: getattr(config, size) for size, theirs in USUAL_FIELDS.items()},
        "num_key_value_heads": config.key_value_heads,
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_epsilon,
        "rope_theta": config.rope.theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope.theta},
        "tie_word_embeddings": config.tied_embeddings,
        "attention_bias": False,
        "mlp_bias": False,
    }


def eurobert_config(config: Config) -> dict[str, Any]:
    """An encoder with RoPE, RMSNorm and SwiGLU, and a single linear map as its output head."""
    pooling = {"classifier_pooling": "mean" if config.pooling == "mean" else "bos"}
    return llama_config(config) | pooling | {"architectures": [_encoder_class("EuroBert", config)]}


def modernbert_config(config: Config) -> dict[str, Any]:
    """An encoder with RoPE, LayerNorm and a gated feed-forward, with full attention in every layer."""
    base = config.rope.theta
    rope_parameters = {"rope_type": "default", "rope_theta": base}
    return {
        "architectures": [_encoder_class("ModernBert", config)],
        **{theirs: getattr(config, size) for size, theirs in USUAL_FIELDS.items()},
        "hidden_activation": {"swiglu": "silu", "geglu-tanh": "gelu_new"}.get(config.feed_forward, "gelu"),
        "norm_eps": config.norm_epsilon,
        "norm_bias": config.has_bias("norm"),
        "attention_bias": config.has_bias("query"),
        "mlp_bias": config.has_bias("up"),
        "classifier_bias": config.has_bias("transform"),
        "classifier_activation": config.output_head_config.activation,
        "classifier_pooling": "mean" if config.pooling == "mean" else "cls",
        "decoder_bias": config.output_head_config.bias is not False,
        "layer_types": ["full_attention"] * config.layers,
        "global_attn_every_n_layers": 1,
        "global_rope_theta": base,
        "local_rope_theta": base,
        "rope_parameters": {"full_attention": rope_parameters, "sliding_attention": rope_parameters},
        "tie_word_embeddings": config.tied_embeddings,
    }


def _encoder_class(family: str, config: Config) -> str:
    """The class of an encoder in `transformers`, by its output head."""
    heads = {
        "masked-language-model": "ForMaskedLM",
        "sequence-classifier": "ForSequenceClassification",
        "token-classifier": "ForTokenClassification",
    }
    return family + heads.get(config.output_head, "Model")


EXPORT_CONFIGS: Mapping[str, Callable[[Config], dict[str, Any]]] = {
    "llama": llama_config,
    "eurobert": eurobert_config,
    "modernbert": modernbert_config,
}


def export(folder: str | Path, model: Transformer, tokenizer: Tokenizer) -> str:
    """Write a folder that `transformers` opens; returns the family. Raises CheckpointError where none fits."""
    folder = Path(folder)
    model_type, family_config = _matching_family(model.config)
    tensors = _family_tensors(FAMILIES[model_type], family_config, model)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SAFETENSORS_FILE).write_bytes(serialized(tensors, metadata={"format": "pt"}))
    token_ids = {"pad_token_id": tokenizer.pad_id, "bos_token_id": tokenizer.start_id, "eos_token_id": tokenizer.end_id}
    if model_type == "eurobert" and tokenizer.mask_id is not None:  # its default is beyond a small vocabulary
        token_ids["mask_token_id"] = tokenizer.mask_id
    labels = {str(number): label for number, label in enumerate(model.config.labels)}
    label_fields = (
        {"id2label": labels, "label2id": {label: int(number) for number, label in labels.items()}} if labels else {}
    )
    config_json = {"model_type": model_type, "dtype": "float32", **token_ids, **label_fields, **family_config}
    (folder / CONFIG).write_text(json.dumps(config_json, indent=2) + "\n", encoding="utf-8")
    tokenizer.save(folder)
    tokenizer_config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": model.config.context_length}
    tokens = {
        f"{name}_token": tokenizer.backend.id_to_token(number)
        for name, number in (
            ("pad", tokenizer.pad_id), ("unk", tokenizer.unknown_id), ("mask", tokenizer.mask_id),
            ("bos", tokenizer.start_id), ("eos", tokenizer.end_id),
        )
        if number is not None
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(
        json.dumps(tokenizer_config | tokens, indent=2) + "\n", encoding="utf-8"
    )
    return model_type


def _matching_family(config: Config) -> tuple[str, dict[str, Any]]:
    for model_type, to_family_config in EXPORT_CONFIGS.items():
        try:
            written = to_family_config(config) | {"id2label": {str(i): label for i, label in enumerate(config.labels)}}
            read = make_plan(FAMILIES[model_type], ConfigReader(written, "export"), LazyTensors({})).config
        except (CheckpointError, UnknownNameError):
            continue
        if read.replace(dropout=0.0) == _exported_part(config):
            return model_type, to_family_config(config)
    raise CheckpointError(
        f"This model's architecture matches no family that models are exported to: {', '.join(EXPORT_CONFIGS)}."
    )


def _exported_part(config: Config) -> Config:
    """The config without what has an effect in training only, or none with its output head."""
    answer = (
        config.output_head_config
        if config.output_head != "language-model"
        else replace(config.output_head_config, activation="gelu")
    )
    return config.replace(dropout=0.0, output_head_config=answer)


def _family_tensors(family: Family, values: dict[str, Any], model: Transformer) -> dict[str, Tensor]:
    """The parameters under the family's names; what the family stores fused is concatenated along the rows."""
    loader = WeightLoader(make_plan(family, ConfigReader(values, "export"), LazyTensors({})), LazyTensors({}))
    parts: dict[str, list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        parts.setdefault(loader.candidate_names(name)[0], []).append(parameter.detach().to("cpu", torch.float32))
    return {name: torch.cat(tensors).contiguous() for name, tensors in parts.items()}
