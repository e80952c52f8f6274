"""A malicious tokenizer cannot expand a text beyond memory; ordinary ones are not affected."""

import json
import struct
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers

from headlight.errors import CheckpointError, TextError
from headlight.text.tokenizer import Tokenizer
from headlight.text.tokenizer_limits import MAX_CHARACTERS, TextLimit

DOUBLING = normalizers.Sequence([normalizers.Replace("a", "aa") for _ in range(40)])
NESTED = normalizers.Sequence([normalizers.Sequence([DOUBLING]), normalizers.NFC()])
EMPTY = normalizers.Sequence([normalizers.Replace(Regex(""), "a" * 200) for _ in range(6)])
PREPENDED = normalizers.Sequence([normalizers.Prepend("a" * 1_000_000) for _ in range(9)])


def charsmap(longest: int) -> normalizers.Normalizer:
    """A table that may replace a character by a long string."""
    return normalizers.Precompiled(struct.pack("<I", 0) + b"a" * longest + b"\0")


@pytest.mark.parametrize("normalizer", [DOUBLING, NESTED, EMPTY, PREPENDED], ids=["double", "nested", "empty", "front"])
def test_what_would_fill_the_memory_is_refused_before_it_does(normalizer: normalizers.Normalizer) -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    backend.normalizer = normalizer
    with pytest.raises(TextError, match="of more than 4,000,000 characters"):
        Tokenizer(backend).encode("banana")


def test_a_table_that_only_may_is_refused_for_texts_that_are_too_long_for_it() -> None:
    growth = TextLimit(charsmap(100_000))
    growth.check("a" * 40)
    with pytest.raises(TextError):
        growth.check("a" * 41)


def test_steps_that_do_nothing_to_a_text_do_not_count() -> None:
    TextLimit(DOUBLING).check("b" * 1_000)
    with pytest.raises(TextError):
        TextLimit(DOUBLING).check("b" * 1_000 + "a")


