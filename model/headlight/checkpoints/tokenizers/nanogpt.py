"""The characters of a model that nanoGPT trained, from the meta.pkl that its data preparation writes.

A pickle can run any program, so this one is read by an unpickler that knows no class and no function: what is left are
dictionaries, texts and numbers.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any, NoReturn

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers

from headlight.errors import CheckpointError
from headlight.paths import read_regular

META_FILE = "meta.pkl"
MAX_META_BYTES = 8 << 20  # more than all of Unicode
_FIELDS = ("stoi", "itos", "vocab_size")


class _PlainUnpickler(pickle.Unpickler):
    """Reads a pickle without classes, functions and references to other files."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        """Refuse every class and function."""
        raise CheckpointError(f"it asks to run {module}.{name}; nothing in it was run")

    def persistent_load(self, pid: Any) -> NoReturn:
        """Refuse references to other files."""
        raise CheckpointError("it refers to other files")


def read_characters(path: Path, name: str) -> dict[str, int]:
    """The id of each character. Raises CheckpointError for a file that holds anything else."""
    try:
        values = _PlainUnpickler(io.BytesIO(read_regular(path, MAX_META_BYTES))).load()
    except CheckpointError as error:
        raise CheckpointError(f"{name}: its {META_FILE} cannot be read: {error}.") from error
    except Exception as error:  # a broken pickle raises any kind of error
        raise CheckpointError(f"{name}: its {META_FILE} cannot be read: it is damaged, or not a pickle.") from error
    characters = values.get("stoi") if isinstance(values, dict) and set(values) <= set(_FIELDS) else None
    if not isinstance(characters, dict) or not all(
        type(character) is str and len(character) == 1 and type(number) is int
        for character, number in characters.items()
    ):
        raise CheckpointError(f"{name}: its {META_FILE} does not number characters as nanoGPT's does.")
    if sorted(characters.values()) != list(range(len(characters))):
        raise CheckpointError(f"{name}: its {META_FILE} does not number its characters from 0.")
    return characters


def character_backend(path: Path, name: str) -> tokenizers.Tokenizer:
    """A tokenizer with one token for each character; it fails at a text with other characters."""
    backend = tokenizers.Tokenizer(models.WordLevel(read_characters(path, name), unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    backend.decoder = decoders.Fuse()
    return backend
