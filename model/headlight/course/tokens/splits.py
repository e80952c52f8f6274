"""One sentence under five kinds of tokenizer, and how the merges of BPE build a word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import tokenizers
from tokenizers import models

from headlight.errors import InputError
from headlight.paths import assets_dir
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_training import TOKENIZER_TRAINERS, train_tokenizer

MAX_TRAINING_CHARACTERS, MAX_CHARACTERS, MAX_WORD = 5_000, 500, 40


@dataclass(frozen=True)
class Split:
    """A text under one kind of tokenizer: its tokens and their ids, and how many entries the vocabulary has.

    `entries` are those of the vocabulary ("Ġcat", "##ing"), `texts` what they stand for (" cat", "ing"). `unknown`
    counts the tokens that stand for something the vocabulary does not have.
    """

    kind: str
    entries: tuple[str, ...]
    texts: tuple[str, ...]
    ids: tuple[int, ...]
    vocabulary_size: int
    unknown: int


@dataclass(frozen=True)
class MergeStep:
    """The pieces of a word after a merge: `merged` are the two joined last, the `rank`-th merge learned (from 1).

    At first no merge has been made: the pieces are the word's bytes, `merged` is empty and `rank` 0.
    """

    pieces: tuple[str, ...]
    merged: tuple[str, str] | tuple[()]
    rank: int


def small_text() -> str:
    """The text that ships with the course: some 600 words of simple sentences."""
    return (assets_dir() / "course" / "small_text.txt").read_text(encoding="utf-8")


def train_on(text: str, kind: str, vocabulary_size: int) -> Tokenizer:
    """A tokenizer of a kind of TOKENIZER_TRAINERS, trained on a text, without special tokens around what it reads.

    Raises InputError for an empty or too long text.
    """
    _check(text, "training text", MAX_TRAINING_CHARACTERS)
    return train_tokenizer(kind, [text], vocabulary_size, special_tokens=())


def split_all(training_text: str, sentence: str, vocabulary_size: int) -> tuple[Split, ...]:
    """The sentence under every kind of tokenizer, each trained on the same text with the same vocabulary size."""
    _check(sentence, "sentence", MAX_CHARACTERS)
    return tuple(_split(kind, train_on(training_text, kind, vocabulary_size), sentence) for kind in TOKENIZER_TRAINERS)


def _split(kind: str, tokenizer: Tokenizer, sentence: str) -> Split:
    encoded = tokenizer.encode(sentence)
    unknown = sum(token_id == tokenizer.unknown_id for token_id in encoded.ids)
    return Split(kind, encoded.tokens, encoded.token_texts, encoded.ids, tokenizer.vocabulary_size, unknown)


def merge_steps(tokenizer: Tokenizer, word: str) -> tuple[MergeStep, ...]:
    """How byte-level BPE builds a word, merge by merge in the order in which they were learned.

    Each step is the library's own tokenizer with the merges up to that rank and no more (Sennrich et al. 2016, section
    3.2): a merge only joins what earlier ones have made. Raises InputError for an empty or too long word.
    """
    _check(word, "word", MAX_WORD)
    learned = learned_merges(tokenizer)
    whole = "".join(tokenizer.backend.encode(word, add_special_tokens=False).tokens)
    steps = [MergeStep(_with_merges(tokenizer, (), word), (), 0)]
    for rank, (left, right) in enumerate(learned, 1):
        if left + right in whole:
            pieces = _with_merges(tokenizer, learned[:rank], word)
            if pieces != steps[-1].pieces:
                steps.append(MergeStep(pieces, (_written(tokenizer, left), _written(tokenizer, right)), rank))
    return tuple(steps)


def learned_merges(tokenizer: Tokenizer) -> tuple[tuple[str, str], ...]:
    """The merges of a BPE tokenizer as pairs of vocabulary entries, in the order in which they were learned."""
    model = json.loads(tokenizer.backend.to_str())["model"]
    return tuple((left, right) for left, right in model["merges"])


def _with_merges(tokenizer: Tokenizer, merges: Sequence[tuple[str, str]], word: str) -> tuple[str, ...]:
    """The pieces of the word under the first merges alone."""
    backend = tokenizers.Tokenizer(models.BPE(tokenizer.backend.get_vocab(), list(merges)))
    backend.pre_tokenizer, backend.decoder = tokenizer.backend.pre_tokenizer, tokenizer.backend.decoder
    return Tokenizer(backend).encode(word).token_texts


def _written(tokenizer: Tokenizer, entry: str) -> str:
    return tokenizer.token_text(tokenizer.backend.get_vocab()[entry])


def _check(text: str, what: str, limit: int) -> None:
    if not text.strip():
        raise InputError(f"The {what} is empty; type one.")
    if len(text) > limit:
        raise InputError(f"The {what} has {len(text):,} characters; at most {limit:,} are read. Shorten it.")
