"""A tokenizer of a stranger cannot make a text longer than memory; honest ones are left alone."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import tokenizers
from tokenizers import Regex, decoders, models, normalizers

from model.errors import CheckpointError, TextError
from model.text.normalization_limits import MAX_CHARACTERS, NormalizationLimit
from model.text.tokenizer import Tokenizer

DOUBLING = normalizers.Sequence([normalizers.Replace("a", "aa") for _ in range(40)])
NESTED = normalizers.Sequence([normalizers.Sequence([DOUBLING]), normalizers.NFC()])
EMPTY = normalizers.Sequence([normalizers.Replace(Regex(""), "a" * 200) for _ in range(6)])
PREPENDED = normalizers.Sequence([normalizers.Prepend("a" * 1_000_000) for _ in range(9)])


def charsmap(longest: int) -> normalizers.Normalizer:
    """A table that may put a long string in a character's place."""
    return normalizers.Precompiled(struct.pack("<I", 0) + b"a" * longest + b"\0")


@pytest.mark.parametrize("normalizer", [DOUBLING, NESTED, EMPTY, PREPENDED], ids=["double", "nested", "empty", "front"])
def test_what_would_fill_the_memory_is_refused_before_it_does(normalizer: normalizers.Normalizer) -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    backend.normalizer = normalizer
    with pytest.raises(TextError, match="of more than 4,000,000 characters"):
        Tokenizer(backend).encode("banana")


def test_a_table_that_only_may_is_refused_for_texts_that_are_too_long_for_it() -> None:
    growth = NormalizationLimit(charsmap(100_000))
    growth.check("a" * 40)
    with pytest.raises(TextError):
        growth.check("a" * 41)


def test_steps_that_do_nothing_to_a_text_do_not_count() -> None:
    NormalizationLimit(DOUBLING).check("b" * 1_000)
    with pytest.raises(TextError):
        NormalizationLimit(DOUBLING).check("b" * 1_000 + "a")


def test_honest_steps_take_the_longest_text() -> None:
    steps = [normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    NormalizationLimit(normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])).check(
        "é" * (MAX_CHARACTERS // 20)
    )
    NormalizationLimit(normalizers.BertNormalizer()).check("漢" * (MAX_CHARACTERS // 20))
    NormalizationLimit(None).check("a" * MAX_CHARACTERS)


def test_a_decoder_that_spells_a_letter_as_a_book_is_refused(tmp_path: Path) -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    backend.decoder = decoders.Sequence([decoders.Replace("a", "aa") for _ in range(40)])
    backend.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(CheckpointError, match="many times longer"):
        Tokenizer.load(tmp_path)
