"""Words and sentences of a text, and sums over them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.text.tokenizer import Encoded, TextPair
from headlight.text.word_groups import aggregate_by_group, group_texts, sentence_numbers, word_groups
from tests.model import toys


def cut(*parts: str, special: tuple[int, ...] = ()) -> Encoded:
    """A text split into these pieces; special ones are tokens, but not part of the text."""
    spans, text = [], ""
    for place, part in enumerate(parts):
        spans.append((0, 0) if place in special else (len(text), len(text) + len(part)))
        text += "" if place in special else part
    marks = tuple(place in special for place in range(len(parts)))
    return Encoded(text, tuple(range(len(parts))), parts, parts, tuple(spans), marks)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (cut("un", "believ", "able", " story"), ["unbelievable", " story"]),
        (cut("[CLS]", "play", "ing", ".", "[SEP]", special=(0, 4)), ["[CLS]", "playing", ".", "[SEP]"]),
        (cut("don", "'", "t", " go", "!", "!"), ["don't", " go", "!", "!"]),
        (cut(" '", "yes", "'"), [" '", "yes", "'"]),
        (cut("我", "喜欢", "cats"), ["我", "喜欢", "cats"]),
        (cut("well", "-", "known"), ["well", "-", "known"]),
        (cut("one", "\n", "two"), ["one", "\n", "two"]),
        (cut("<s>", "<s>", special=(0, 1)), ["<s>", "<s>"]),
    ],
)
def test_the_pieces_of_a_word_are_one_group(text: Encoded, told: list[str]) -> None:
    assert list(group_texts(text, word_groups(text))) == told


def test_the_bytes_of_one_sign_are_one_group() -> None:
    text = Encoded(
        "a😀b", (0, 1, 2, 3), ("a", "x", "y", "b"), ("a", "�", "�", "b"), ((0, 1), (1, 2), (1, 2), (2, 3)), (False,) * 4
    )
    assert word_groups(text) == ((0,), (1, 2), (3,))
    assert group_texts(text, word_groups(text)) == ("a", "😀", "b")
    accents = toys.causal().encode("café", add_special_tokens=False)
    assert group_texts(accents, word_groups(accents)) == ("café",)


def spans(text: str, *offsets: tuple[int, int], special: tuple[int, ...] = ()) -> Encoded:
    """A text whose tokens have these character spans."""
    parts = tuple(text[start:end] for start, end in offsets)
    marks = tuple(place in special for place in range(len(offsets)))
    return Encoded(text, tuple(range(len(offsets))), parts, parts, offsets, marks)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (spans("New York", (0, 5), (5, 8)), ((0,), (1,))),  # a token over two words belongs to the first
        (spans("[MASK]", (0, 1), (0, 6), (5, 6), special=(1,)), ((0,), (1,), (2,))),  # typed, and special all the same
        (spans("[MASK][MASK]", (1, 5), (7, 11), special=(0, 1)), ((0,), (1,))),
        (spans("cats", (0, 2), (2, 3), (3, 4), special=(1,)), ((0,), (1,), (2,))),
        (spans("cat", (0, 2), (2, 2), (2, 3)), ((0,), (1,), (2,))),  # a token without characters is a group of its own
        (spans("cat", (1, 1), (1, 1)), ((0,), (1,))),
        (spans("😀!", (0, 1), (0, 2)), ((0,), (1,))),  # the second token spans more than that character
    ],
)
def test_what_belongs_to_no_word_stands_alone(text: Encoded, groups: tuple[tuple[int, ...], ...]) -> None:
    assert word_groups(text) == groups


@given(st.text(max_size=60))
def test_every_token_is_in_one_group_and_in_order(text: str) -> None:
    encoded = toys.masked().encode(text)
    assert [place for group in word_groups(encoded) for place in group] == list(range(len(encoded.ids)))


def test_a_separator_ends_a_sentence() -> None:
    text = cut("[CLS]", "a", "b", "[SEP]", "c", "[SEP]", special=(0, 3, 5))
    assert sentence_numbers(text, separator=3) == (0, 0, 0, 0, 1, 1)
    assert sentence_numbers(text, separator=5) == (0,) * 6  # the end of the text begins no new sentence
    assert sentence_numbers(text, separator=None) == (0,) * 6


def test_two_separators_in_a_row_end_one_sentence() -> None:
    text = Encoded("", (0, 5, 2, 2, 6, 2), ("",) * 6, ("",) * 6, ((0, 0),) * 6, (True, False, True, True, False, True))
    assert sentence_numbers(text, separator=2) == (0, 0, 0, 0, 1, 1)


def test_separators_before_the_first_word_end_no_sentence() -> None:
    opened = cut("[CLS]", "[SEP]", "a", "[SEP]", "b", special=(0, 1, 3))
    assert sentence_numbers(replace(opened, ids=(0, 9, 1, 9, 2)), separator=9) == (0, 0, 0, 0, 1)
    assert sentence_numbers(replace(opened, ids=(9,) * 5), separator=9) == (0,) * 5, "only separators"


@pytest.mark.parametrize(
    ("one", "other"), [("the cat", "a dog ran"), ("the [SEP] cat", "a [SEP] dog"), ("the", " dog")]
)
def test_the_sentences_of_a_pair_are_its_texts(one: str, other: str) -> None:
    tokenizer = toys.masked()
    count = len(tokenizer.encode(one).ids)
    pair = tokenizer.encode(TextPair(one, other))
    expected = (0,) * count + (1,) * (len(pair.ids) - count)
    assert sentence_numbers(pair, tokenizer.end_id) == expected == pair.segment_ids


def test_texts_without_a_separator_between_them_are_two_sentences() -> None:
    tokenizer = toys.causal()
    pair = tokenizer.encode(TextPair("the cat", "the dog"))
    assert pair.token_texts == ("<|endoftext|>", "the", " cat", "<|endoftext|>", "the", " dog")
    assert sentence_numbers(pair, None) == (0, 0, 0, 0, 1, 1)


def test_sums_over_keys_and_means_over_queries() -> None:
    values = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])
    grouped = aggregate_by_group(values, ((0,), (1,), (2, 3)), ((0, 1), (2,), (3,)))
    assert grouped == pytest.approx(np.array([[1, 0, 0], [1, 0, 0], [(0.3 + 0.7) / 2, 0.25, 0.25]]))
    assert aggregate_by_group(values[None], ((0, 1, 2, 3),), ((0, 1, 2, 3),)) == pytest.approx(np.ones((1, 1, 1)))
