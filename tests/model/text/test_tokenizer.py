"""Text to tokens and back, for every kind of tokenizer and any text."""

import json
import re
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models, normalizers

from headlight.errors import CheckpointError, TextError, UnknownNameError
from headlight.text.tokenizer import END_OF_TEXT, Tokenizer
from headlight.text.tokenizer_training import (
    CAUSAL_SPECIAL_TOKENS,
    MASKED_SPECIAL_TOKENS,
    TOKENIZER_TRAINERS,
    train_tokenizer,
)
from headlight.text.word_groups import group_texts, word_groups
from headlight.tracing.inputs import apply_mask_tokens

TEXTS = [
    "The cat sat on the mat, and the dog looked at it.\nIt isn't a bird; it is 3 cats!\n",
    "A small bird sang in the tree. We ran to the sea and swam until the sun went down.\n",
] * 20
NASTY = [
    "",
    " ",
    "\n\n\t ",
    "</script><b>$x$**",
    "🐈‍⬛ 👩‍👩‍👧 é ñ ﬁ",
    "שלום עולם مرحبا",
    "\x00\x07\u202e\ufeff",
    "a" * 5000,
    "half of a pair: \ud83d.",
    "[MASK] [CLS] <|endoftext|> <0x41> ##ing Ġ ▁",
]
MADE = {
    (kind, special): train_tokenizer(kind, TEXTS, 400, special)
    for kind in TOKENIZER_TRAINERS
    for special in (CAUSAL_SPECIAL_TOKENS, MASKED_SPECIAL_TOKENS)
}
every = pytest.mark.parametrize("made", MADE.values(), ids=[f"{kind}-{special[0]}" for kind, special in MADE])
bpe = MADE["bpe", CAUSAL_SPECIAL_TOKENS]
wordpiece = MADE["wordpiece", MASKED_SPECIAL_TOKENS]


@every
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_nothing_that_people_type_raises(made: Tokenizer, text: str) -> None:
    encoded = made.encode(text)
    entries = {
        len(encoded.ids), len(encoded.tokens), len(encoded.token_texts), len(encoded.offsets), len(encoded.special_mask)
    }  # fmt: skip
    assert len(entries) == 1
    assert all(0 <= start <= end <= len(encoded.text) == len(text) for start, end in encoded.offsets)
    assert all(isinstance(made.stripped_token_text(number), str) for number in encoded.ids)
    made.decode(encoded.ids)


@given(st.text())
def test_bytes_bring_every_text_back(text: str) -> None:
    if END_OF_TEXT not in text:  # typed, it is the token
        assert bpe.decode(bpe.encode(text).ids) == text


@given(st.text(alphabet="abdehinorstw ATW.,\n'!3"))
def test_known_characters_come_back(text: str) -> None:
    for kind in ("character", "unigram"):
        made = MADE[kind, CAUSAL_SPECIAL_TOKENS]
        assert made.decode(made.encode(text).ids) == text


@pytest.mark.parametrize("kind", TOKENIZER_TRAINERS)
def test_plain_words_come_back(kind: str) -> None:
    made = MADE[kind, MASKED_SPECIAL_TOKENS]
    assert made.decode(made.encode("the cat sat on the mat").ids) == "the cat sat on the mat"


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="<[")))
def test_pieces_of_a_byte_level_text_join_to_the_text_where_no_character_is_cut(text: str) -> None:
    encoded = bpe.encode(text, add_special_tokens=False)
    if encoded.token_texts == tuple(map(bpe.token_text, encoded.ids)):
        assert "".join(encoded.token_texts) == text


def test_the_bytes_of_a_character_are_told_apart() -> None:
    assert bpe.encode("a é 🐈", add_special_tokens=False).token_texts == (
        "a",
        " ",
        "é₁",
        "é₂",
        " ",
        "🐈₁",
        "🐈₂",
        "🐈₃",
        "🐈₄",
    )
    assert bpe.encode("\u0301", add_special_tokens=False).token_texts == (
        "◌\u0301₁",
        "◌\u0301₂",
    )  # an accent without a base letter


def test_a_masked_byte_leaves_the_others_their_numbers() -> None:
    made = MADE["bpe", MASKED_SPECIAL_TOKENS]
    hidden = apply_mask_tokens(made.encode("é🐈", add_special_tokens=False), (0, 3), made)
    assert hidden.token_texts == ("[MASK]", "é₂", "🐈₁", "[MASK]", "🐈₃", "🐈₄")


