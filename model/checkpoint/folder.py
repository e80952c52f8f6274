"""One checkpoint folder: `config.json`, `model.safetensors`, `tokenizer.json`, and `README.md` as its model card."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialized
from torch import Tensor

from model.config import Config
from model.errors import CheckpointError, ConfigError, HeadlightError
from model.tokenizer import Tokenizer
from model.transformer import Transformer

FORMAT = "headlight"
CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Loaded:
    """An open checkpoint: the model, its tokenizer, and the text of its card (empty where there is none)."""

    model: Transformer
    tokenizer: Tokenizer
    card: str


def load(folder: str | Path, *, device: str = "auto", dtype: str = "float32") -> Loaded:
    """Open a folder. Weights may be float32, bfloat16 or float16 on disk; they are computed in `dtype`.

    Raises CheckpointError with one sentence for whatever does not fit; nothing in the folder is ever run.
    """
    folder = Path(folder)
    config = read_config(folder)
    tokenizer = Tokenizer.load(folder)
    if tokenizer.size > config.vocabulary:
        raise CheckpointError(
            f"{folder.name}: its tokenizer has {tokenizer.size} tokens, its config only {config.vocabulary}."
        )
    with torch.device("meta"):
        model = Transformer(config)
    model.load_state_dict(_weights(folder, model, choose_device(device), _dtype(dtype)), assign=True)
    model.tie()
    card = folder / CARD
    text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
    return Loaded(model.requires_grad_(False).eval(), tokenizer, text)


def save(
    folder: str | Path, model: Transformer, tokenizer: Tokenizer, *, dtype: str = "bfloat16", card: str = ""
) -> None:
    """Write a model as a folder that `load` opens; weights are rounded to `dtype`, a tied one is written once."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        name: parameter.detach().to("cpu", _dtype(dtype)).contiguous()
        for name, parameter in model.named_parameters()  # which gives a shared parameter once
    }
    unfinished = folder / f"{WEIGHTS}.part"
    unfinished.write_bytes(serialized(tensors, metadata={"format": "pt"}))  # save_file would shut others out
    config = {"model_type": FORMAT, "dtype": dtype, **model.config.to_dict()}
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    tokenizer.save(folder)
    if card:
        (folder / CARD).write_text(card, encoding="utf-8")
    os.replace(unfinished, folder / WEIGHTS)  # so that a killed save leaves the old weights whole


def read_config(folder: Path) -> Config:
    """The config of a folder. Raises CheckpointError where it is missing, no JSON, or not ours."""
    try:
        values: Any = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"{folder.name or folder} is no checkpoint: it holds no readable {CONFIG}.") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{folder.name}: its {CONFIG} is no JSON: {error}.") from error
    if not isinstance(values, dict) or values.get("model_type") != FORMAT:
        kind = values.get("model_type") if isinstance(values, dict) else None
        raise CheckpointError(
            f"{folder.name}: its {CONFIG} says model_type {kind!r}; this version opens {FORMAT!r} only."
        )
    fields = {name: value for name, value in values.items() if name not in ("model_type", "dtype")}
    try:
        return Config.from_dict(fields)
    except ConfigError as error:
        raise CheckpointError(f"{folder.name}: {error}") from error


def choose_device(device: str = "auto") -> torch.device:
    """`auto` is CUDA where there is one, else Apple's MPS, else the CPU. Raises CheckpointError for any that is not."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    match = re.fullmatch(r"(\w+)(?::(\d{1,9}))?", device, re.ASCII)
    if not match or int(match[2] or 0) >= there.get(match[1], 0):
        known = ", ".join(["auto", *(name for name, count in there.items() if count)])
        raise CheckpointError(f"There is no device {device!r} here; possible are {known}.")
    return torch.device(device)


def _weights(folder: Path, model: Transformer, device: torch.device, dtype: torch.dtype) -> dict[str, Tensor]:
    """The tensors of the folder by our names, each checked for its shape."""
    wanted = model.state_dict()
    once = dict(model.named_parameters())
    shared = {name for name in wanted if name not in once}
    path = folder / WEIGHTS
    if not path.is_file():
        raise CheckpointError(f"{folder.name} holds no {WEIGHTS}.")
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{folder.name}: its {WEIGHTS} cannot be read: {error}.") from error
    _check_names(folder, set(once), set(found))
    for name, parameter in once.items():
        if found[name].shape != parameter.shape:
            raise CheckpointError(
                f"{folder.name}: {name} is {tuple(found[name].shape)}; the config wants {tuple(parameter.shape)}."
            )
    tensors = {name: found[name].to(device, dtype) for name in once}
    return tensors | {name: tensors["embedding.weight"] for name in shared}


def _check_names(folder: Path, wanted: set[str], found: set[str]) -> None:
    missing, unexpected = sorted(wanted - found), sorted(found - wanted)
    if missing or unexpected:
        told = [f"missing {', '.join(missing)}"] if missing else []
        told += [f"unexpected {', '.join(unexpected)}"] if unexpected else []
        raise CheckpointError(f"{folder.name}: its weights do not fit its config: {'; '.join(told)}.")


def _dtype(name: str) -> torch.dtype:
    if name not in DTYPES:
        raise HeadlightError(f"There is no dtype {name!r}. Known: {', '.join(DTYPES)}.")
    return DTYPES[name]