def test_honest_steps_take_the_longest_text() -> None:
    steps = [normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    TextLimit(normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])).check(
        "é" * (MAX_CHARACTERS // 20)
    )
    TextLimit(normalizers.BertNormalizer()).check("漢" * (MAX_CHARACTERS // 20))
    TextLimit(None).check("a" * MAX_CHARACTERS)


def test_a_decoder_that_spells_a_letter_as_a_book_is_refused(tmp_path: Path) -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    backend.decoder = decoders.Sequence([decoders.Replace("a", "aa") for _ in range(16)])
    backend.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(CheckpointError, match="many times longer"):
        Tokenizer.load(tmp_path)


def spelled(**parts: Any) -> dict[str, Any]:
    """A small tokenizer.json with some parts replaced."""
    values: dict[str, Any] = json.loads(tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).to_str())
    return values | parts


def sequence(field: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", field: list(steps)}


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def doubled(times: int) -> list[dict[str, Any]]:
    return [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * times


def template(pieces: list[dict[str, Any]], **special: Any) -> dict[str, Any]:
    return {"type": "TemplateProcessing", "single": pieces, "pair": [], "special_tokens": special}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
TEXT_PIECE = {"Sequence": {"id": "A", "type_id": 0}}
LONG = "a" * 100_000
WORD_PIECE = {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##", "vocab": {"a": 0}}
PIECES = [["a" * length, -1.0] for length in range(1, 1_500)]
STRANGE = {"id": "<s>", "ids": [0] * 1_000_000, "tokens": ["<s>"] * 1_000_000}
ATTACKS: dict[str, dict[str, Any]] = {
    "bytes of bytes": {"pre_tokenizer": sequence("pretokenizers", *[BYTES] * 27)},
    "nested bytes of bytes": {"pre_tokenizer": sequence("pretokenizers", *[sequence("pretokenizers", BYTES)] * 3)},
    "many steps": {"pre_tokenizer": sequence("pretokenizers", *[{"type": "Whitespace"}] * 17)},
    "a pattern that tries for ever": {"pre_tokenizer": split("(?:a|a){20}[bc]")},
    "a pattern of the third power": {"normalizer": {"type": "Replace", "pattern": {"Regex": "a*a*b"}, "content": ""}},
    "a decoder's pattern": {"decoder": {"type": "Replace", "pattern": {"Regex": "a*b"}, "content": ""}},
    "words without end": {"model": WORD_PIECE | {"max_input_chars_per_word": 10**9}},
    "words of an old file": {"model": {name: value for name, value in WORD_PIECE.items() if name != "type"}
                             | {"max_input_chars_per_word": 10**9}},
    "long pieces": {"model": {"type": "Unigram", "unk_id": 0, "vocab": PIECES, "byte_fallback": False}},
    "a long unknown token": {"model": {"type": "WordLevel", "vocab": {"a" * 900: 0}, "unk_token": "a" * 900}},
    "a long token": {"model": {"type": "WordLevel", "vocab": {LONG: 0}, "unk_token": "a"}},
    "a long prefix": {"model": WORD_PIECE | {"continuing_subword_prefix": LONG}},
    "a long added token": {"added_tokens": [{"id": 1, "content": LONG, "special": False, "normalized": True}]},
    "a template that repeats": {"post_processor": template([TEXT_PIECE] * 100_000)},
    "a template with many ids": {"post_processor": template([TEXT_PIECE], **{"<s>": STRANGE})},
    "templates in sequences": {"post_processor": sequence("processors", template([TEXT_PIECE, TEXT_PIECE]))},
    "doubling normalizers": {"normalizer": sequence("normalizers", *doubled(15))},
    "nested decoders": {"decoder": sequence("decoders", sequence("decoders", *doubled(5)))},
    "many nested decoders": {"decoder": sequence("decoders", sequence("decoders", *doubled(34)))},
    "an unknown normalizer": {"normalizer": {"type": "Invented"}},
    "a pre-tokenizer without a type": {"pre_tokenizer": {"add_prefix_space": True}},
    "an unknown decoder": {"decoder": sequence("decoders", {"type": LONG})},
    "an unknown model": {"model": {"type": "Invented"}},
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_a_file_that_would_take_all_memory_or_time_is_refused_when_it_is_opened(name: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(spelled(**ATTACKS[name])))
    with pytest.raises(CheckpointError, match=r"^stranger: .*\.$") as refused:
        Tokenizer.load(tmp_path, "stranger")
    assert len(str(refused.value)) < 300 and "can be read" not in str(refused.value)


@pytest.mark.parametrize("length", [2_000, 20_000])
def test_a_pattern_that_runs_over_the_text_again_and_again_takes_short_texts_only(length: int) -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex("[ab]+[cd]"), "isolated")
    opened = Tokenizer(backend)
    if length < 10_000:
        assert len(opened.encode("a" * length).ids) == 1
    else:
        with pytest.raises(TextError, match=r"more than 11,180 characters"):
            opened.encode("a" * length)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (models.Unigram([("<unk>", 0.0), *(("a" * n, -1.0) for n in range(1, 129))], unk_id=0), "a" * 50_000),
        (models.WordPiece({"a": 0, "##a": 1}, unk_token="a", max_input_chars_per_word=100), f"{'a' * 100} " * 495),
    ],
    ids=["pieces", "words"],
)
def test_the_longest_pieces_and_words_take_seconds(model: models.Model, text: str) -> None:
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    started = perf_counter()
    Tokenizer(backend).encode(text)
    assert perf_counter() - started < 5


def test_real_steps_are_known(tmp_path: Path) -> None:
    """The deepest sequences of published files: DeepSeek's, Gemma's, ALBERT's, Llama's."""
    values = spelled(
        normalizer=sequence("normalizers", *doubled(0), {"type": "NFKD"}, {"type": "StripAccents"},
                            {"type": "Lowercase"}, {"type": "Prepend", "prepend": "_"}),
        pre_tokenizer=sequence("pretokenizers", split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s+$"),
                               {"type": "Digits", "individual_digits": True}, BYTES),
        decoder=sequence("decoders", {"type": "Replace", "pattern": {"String": "_"}, "content": " "},
                         {"type": "ByteFallback"}, {"type": "Fuse"},
                         {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
    )  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps(values))
    assert Tokenizer.load(tmp_path).vocabulary_size == 1
