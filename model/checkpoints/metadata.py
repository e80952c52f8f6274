"""What can be told of a checkpoint before it is opened: from its config, the heads of its files and its card."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from model.checkpoints.config_reader import Fields
from model.checkpoints.convert import refuse_special
from model.checkpoints.families import FAMILIES
from model.checkpoints.files.tensor_files import Tensors
from model.checkpoints.load import FORMAT, card_of, own_config
from model.checkpoints.memory import unallocated
from model.checkpoints.source import Contents, contents
from model.checkpoints.tokenizers.open import kind_of
from model.checkpoints.weight_mapping import plan
from model.config import Config
from model.errors import CheckpointError
from model.text.tokenizer import FILE

ANY_SIZE = 1 << 62  # bytes; what is too large for this machine is told all the same
TYPES = {"BPE": "byte pairs", "WordPiece": "WordPiece", "Unigram": "Unigram", "WordLevel": "words"}
_TYPE = re.compile(rb'"model"\s*:\s*\{[^{}\[\]]*?"type"\s*:\s*"(\w{1,20})"')
_LICENCE = re.compile(r"^licen[cs]e:[ \t]*(\S.*)$", re.MULTILINE)
_LISTED = re.compile(r"^licen[cs]e:[ \t]*\n((?:[ \t]*- .+\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Facts:
    """A checkpoint as its card on a page shows it; sizes are counts, and bytes in float32 once it is open.

    Where it cannot be opened, `problem` says why, `config` is None, and what is not known is empty or 0.
    """

    family: str
    config: Config | None
    parameters: int
    memory: int
    tokenizer: str
    licence: str
    problem: str = ""


def facts(folder: Path, name: str = "") -> Facts:
    """Look at a folder; no weight is read. Whatever is wrong with it stands in `problem`, which calls it `name`."""
    licence = licence_of(card_of(folder))
    try:
        found = contents(folder, name)
    except CheckpointError as error:
        return Facts("", None, 0, 0, "", licence, str(error))
    family, tokenizer = str(found.values.get("model_type") or ""), tokenizer_of(found.folder)
    try:
        config = _config(found)
        parameters = sum(parameter.numel() for parameter in unallocated(config, found.name, ANY_SIZE).parameters())
    except CheckpointError as error:
        return Facts(family, None, 0, 0, tokenizer, licence, str(error))
    return Facts(family, config, parameters, 4 * parameters, tokenizer, licence)


def _config(found: Contents) -> Config:
    """The config by the names of the tensors alone; only `load` compares two weights that may be one."""
    if found.values.get("model_type") == FORMAT:
        return own_config(found)
    fields = Fields(found.values, found.name)
    refuse_special(fields, fields.word("model_type", ""))
    return plan(FAMILIES[fields.word("model_type")], fields, _names(found)).config


def _names(found: Contents) -> Tensors:
    """The tensors by name; none where only reading a whole pickle would tell them."""
    pickles = [*found.folder.glob("pytorch_model*.bin")]
    whole = not any(found.folder.glob("*.safetensors")) and not all(map(zipfile.is_zipfile, pickles))
    return Tensors({}) if whole else found.tensors()


def tokenizer_of(folder: Path) -> str:
    """What kind of tokenizer lies in a folder, in a word or two; empty where there is none."""
    if (folder / FILE).is_file():
        kind = _TYPE.search((folder / FILE).read_bytes())
        return TYPES.get(kind[1].decode(), kind[1].decode()) if kind else FILE
    return kind_of(folder)


def licence_of(text: str) -> str:
    """The licence that the head of a model card names, empty where it names none."""
    head = re.match(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", text, re.DOTALL)
    if not head:
        return ""
    listed = _LISTED.search(head[1] + "\n")
    if listed:
        return ", ".join(line.strip(" \t-'\"") for line in listed[1].strip().splitlines())[:60]
    named = _LICENCE.search(head[1])
    return named[1].strip(" \t[]'\"")[:60] if named else ""
