"""Special tokens by role (bos, eos, unk, ...), and tokens added to the vocabulary.

Read from tokenizer_config.json, special_tokens_map.json and added_tokens.json, all of them optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.errors import CheckpointError
from headlight.text.tokenizer_limits import MAX_ADDED_TOKEN_LENGTH

ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP, ADDED_TOKENS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
UNNAMED_TOKEN_FIELDS = ("additional_special_tokens", "extra_special_tokens")
_FLAGS = ("lstrip", "rstrip", "single_word", "normalized")


@dataclass(frozen=True)
class SpecialTokens:
    """Special tokens by role, those without a role, and all tokens added to the vocabulary, in order."""

    roles: Mapping[str, AddedToken]
    unnamed: tuple[AddedToken, ...] = ()
    added: tuple[AddedToken, ...] = field(default=())

    def token(self, role: str) -> str | None:
        """The token of a role; None where it has none."""
        return self.roles[role].content if role in self.roles else None


def read_tokenizer_config(folder: Path, name: str) -> ConfigReader:
    """The folder's tokenizer_config.json; empty where there is none."""
    path = folder / TOKENIZER_CONFIG
    return ConfigReader(read_json(path, name) if path.is_file() else {}, name)


def read_special_tokens(folder: Path, fields: ConfigReader, defaults: Mapping[str, AddedToken]) -> SpecialTokens:
    """The special tokens of a folder, with `defaults` where no file says. Raises CheckpointError for invalid files."""
    decoder, name = fields.nested("added_tokens_decoder"), fields.name
    named = dict(fields.values)
    if decoder is None and (folder / SPECIAL_TOKENS_MAP).is_file():
        named |= read_json(folder / SPECIAL_TOKENS_MAP, name)
    roles = dict(defaults)
    for role in ROLES:
        if f"{role}_token" in named:
            token = _token(named[f"{role}_token"], name, special=True)
            roles.pop(role, None)
            roles |= {role: token} if token else {}
    unnamed = tuple(
        _required_token(item, name) for more in UNNAMED_TOKEN_FIELDS for item in _token_list(named.get(more), name)
    )
    special = {token.content for token in (*roles.values(), *unnamed)}
    added = _from_added_tokens_decoder(decoder.values if decoder else {}, name) or _from_added_tokens_file(
        folder, name, special
    )
    known = {token.content: token for token in added}
    return SpecialTokens(
        {role: known.get(token.content, token) for role, token in roles.items()}, unnamed, tuple(added)
    )


def add_special_tokens(
    backend: tokenizers.Tokenizer, special_tokens: SpecialTokens, appended: tuple[str, ...] = ()
) -> None:
    """Make a tokenizer recognize special tokens in a text.

    Added and `appended` tokens come after the vocabulary. Other tokens that the vocabulary lacks are left out: the
    model has no embedding for them.
    """
    present = {token.content for token in backend.get_added_tokens_decoder().values()}  # a .model file's own
    for token in special_tokens.added:
        (backend.add_special_tokens if token.special else backend.add_tokens)([token])
    for token in (*special_tokens.roles.values(), *special_tokens.unnamed):
        known = token.content in appended or backend.token_to_id(token.content) is not None
        if known and token.content not in present:
            backend.add_special_tokens([token])


def _token(value: Any, name: str, special: bool) -> AddedToken | None:
    """A token as files write it: a string, or an object with flags; None for null."""
    if value is None:
        return None
    content = value.get("content") if isinstance(value, dict) else value
    if isinstance(content, str) and len(content) > MAX_ADDED_TOKEN_LENGTH:
        raise CheckpointError(f"{name}: its tokenizer files have a token of {len(content):,} characters.")
    if isinstance(value, str) and value:
        return AddedToken(value, special=special, normalized=not special)
    if isinstance(value, dict) and isinstance(content, str) and content:
        flags = {flag: value[flag] for flag in _FLAGS if isinstance(value.get(flag), bool)}
        return AddedToken(content, special=bool(value.get("special", special)), **flags)
    raise CheckpointError(
        f"{name}: its tokenizer files give {str(value)[:60]!r} as a token; wanted a text, or an object with content."
    )


def _required_token(value: Any, name: str) -> AddedToken:
    token = _token(value, name, special=True)
    if token is None:
        raise CheckpointError(f"{name}: its tokenizer files list a special token without a name.")
    return token


def _token_list(value: Any, name: str) -> list[Any]:
    """Special tokens without a role: a list, or the values of an object."""
    if value is None:
        return []
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    raise CheckpointError(f"{name}: its tokenizer files have special tokens that are no list.")


def _from_added_tokens_decoder(values: Mapping[str, Any], name: str) -> list[AddedToken]:
    """From `added_tokens_decoder`, by number."""
    if not all(number.isdecimal() and len(number) < 10 for number in values):
        raise CheckpointError(f"{name}: its added_tokens_decoder has a key that is no token id.")
    tokens = [_token(values[number], name, special=False) for number in sorted(values, key=int)]
    return [token for token in tokens if token]


def _from_added_tokens_file(folder: Path, name: str, special: set[str]) -> list[AddedToken]:
    """From added_tokens.json, which only has names and numbers."""
    path = folder / ADDED_TOKENS
    if not path.is_file():
        return []
    numbers = read_json(path, name)
    if not all(type(number) is int and 0 < len(word) <= MAX_ADDED_TOKEN_LENGTH for word, number in numbers.items()):
        raise CheckpointError(f"{name}: its {ADDED_TOKENS} has a token without an id.")
    return [
        AddedToken(word, special=word in special, normalized=word not in special)
        for word in sorted(numbers, key=lambda word: numbers[word])
    ]
