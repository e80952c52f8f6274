"""The tokenizer inside a GGUF file: SentencePiece's byte pairs ("llama") or byte-level BPE ("gpt2")."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import tokenizers
from tokenizers import AddedToken, models

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.gguf_file import GgufFields
from headlight.checkpoints.tokenizers.chat_template import default_template
from headlight.checkpoints.tokenizers.open import byte_level, template
from headlight.checkpoints.tokenizers.sentencepiece import (
    CONTROL,
    SPACE,
    UNKNOWN,
    USER_DEFINED,
    SentencePieceModel,
    sentencepiece_backend,
)
from headlight.checkpoints.tokenizers.special_tokens import QWEN2_PATTERN
from headlight.errors import CheckpointError, shortened, wrap_errors
from headlight.text.chat import ChatTemplate
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_limits import MAX_ADDED_TOKEN_LENGTH, MAX_TOKEN_LENGTH

_PREFIX = "tokenizer.ggml."
_LLAMA3_PATTERN = QWEN2_PATTERN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
_GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# tokenizer.ggml.pre -> the patterns that split a text before BPE, one after the other.
_SPLIT_PATTERNS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral", "smaug-bpe"), (_LLAMA3_PATTERN,)),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "megrez"), (QWEN2_PATTERN,)),
    **dict.fromkeys(("default", "gpt-2", "olmo", "jais"), (_GPT2_PATTERN,)),
    **dict.fromkeys(("smollm", "starcoder", "refact", "command-r"), (r"\p{N}", _GPT2_PATTERN)),
}
_WHOLE_TOKENS_FIRST = ("llama-bpe", "llama3", "llama-v3")  # a word that is a token is not merged from letters
_ROLES = ("bos", "eos")
_CHAT_TEMPLATE = "tokenizer.chat_template"
_NAMED_IDS = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}  # a template's tokens -> the file's ids


def gguf_tokenizer(fields: GgufFields, name: str) -> Tokenizer:
    """The tokenizer in the fields of the file `name`. Raises CheckpointError."""
    own = {key.removeprefix(_PREFIX): value for key, value in fields.items() if key.startswith(_PREFIX)}
    values = ConfigReader(own, f"{name}, its tokenizer")
    kind = values.string("model", "none")
    if kind not in _BACKENDS:
        raise CheckpointError(f"{name}: its tokenizer is {shortened(kind)!r}; known are {', '.join(_BACKENDS)}.")
    with wrap_errors(CheckpointError, f"{name}: its tokenizer cannot be built"):
        tokens, types = _tokens(values)
        backend = _BACKENDS[kind](values, tokens, types)
        prefix, suffix = ([tokens[number] for number in _added(values, role, tokens)] for role in _ROLES)
        backend.post_processor = template(backend, prefix, suffix, name)
        tokenizer = Tokenizer(backend)
    if source := default_template(fields.get(_CHAT_TEMPLATE), name):
        tokenizer.chat_template = ChatTemplate(source, _named_tokens(values, tokens))
    return tokenizer


def _named_tokens(values: ConfigReader, tokens: list[str]) -> dict[str, str]:
    """The special tokens that a chat template may name."""
    ids = {role: values.integer(f"{theirs}_token_id", len(tokens)) for role, theirs in _NAMED_IDS.items()}
    return {f"{role}_token": tokens[number] for role, number in ids.items() if number < len(tokens)}


def gguf_tokenizer_type(fields: GgufFields) -> str:
    """The kind of the tokenizer, in a word or two."""
    return {"llama": "SentencePiece", "gpt2": "byte pairs"}.get(str(fields.get(f"{_PREFIX}model")), "")


def _tokens(values: ConfigReader) -> tuple[list[str], list[int]]:
    """The texts of the tokens in order, and their types."""
    tokens = values.list_of("tokens", str)
    types = values.list_of("token_type", int) or [1] * len(tokens)
    if not tokens or len(types) != len(tokens):
        raise CheckpointError(f"{values.name} has {len(tokens):,} tokens and {len(types):,} types of tokens.")
    for token, kind in zip(tokens, types, strict=True):
        allowed = MAX_TOKEN_LENGTH if kind not in (UNKNOWN, CONTROL, USER_DEFINED) else MAX_ADDED_TOKEN_LENGTH
        if len(token) > allowed:
            raise CheckpointError(f"{values.name} has a token of {len(token):,} characters; {allowed:,} are allowed.")
    return tokens, types


def _added(values: ConfigReader, role: str, tokens: list[str]) -> list[int]:
    """A list with the token of a role if it is added to every text, else empty."""
    adds = role == "bos" and (values.string("model") == "llama" or values.string("pre", "") in _WHOLE_TOKENS_FIRST)
    if not values.boolean(f"add_{role}_token", adds) or not values.has(f"{role}_token_id"):
        return []
    number = values.integer(f"{role}_token_id")
    if number >= len(tokens):
        raise CheckpointError(f"{values.name}: its {role}_token_id is {number}, but it has {len(tokens):,} tokens.")
    return [number]


def _sentencepiece(values: ConfigReader, tokens: list[str], types: list[int]) -> tokenizers.Tokenizer:
    scores = values.list_of("scores", float) or [0.0] * len(tokens)
    if len(scores) != len(tokens):
        raise CheckpointError(f"{values.name} has {len(tokens):,} tokens and {len(scores):,} scores.")
    # Gemma's runs of spaces are stored as spaces.
    texts = [token.replace(" ", SPACE) if not token.strip(" ") else token for token in tokens]
    pieces = SentencePieceModel(
        tuple(texts),
        tuple(scores),
        tuple(types),
        byte_fallback=any(re.fullmatch("<0x[0-9A-F]{2}>", token) for token in tokens),
        add_dummy_prefix=values.boolean("add_space_prefix", True),
        remove_extra_whitespaces=values.boolean("remove_extra_whitespaces", False),
    )
    return sentencepiece_backend(pieces, values.name)


def _byte_pairs(values: ConfigReader, tokens: list[str], types: list[int]) -> tokenizers.Tokenizer:
    kind = values.string("pre", "default")
    if kind not in _SPLIT_PATTERNS:
        known = ", ".join(_SPLIT_PATTERNS)
        raise CheckpointError(f"{values.name} splits texts as {shortened(kind)!r}; known are {known}.")
    merges = [merge.partition(" ") for merge in values.list_of("merges", str)]
    numbers = {token: number for number, token in enumerate(tokens)}
    model = models.BPE(numbers, [(left, right) for left, _, right in merges], ignore_merges=kind in _WHOLE_TOKENS_FIRST)
    patterns = _SPLIT_PATTERNS[kind]
    backend = byte_level(model, patterns, nfc=QWEN2_PATTERN in patterns)
    special = [token for token, each in zip(tokens, types, strict=True) if each == CONTROL]
    backend.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    own = [token for token, each in zip(tokens, types, strict=True) if each == USER_DEFINED]
    backend.add_tokens([AddedToken(token, special=False, normalized=False) for token in own])
    return backend


_BACKENDS: Mapping[str, Callable[[ConfigReader, list[str], list[int]], tokenizers.Tokenizer]] = {
    "llama": _sentencepiece,
    "gpt2": _byte_pairs,
}
