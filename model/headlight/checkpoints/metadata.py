"""Metadata of a checkpoint, read from its config, file headers and model card, without its weights."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.convert import reject_unsupported
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.file_rules import EXAMPLES
from headlight.checkpoints.load import FLOAT32_BYTES, MODEL_TYPE, meta_model_within, native_config, read_card
from headlight.checkpoints.source import CheckpointSource, display_name, open_source
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.tokenizers.open import legacy_tokenizer_type
from headlight.checkpoints.weight_mapping import make_plan
from headlight.config import Config
from headlight.errors import CheckpointError, shortened, wrap_errors
from headlight.paths import MAX_JSON_BYTES, read_regular
from headlight.tasks import Example
from headlight.text.tokenizer import TOKENIZER_FILE
from headlight.validation import from_plain

MAX_CARD_WORDS = 60  # characters of a value in a card's front matter
NO_MEMORY_LIMIT = 1 << 62  # a model too large for this machine has metadata all the same
TOKENIZER_TYPES = {"BPE": "byte pairs", "WordPiece": "WordPiece", "Unigram": "Unigram", "WordLevel": "words"}
_TYPE_PATTERN = re.compile(rb'"model"\s*:\s*\{[^{}\[\]]*?"type"\s*:\s*"(\w{1,20})"')
_LICENCE_LIST_PATTERN = re.compile(r"^licen[cs]e:[ \t]*\n((?:[ \t]*- .+\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class CheckpointMetadata:
    """What is known about a checkpoint before it is loaded; `memory_bytes` is for float32.

    `purpose` is what the model does, in the few words of its card (`purpose: Sorts numbers`); most cards say nothing.
    `series` is what models have in common that differ in one part alone, trained alike but for it; its card names it.
    Where it cannot be loaded, `error` says why, `config` is None, and unknown fields are empty or 0.
    """

    family: str
    config: Config | None
    parameter_count: int
    tokenizer: str
    licence: str
    error: str = ""
    purpose: str = ""
    series: str = ""

    @property
    def memory_bytes(self) -> int:
        """What its parameters take in memory."""
        return FLOAT32_BYTES * self.parameter_count


def read_metadata(folder: Path, name: str = "") -> CheckpointMetadata:
    """The metadata of a folder; no weight is read. `error` describes a problem and calls the checkpoint `name`."""
    name = name or display_name(folder)
    licence = purpose = series = family = tokenizer = ""
    try:
        with wrap_errors(CheckpointError, f"{name} cannot be opened"):  # a damaged folder must not end a listing
            card = read_card(folder)
            licence, purpose, series = card_licence(card), card_purpose(card), card_series(card)
            source = open_source(folder, name)
            family = shortened(str(source.config_json.get("model_type") or ""))
            tokenizer = tokenizer_type(source.folder)
            config = _config_from_tensor_names(source)
            model = meta_model_within(config, source.name, NO_MEMORY_LIMIT)
    except CheckpointError as error:
        return CheckpointMetadata(family, None, 0, tokenizer, licence, str(error), purpose, series)
    parameter_count = sum(parameter.numel() for parameter in model.parameters())
    return CheckpointMetadata(family, config, parameter_count, tokenizer, licence, purpose=purpose, series=series)


@dataclass(frozen=True)
class _ExamplesFile:
    examples: tuple[Example, ...]


def read_examples(folder: Path) -> tuple[Example, ...]:
    """The texts to begin with that lie beside a checkpoint, in `examples.json`; none where there is no such file.

    Raises CheckpointError for a file that cannot be read.
    """
    path = folder / EXAMPLES
    if not path.is_file():
        return ()
    with wrap_errors(CheckpointError, f"{display_name(folder)}: its {EXAMPLES} cannot be read"):
        values = {"examples": json.loads(read_regular(path, MAX_JSON_BYTES))}
        return from_plain(_ExamplesFile, values, "example", CheckpointError).examples


def _config_from_tensor_names(source: CheckpointSource) -> Config:
    """The Config from tensor names alone; only `load` compares two tensors that may be tied."""
    if source.config_json.get("model_type") == MODEL_TYPE:
        return native_config(source)
    fields = ConfigReader(source.config_json, source.name)
    reject_unsupported(fields, fields.string("model_type", ""))
    return make_plan(FAMILIES[fields.string("model_type")], fields, _tensor_names(source)).config


def _tensor_names(source: CheckpointSource) -> LazyTensors:
    """The tensor names; none where they are only known after a whole pickle is read."""
    pickles = [path for path in source.folder.glob("pytorch_model*.bin") if path.is_file()]
    needs_full_read = not any(source.folder.glob("*.safetensors")) and not all(map(zipfile.is_zipfile, pickles))
    return LazyTensors({}) if needs_full_read else source.open_tensors()


def tokenizer_type(folder: Path) -> str:
    """The kind of tokenizer in a folder, in a word or two; empty where there is none."""
    if (folder / TOKENIZER_FILE).is_file():
        kind = _TYPE_PATTERN.search(read_regular(folder / TOKENIZER_FILE, MAX_JSON_BYTES))
        return TOKENIZER_TYPES.get(kind[1].decode(), kind[1].decode()) if kind else TOKENIZER_FILE
    return legacy_tokenizer_type(folder)


def card_licence(text: str) -> str:
    """The licence in a model card's front matter; empty where it names none."""
    front_matter = _front_matter(text)
    listed = _LICENCE_LIST_PATTERN.search(front_matter + "\n")
    if listed:
        return ", ".join(line.strip(" \t-'\"") for line in listed[1].strip().splitlines())[:MAX_CARD_WORDS]
    return _first_value("licen[cs]e", front_matter)


def card_purpose(text: str) -> str:
    """What a model does, in a few words of its card's front matter; empty where it says nothing."""
    return _first_value("purpose", _front_matter(text))


def card_series(text: str) -> str:
    """What models have in common that were trained alike but for one part, in a card's front matter."""
    return _first_value("series", _front_matter(text))


def _front_matter(text: str) -> str:
    """The lines between the first two `---` of a model card."""
    found = re.match(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", text, re.DOTALL)
    return found[1] if found else ""


def _first_value(field: str, front_matter: str) -> str:
    found = re.search(rf"^{field}:[ \t]*(\S.*)$", front_matter, re.MULTILINE)
    return found[1].strip(" \t[]'\"")[:MAX_CARD_WORDS] if found else ""
