"""The pooling of a text's hidden states into one vector, as configured in sentence-transformers' files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.file_rules import MODULES, POOLING_FOLDER
from headlight.checkpoints.source import display_name, transformer_folder
from headlight.errors import CheckpointError, shortened, wrap_errors
from headlight.paths import MAX_JSON_BYTES, read_regular

TRANSFORMER_CONFIG, POOLING_CONFIG = "sentence_bert_config.json", f"{POOLING_FOLDER}/config.json"
_OLD_TRANSFORMERS = ("BERT", "RoBERTa", "DistilBERT", "ALBERT", "XLMRoBERTa", "CamemBERT")  # classes of old files
Hidden = Float[Tensor, "*batch token d_model"]


def _mean(hidden: Hidden) -> Tensor:
    return torch.full_like(hidden, 1 / hidden.shape[-2])


def _one_token(position: int) -> Callable[[Hidden], Tensor]:
    def shares(hidden: Hidden) -> Tensor:
        found = torch.zeros_like(hidden)
        found[..., position, :] = 1.0
        return found

    return shares


def _maximum(hidden: Hidden) -> Tensor:
    """For each channel, the token with the largest value."""
    return torch.zeros_like(hidden).scatter(-2, hidden.argmax(-2, keepdim=True), 1.0)


def _later_more(hidden: Hidden) -> Tensor:
    """Each token in proportion to its position, counted from 1 (Muennighoff 2022)."""
    places = torch.arange(1, hidden.shape[-2] + 1, dtype=hidden.dtype, device=hidden.device)
    return (places / places.sum())[:, None].expand_as(hidden)


# The share of each token's channels in a sentence's vector, by the names in pooling's config.json.
POOLINGS: Mapping[str, Callable[[Hidden], Tensor]] = {
    "mean": _mean,
    "cls": _one_token(0),
    "lasttoken": _one_token(-1),
    "max": _maximum,
    "weightedmean": _later_more,
    "mean_sqrt_len_tokens": lambda hidden: _mean(hidden) * hidden.shape[-2] ** 0.5,
}

_OLD_FIELDS = {mode: f"pooling_mode_{mode}_tokens" for mode in ("mean", "max", "weightedmean")} | {
    "cls": "pooling_mode_cls_token",
    "lasttoken": "pooling_mode_lasttoken",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
}


@dataclass(frozen=True)
class SentencePooling:
    """The settings of a sentence encoder, from a folder of sentence-transformers.

    `normalized`: whether vectors have the length 1; `lowercase`: whether texts are lowercased; `max_tokens`: the most
    tokens of a text that are read (0: the model's limit).
    """

    mode: str = "mean"
    normalized: bool = False
    lowercase: bool = False
    max_tokens: int = 0


def read_sentence_pooling(folder: Path, name: str = "") -> SentencePooling:
    """From modules.json and the files that it names; the mean of all tokens if there is no such file.

    Raises CheckpointError, with the folder's `name`, for modules that are not supported.
    """
    name = name or display_name(folder)
    folder = encoder_folder(folder)
    if not (folder / MODULES).is_file():
        return SentencePooling()
    modules = _module_kinds(folder, name)
    if modules not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        told = ", ".join(shortened(kind, 40) for kind in modules)
        raise CheckpointError(f"{name} consists of {told}; supported are Transformer, Pooling and Normalize.")
    pooling = ConfigReader(read_json(folder / POOLING_CONFIG, name), name)
    if pooling.has("pooling_mode"):
        modes = [pooling.string("pooling_mode")]
    else:
        modes = [mode for mode in POOLINGS if pooling.boolean(_OLD_FIELDS[mode], False)]
    if len(modes) != 1 or modes[0] not in POOLINGS:
        told = " and ".join(modes) or "none"
        raise CheckpointError(f"{name}: its pooling is {shortened(told)}; wanted one of {', '.join(POOLINGS)}.")
    path = transformer_folder(folder) / TRANSFORMER_CONFIG
    reading = ConfigReader(read_json(path, name) if path.is_file() else {}, name)
    lowercase, longest = reading.boolean("do_lower_case", False), reading.integer("max_seq_length", 0)
    return SentencePooling(modes[0], "Normalize" in modules, lowercase, longest)


def is_sentence_encoder(folder: Path) -> bool:
    """Whether a folder, or the one around an old encoder's transformer, has the files of sentence-transformers."""
    return (encoder_folder(folder) / MODULES).is_file()


def encoder_folder(folder: Path) -> Path:
    """The folder of a sentence encoder: the one around its transformer's if that has a folder of its own."""
    is_inside = folder.name.startswith("0_") and (folder.parent / MODULES).is_file()
    return folder.parent if is_inside else folder


def _module_kinds(folder: Path, name: str) -> list[str]:
    """The classes of a model's modules, without their packages."""
    with wrap_errors(CheckpointError, f"{name}: its {MODULES} cannot be read"):
        modules = json.loads(read_regular(folder / MODULES, MAX_JSON_BYTES))
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise CheckpointError(f"{name}: its {MODULES} is not a list of modules.")
    kinds = (str(module.get("type", "")).rpartition(".")[2] for module in modules)
    return ["Transformer" if kind in _OLD_TRANSFORMERS else kind for kind in kinds]
