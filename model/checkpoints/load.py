"""One checkpoint folder: `config.json`, `model.safetensors`, `tokenizer.json`, and `README.md` as its model card."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save as serialized

from model.checkpoints.convert import look_into, pour
from model.checkpoints.files.file_rules import is_program
from model.checkpoints.memory import unallocated
from model.checkpoints.source import CONFIG, Contents, contents
from model.checkpoints.tokenizers.open import open_tokenizer
from model.checkpoints.weight_mapping import listed
from model.config import Config
from model.errors import CheckpointError, ConfigError, HeadlightError
from model.nn.transformer import Transformer
from model.text.tokenizer import Tokenizer
from model.vision.patches import class_token

FORMAT = "headlight"
WEIGHTS, CARD = "model.safetensors", "README.md"
LONGEST_CARD = 200_000  # characters of a card that are read
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Loaded:
    """An open checkpoint: the model, its tokenizer, the text of its card (empty where there is none).

    `notes` are sentences about how the checkpoint's weights were used.
    """

    model: Transformer
    tokenizer: Tokenizer
    card: str
    notes: tuple[str, ...] = ()


def load(
    folder: str | Path, *, name: str = "", device: str = "auto", dtype: str = "float32", limit: int | None = None
) -> Loaded:
    """Open a folder, ours or of any family in FAMILIES. Weights may be float32, bfloat16 or float16 on disk; they are
    computed in `dtype` and may take `limit` bytes (None: what memory is free).

    Raises CheckpointError with one sentence for whatever does not fit, which calls the folder `name` (without one by
    its own name) and shows no path; nothing in the folder is ever run.
    """
    found = contents(Path(folder), name)
    place, number = choose_device(device), _dtype(dtype)
    source = None if found.values.get("model_type") == FORMAT else look_into(found)
    config = own_config(found) if source is None else source.plan.config
    model = unallocated(config, found.name, limit)
    kind = str(found.values.get("model_type"))
    tokenizer = class_token() if config.picture.channels else open_tokenizer(found.folder, kind, found.name)
    if tokenizer.size > config.vocabulary:
        raise CheckpointError(
            f"{found.name}: its tokenizer has {tokenizer.size} tokens, its config only {config.vocabulary}."
        )
    notes = _fill(found, model, place, number) if source is None else pour(source, model, place, number)
    return Loaded(model.requires_grad_(False).eval(), tokenizer, card_of(found.folder), (*notes, *_code(found)))


def card_of(folder: Path) -> str:
    """The text of a folder's model card, empty where there is none."""
    try:
        with (folder / CARD).open(encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST_CARD)
    except OSError:
        return ""


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


def read_config(folder: Path, name: str = "") -> Config:
    """The config of a checkpoint, by a look at its config and the names of its tensors. Raises CheckpointError."""
    found = contents(folder, name)
    return own_config(found) if found.values.get("model_type") == FORMAT else look_into(found).plan.config


def own_config(found: Contents) -> Config:
    """The config of a folder that `save` wrote."""
    fields = {name: value for name, value in found.values.items() if name not in ("model_type", "dtype")}
    try:
        return Config.from_dict(fields)
    except ConfigError as error:
        raise CheckpointError(f"{found.name}: {error}") from error


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


def _fill(found: Contents, model: Transformer, device: torch.device, dtype: torch.dtype) -> tuple[str, ...]:
    """Give a model of ours the tensors of its folder, each checked for its name and shape."""
    once, stored = dict(model.named_parameters()), found.tensors()
    _check_names(found.name, set(once), set(stored))
    tensors = {}
    for name, parameter in once.items():
        tensor = stored[name]
        if tensor.shape != parameter.shape:
            raise CheckpointError(
                f"{found.name}: {name} is {tuple(tensor.shape)}; the config wants {tuple(parameter.shape)}."
            )
        tensors[name] = tensor.to(device, dtype)
    shared = {name: tensors["embedding.weight"] for name in model.state_dict() if name not in once}
    model.load_state_dict(tensors | shared, assign=True)
    model.tie()
    return ()


def _code(found: Contents) -> tuple[str, ...]:
    """What to say of programs that came with a checkpoint."""
    told = []
    if found.values.get("auto_map"):
        told.append("Its config names a program of its own (auto_map), which is not run; the family's rules hold.")
    if names := sorted(path.name for path in found.folder.iterdir() if is_program(path.name)):
        count = "1 file is a program and is" if len(names) == 1 else f"{len(names)} files are programs and are"
        told.append(f"{count} ignored: {listed(names)}.")
    return tuple(told)


def _check_names(name: str, wanted: set[str], found: set[str]) -> None:
    missing, unexpected = sorted(wanted - found), sorted(found - wanted)
    if missing or unexpected:
        told = [f"missing {', '.join(missing)}"] if missing else []
        told += [f"unexpected {', '.join(unexpected)}"] if unexpected else []
        raise CheckpointError(f"{name}: its weights do not fit its config: {'; '.join(told)}.")


def _dtype(name: str) -> torch.dtype:
    if name not in DTYPES:
        raise HeadlightError(f"There is no dtype {name!r}. Known: {', '.join(DTYPES)}.")
    return DTYPES[name]
