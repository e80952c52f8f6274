"""The characters of a model that nanoGPT trained, from the meta.pkl that its data preparation writes.

A pickle can run any program, or take any time and memory, so only dictionaries, lists, texts and numbers are read.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from pathlib import Path
from typing import NoReturn

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers

from headlight.checkpoints.file_rules import META_FILE
from headlight.errors import CheckpointError
from headlight.paths import read_regular

MAX_META_BYTES = 8 << 20  # enough for all characters that Unicode assigns
# Operations of a pickle without those that make tuples: as keys of a dictionary, nested ones would be hashed for ever.
_NUMBERED = ("PUT", "BINPUT", "LONG_BINPUT")
_ALLOWED = {
    *("PROTO", "FRAME", "MARK", "STOP", "MEMOIZE", "GET", "BINGET", "LONG_BINGET", *_NUMBERED),
    *("EMPTY_DICT", "DICT", "SETITEM", "SETITEMS", "EMPTY_LIST", "LIST", "APPEND", "APPENDS"),
    *("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "FLOAT", "BINFLOAT"),
}


class _PlainUnpickler(pickle.Unpickler):
    """Reads a pickle without classes and functions."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        """Refuse every class and function."""
        raise CheckpointError(f"it asks to run {module}.{name}; nothing in it was run")


def _require_plain(content: bytes) -> None:
    """Raise CheckpointError for a pickle with other operations, and for a number that would reserve much memory."""
    for operation, argument, _ in pickletools.genops(content):
        if operation.name not in _ALLOWED or (operation.name in _NUMBERED and (argument or 0) > len(content)):
            raise CheckpointError("it holds more than dictionaries, texts and numbers; nothing in it was run")


def read_characters(path: Path, name: str) -> dict[str, int]:
    """The id of each character. Raises CheckpointError for a file that holds anything else."""
    try:
        content = read_regular(path, MAX_META_BYTES)
        _require_plain(content)
        values = _PlainUnpickler(io.BytesIO(content)).load()
    except CheckpointError as error:
        raise CheckpointError(f"{name}: its {META_FILE} cannot be read: {error}.") from error
    except Exception as error:  # a broken pickle raises any kind of error
        raise CheckpointError(f"{name}: its {META_FILE} cannot be read: it is damaged, or not a pickle.") from error
    characters = values.get("stoi") if isinstance(values, dict) else None
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
