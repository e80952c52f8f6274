"""Text to tokens and back, for every kind, whatever the text holds."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import CheckpointError, TextError, UnknownName
from model.text.tokenizer import DOCUMENT, Tokenizer
from model.text.tokenizer_training import DOCUMENT_SPECIAL, MASKED_SPECIAL, TOKENIZERS, train_tokenizer
from model.tracing.run import hide

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
    for kind in TOKENIZERS
    for special in (DOCUMENT_SPECIAL, MASKED_SPECIAL)
}
every = pytest.mark.parametrize("made", MADE.values(), ids=[f"{kind}-{special[0]}" for kind, special in MADE])
bpe = MADE["bpe", DOCUMENT_SPECIAL]
wordpiece = MADE["wordpiece", MASKED_SPECIAL]


@every
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_nothing_that_people_type_raises(made: Tokenizer, text: str) -> None:
    encoded = made.encode(text)
    entries = {
        len(encoded.ids), len(encoded.tokens), len(encoded.pieces), len(encoded.spans), len(encoded.special)
    }  # fmt: skip
    assert len(entries) == 1
    assert all(0 <= start <= end <= len(encoded.text) == len(text) for start, end in encoded.spans)
    assert all(isinstance(made.readable(number), str) for number in encoded.ids)
    made.decode(encoded.ids)


@given(st.text())
def test_bytes_bring_every_text_back(text: str) -> None:
    if DOCUMENT not in text:  # typed, it is the token
        assert bpe.decode(bpe.encode(text).ids) == text


@given(st.text(alphabet="abdehinorstw ATW.,\n'!3"))
def test_known_characters_come_back(text: str) -> None:
    for kind in ("character", "unigram"):
        made = MADE[kind, DOCUMENT_SPECIAL]
        assert made.decode(made.encode(text).ids) == text


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_plain_words_come_back(kind: str) -> None:
    made = MADE[kind, MASKED_SPECIAL]
    assert made.decode(made.encode("the cat sat on the mat").ids) == "the cat sat on the mat"


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="<[")))
def test_pieces_of_a_byte_level_text_join_to_the_text_where_no_character_is_cut(text: str) -> None:
    encoded = bpe.encode(text, special=False)
    if not any("\N{REPLACEMENT CHARACTER}" in bpe.piece(number) for number in encoded.ids):
        assert "".join(encoded.pieces) == text


def test_the_bytes_of_a_character_are_told_apart() -> None:
    assert bpe.encode("a é 🐈", special=False).pieces == ("a", " ", "é₁", "é₂", " ", "🐈₁", "🐈₂", "🐈₃", "🐈₄")
    assert bpe.encode("\u0301", special=False).pieces == ("◌\u0301₁", "◌\u0301₂")  # an accent without its letter


def test_a_masked_byte_leaves_the_others_their_numbers() -> None:
    made = MADE["bpe", MASKED_SPECIAL]
    hidden = hide(made.encode("é🐈", special=False), (0, 3), made)
    assert hidden.pieces == ("[MASK]", "é₂", "🐈₁", "[MASK]", "🐈₃", "🐈₄")


def test_a_byte_without_its_text_shows_as_lost() -> None:
    encoded = bpe.encode("🐈", special=False)
    assert set(bpe.describe(encoded.ids, "").pieces) == {"\N{REPLACEMENT CHARACTER}"}


def test_pieces_keep_their_space_and_readers_see_none() -> None:
    encoded = bpe.encode("The cat")
    assert encoded.tokens == (DOCUMENT, "The", "Ġcat")
    assert encoded.pieces == (DOCUMENT, "The", " cat")
    assert bpe.readable(encoded.ids[2]) == "cat"
    inside = wordpiece.backend.token_to_id("##s")
    assert inside is not None
    assert wordpiece.piece(inside) == wordpiece.readable(inside) == "s"


def test_what_the_tokenizer_adds_is_special_and_comes_from_nowhere() -> None:
    encoded = wordpiece.encode("The cat sat on the [MASK].")
    assert encoded.special == (True, *(False,) * (len(encoded.ids) - 2), True)
    assert encoded.pieces[0] == "[CLS]" and encoded.pieces[-1] == "[SEP]"
    assert encoded.spans[0] == encoded.spans[-1] == (0, 0)
    place = encoded.ids.index(wordpiece.mask_id or -1)
    start, end = encoded.spans[place]
    assert encoded.text[start:end] == "[MASK]"
    assert wordpiece.encode("The cat", special=False).special == (False, False)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_mask_stands_for_a_word_with_its_space(kind: str) -> None:
    made = MADE[kind, MASKED_SPECIAL]
    pieces = made.encode("the [MASK] sat", special=False).pieces
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
    assert bpe.numbers(lines) == [list(bpe.encode(line, special=False).ids) for line in lines]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "character"])
def test_a_text_may_be_encoded_line_by_line(kind: str) -> None:
    made, text = MADE[kind, DOCUMENT_SPECIAL], TEXTS[0] + TEXTS[1]
    by_line = [number for row in made.numbers(text.splitlines(keepends=True)) for number in row]
    assert by_line == list(made.encode(text, special=False).ids)


@every
def test_a_saved_tokenizer_is_the_same(made: Tokenizer, tmp_path: Path) -> None:
    made.save(tmp_path)
    assert Tokenizer.load(tmp_path).encode(TEXTS[0]) == made.encode(TEXTS[0])


def test_a_loaded_tokenizer_neither_pads_nor_cuts(tmp_path: Path) -> None:
    made = train_tokenizer("bpe", TEXTS, 300)
    made.backend.enable_truncation(3)
    made.backend.enable_padding(length=50)
    made.save(tmp_path)
    assert "".join(Tokenizer.load(tmp_path).encode("The cat sat", special=False).pieces) == "The cat sat"


def test_a_missing_or_broken_file_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"holds no tokenizer\.json"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0"}))
    with pytest.raises(CheckpointError, match="not a tokenizer that can be read"):
        Tokenizer.load(tmp_path)


def test_numbers_outside_the_vocabulary() -> None:
    assert bpe.piece(10_000) == "[10000]" and bpe.piece(-1) == "[-1]"
    with pytest.raises(TextError, match=f"no token 10000.* 0 to {bpe.size - 1}"):
        bpe.decode([1, 10_000])


def test_an_unknown_kind_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"no tokenizer 'syllable'.*bpe, character, unigram, word, wordpiece"):
        train_tokenizer("syllable", TEXTS, 100)


@pytest.mark.parametrize("kind", sorted(set(TOKENIZERS) - {"unigram"}))  # whose equal letters change places by chance
def test_the_same_texts_make_the_same_vocabulary(kind: str) -> None:
    again = train_tokenizer(kind, iter(TEXTS), 400, MASKED_SPECIAL).backend.get_vocab()
    assert again == MADE[kind, MASKED_SPECIAL].backend.get_vocab()


def test_every_word_of_known_letters_has_pieces() -> None:
    assert wordpiece.unknown_id not in wordpiece.encode("tac god dribllams").ids
    assert set(wordpiece.specials) == {wordpiece.backend.token_to_id(name) for name in MASKED_SPECIAL}


def test_typography_is_read_as_keys_while_learning_too() -> None:
    curly = train_tokenizer("word", ["“Yes—no…”"], 50, plain_typography=True)
    assert set(curly.backend.get_vocab()) - {DOCUMENT, "[UNK]"} == {'"', "Yes", "--", "no", '..."'}