def sentencepiece() -> Tokenizer:
    """SentencePiece's byte-pair encoding as in Llama: unknown characters are encoded as bytes."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    backend = tokenizers.Tokenizer(models.BPE(vocabulary, [("▁", "a")], unk_token="<unk>", byte_fallback=True))
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return Tokenizer(backend)


BYTES = {"byte-level": bpe, "sentencepiece": sentencepiece()}
every_byte = pytest.mark.parametrize("made", BYTES.values(), ids=BYTES)
# Latin with accents (precomposed and combining), Greek, Cyrillic, Hebrew, Arabic, Devanagari, Han, emoji and joiners.
SCRIPTS = st.text(st.sampled_from("ab éñﬁe\u0301Ωжשمक漢字🐈👩\u200d👧🏽€"), max_size=12)


@every_byte
@given(text=SCRIPTS)
def test_each_part_of_a_character_is_named_after_it(made: Tokenizer, text: str) -> None:
    encoded = made.encode(text, add_special_tokens=False)
    joined = "".join(encoded.token_texts)
    for character in set(text):
        joined = re.sub(f"◌?{character}₁(◌?{character}[₂₃₄])+", character, joined)
    assert joined == text
    assert "".join(group_texts(encoded, word_groups(encoded))) == text
    assert made.from_ids(encoded.ids, "").token_texts == encoded.token_texts  # from ids alone, as generated
    assert made.join_tokens(encoded.ids) == text


@every_byte
@given(text=SCRIPTS)
def test_parts_are_counted_from_one_in_each_character(made: Tokenizer, text: str) -> None:
    encoded = made.encode(text, add_special_tokens=False)
    numbers = [re.findall("[₁₂₃₄]", name) for name in encoded.token_texts]
    assert all(len(found) <= 1 for found in numbers)  # no token of these vocabularies spans two characters
    previous = 0
    for found in numbers:
        number = "₁₂₃₄".index(found[0]) + 1 if found else 0
        assert number in (0, 1, previous + 1)
        previous = number


@every_byte
def test_a_byte_by_itself_is_named_in_words(made: Tokenizer) -> None:
    ids = made.encode("é🐈", add_special_tokens=False).ids
    assert [made.token_text(number) for number in ids[:3]] == ["byte\xa0C3", "byte\xa0A9", "byte\xa0F0"]
    assert made.from_ids(ids[:3], "").token_texts == ("é₁", "é₂", "byte\xa0F0")
    assert made.join_tokens(ids[:3]) == "é\N{REPLACEMENT CHARACTER}"


def test_a_token_of_several_characters_and_parts_of_others_says_each() -> None:
    vocabulary = {token: number for number, token in enumerate(("<unk>", "aÃ", "©Ã", "©", "ĠâĢ", "ľ", "âĢ"))}
    backend = tokenizers.Tokenizer(models.WordLevel(vocabulary, "<unk>"))
    backend.decoder = decoders.ByteLevel()
    made = Tokenizer(backend)
    assert made.from_ids((1, 2, 3, 4, 5), "").token_texts == ("aé₁", "é₂é₁", "é₂", " “₁", "“₂")
    assert [made.token_text(number) for number in (1, 2, 4, 6)] == [
        "a\xa0+\xa0byte\xa0C3", "bytes\xa0A9\xa0C3", " bytes\xa0E2\xa080", "bytes\xa0E2\xa080"
    ]  # fmt: skip


def test_pieces_keep_their_space_and_readers_see_none() -> None:
    encoded = bpe.encode("The cat")
    assert encoded.tokens == (END_OF_TEXT, "The", "Ġcat")
    assert encoded.token_texts == (END_OF_TEXT, "The", " cat")
    assert bpe.stripped_token_text(encoded.ids[2]) == "cat"
    inside = wordpiece.backend.token_to_id("##s")
    assert inside is not None
    assert wordpiece.token_text(inside) == wordpiece.stripped_token_text(inside) == "s"


def test_what_the_tokenizer_adds_is_special_and_comes_from_nowhere() -> None:
    encoded = wordpiece.encode("The cat sat on the [MASK].")
    assert encoded.special_mask == (True, *(False,) * (len(encoded.ids) - 2), True)
    assert encoded.token_texts[0] == "[CLS]" and encoded.token_texts[-1] == "[SEP]"
    assert encoded.offsets[0] == encoded.offsets[-1] == (0, 0)
    place = encoded.ids.index(wordpiece.mask_id or -1)
    start, end = encoded.offsets[place]
    assert encoded.text[start:end] == "[MASK]"
    assert wordpiece.encode("The cat", add_special_tokens=False).special_mask == (False, False)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_mask_stands_for_a_word_with_its_space(kind: str) -> None:
    made = MADE[kind, MASKED_SPECIAL_TOKENS]
    pieces = made.encode("the [MASK] sat", add_special_tokens=False).token_texts
    assert "".join(pieces) == "the[MASK] sat"


def test_special_tokens_are_found_by_their_names() -> None:
    assert (wordpiece.pad_id, wordpiece.unknown_id, wordpiece.start_id, wordpiece.end_id, wordpiece.mask_id) == (
        0, 1, 2, 3, 4,
    )  # fmt: skip
    assert bpe.start_id == bpe.end_id == 0
    assert bpe.mask_id is bpe.pad_id is bpe.unknown_id is None


def test_curly_quotes_are_read_as_keys_on_request() -> None:
    plain = train_tokenizer("bpe", TEXTS, 300, plain_typography=True)
    curly, typed = plain.encode("it isn’t “far” – no…"), plain.encode('it isn\'t "far" - no...')
    assert curly.ids == typed.ids
    assert curly.text == "it isn’t “far” – no…"


def test_numbers_are_those_of_encode_without_special_tokens() -> None:
    lines = ["The cat sat.\n", "It is a bird"]
    assert bpe.encode_batch(lines) == [list(bpe.encode(line, add_special_tokens=False).ids) for line in lines]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "character"])
def test_a_text_may_be_encoded_line_by_line(kind: str) -> None:
    made, text = MADE[kind, CAUSAL_SPECIAL_TOKENS], TEXTS[0] + TEXTS[1]
    by_line = [number for row in made.encode_batch(text.splitlines(keepends=True)) for number in row]
    assert by_line == list(made.encode(text, add_special_tokens=False).ids)


@every
def test_a_saved_tokenizer_is_the_same(made: Tokenizer, tmp_path: Path) -> None:
    made.save(tmp_path)
    assert Tokenizer.load(tmp_path).encode(TEXTS[0]) == made.encode(TEXTS[0])


def test_a_loaded_tokenizer_neither_pads_nor_cuts(tmp_path: Path) -> None:
    made = train_tokenizer("bpe", TEXTS, 300)
    made.backend.enable_truncation(3)
    made.backend.enable_padding(length=50)
    made.save(tmp_path)
    assert (
        "".join(Tokenizer.load(tmp_path).encode("The cat sat", add_special_tokens=False).token_texts) == "The cat sat"
    )


def test_a_missing_or_broken_file_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"holds no tokenizer\.json"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0"}))
    with pytest.raises(CheckpointError, match="not a tokenizer that can be read"):
        Tokenizer.load(tmp_path)


def test_numbers_outside_the_vocabulary() -> None:
    assert bpe.token_text(10_000) == "[10000]" and bpe.token_text(-1) == "[-1]"
    with pytest.raises(TextError, match=f"no token 10000.* 0 to {bpe.vocabulary_size - 1}"):
        bpe.decode([1, 10_000])


def test_an_unknown_kind_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"no tokenizer 'syllable'.*bpe, character, unigram, word, wordpiece"):
        train_tokenizer("syllable", TEXTS, 100)


@pytest.mark.parametrize("kind", sorted(set(TOKENIZER_TRAINERS) - {"unigram"}))  # unigram orders ties at random
def test_the_same_texts_make_the_same_vocabulary(kind: str) -> None:
    again = train_tokenizer(kind, iter(TEXTS), 400, MASKED_SPECIAL_TOKENS).backend.get_vocab()
    assert again == MADE[kind, MASKED_SPECIAL_TOKENS].backend.get_vocab()


def test_every_word_of_known_letters_has_pieces() -> None:
    assert wordpiece.unknown_id not in wordpiece.encode("tac god dribllams").ids
    assert set(wordpiece.special_ids) == {wordpiece.backend.token_to_id(name) for name in MASKED_SPECIAL_TOKENS}


def test_typography_is_read_as_keys_while_learning_too() -> None:
    curly = train_tokenizer("word", ["“Yes—no…”"], 50, plain_typography=True)
    assert set(curly.backend.get_vocab()) - {END_OF_TEXT, "[UNK]"} == {'"', "Yes", "--", "no", '..."'}
