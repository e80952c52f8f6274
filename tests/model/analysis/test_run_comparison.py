"""Two runs compared: corresponding tokens, and the distance of heads."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import EditError, UnknownNameError, run
from headlight.analysis.run_comparison import (
    ALIGNMENTS,
    align,
    default_alignment,
    head_distance,
    jensen_shannon_distance,
)
from tests.model import toys

TEXT = "the cat sat on the mat"
WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "dog", "ran"]), min_size=1, max_size=9).map(
    " ".join
)
EVERY = tuple((place, place) for place in range(5))


def rows(*shape: int, seed: int = 0) -> np.ndarray:
    """Random weights whose rows sum to one."""
    made = np.random.default_rng(seed).random(shape) ** 4
    shares: np.ndarray = (made / made.sum(-1, keepdims=True)).astype(np.float32)
    return shares


def reference(p: np.ndarray, q: np.ndarray) -> float:
    """The Jensen-Shannon distance by its definition, in bits."""

    def entropy(x: np.ndarray) -> float:
        return float(-sum(share * np.log2(share) for share in x if share > 0))

    return float(np.sqrt(entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2))


@given(WORDS)
def test_a_text_corresponds_to_itself_token_by_token(text: str) -> None:
    encoded = toys.causal().encode(text)
    every = tuple((place, place) for place in range(len(encoded.ids)))
    assert {align(encoded, encoded, method) for method in ALIGNMENTS} == {every}


@given(st.data(), WORDS)
def test_the_same_words_in_another_order_are_paired_word_by_word(data: st.DataObject, text: str) -> None:
    shuffled = " ".join(data.draw(st.permutations(text.split())))
    left, right = toys.masked().encode(text), toys.masked().encode(shuffled)
    assert default_alignment([(left, right)]) == "words"
    pairs = align(left, right, "words")
    assert sorted(a for a, _ in pairs) == sorted(b for _, b in pairs) == list(range(len(left.ids)))
    assert all(left.tokens[a] == right.tokens[b] for a, b in pairs)


def test_texts_of_different_words_are_paired_in_order_by_default() -> None:
    one, other = toys.causal().encode("the cat sat"), toys.causal().encode("the dog sat")
    assert default_alignment([(one, other)]) == default_alignment([(one, one), (one, other)]) == "tokens"
    assert default_alignment([(one, one), (other, other)]) == "words"


@pytest.mark.parametrize("method", ["tokens", "words"])
def test_the_special_tokens_of_two_tokenizers_stay_apart(method: str) -> None:
    one, other = toys.causal().encode("the cat sat"), toys.masked().encode("the cat sat")
    assert one.special_mask[0] and other.special_mask[0] and other.special_mask[-1]
    assert default_alignment([(one, other)]) == "words"
    pairs = align(one, other, method)
    assert len(pairs) == 3
    assert all(one.token_texts[a].strip() == other.token_texts[b].strip() for a, b in pairs)


def test_a_word_of_more_tokens_on_one_side_corresponds_by_its_last() -> None:
    left, right = toys.causal().encode("swam"), toys.causal().encode("we swam")
    assert len(left.ids) > 2 and right.token_texts[-1] == " swam"
    assert align(left, right, "words")[-1] == (len(left.ids) - 1, len(right.ids) - 1)
    assert len(align(left, right, "words")) == 2, "the start token and one token of the word"


def test_a_word_is_not_matched_by_a_part_of_another() -> None:
    left, right = toys.causal().encode("the sea"), toys.causal().encode("the seam")
    assert len(align(left, right, "words")) == 2, "the start token and the article"


def test_heads_without_positions_are_equal_up_to_a_swap_of_two_words() -> None:
    """Without positions and mask, attention does not depend on the order of the words."""
    model, tokenizer = toys.encoder(positional_encoding="none"), toys.masked()
    one, other = (run(model, tokenizer, text) for text in ("the cat saw the dog", "the dog saw the cat"))
    pairs = align(one.text, other.text, default_alignment([(one.text, other.text)]))
    distances = head_distance(one.attention(), other.attention(), pairs, pairs)
    np.testing.assert_allclose(distances, 0, atol=1e-3)
    in_order = align(one.text, other.text, "tokens")
    assert head_distance(one.attention(), other.attention(), in_order, in_order).max() > 0.05


@given(WORDS, WORDS)
def test_pairs_are_in_order_and_include_a_common_end(one: str, other: str) -> None:
    left, right = toys.causal().encode(one), toys.causal().encode(other)
    pairs = align(left, right)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    same = align(toys.causal().encode(f"{one} zebra"), toys.causal().encode(f"{other} zebra"))
    assert same[-1] == (len(left.ids) + _length(" zebra") - 1, len(right.ids) + _length(" zebra") - 1)


def _length(text: str) -> int:
    return len(toys.causal().encode(text, add_special_tokens=False).ids)


def test_a_word_corresponds_to_the_one_it_replaces() -> None:
    left, right = (toys.causal().encode(text) for text in ("the cat sat on", "the dog sat on the"))
    pairs = align(left, right)
    assert [left.token_texts[a] for a, _ in pairs][1:] == ["the", " cat", " sat", " on"]
    assert [right.token_texts[b] for _, b in pairs][1:] == ["the", " dog", " sat", " on"]


def test_an_inserted_word_shifts_the_pairs_after_it() -> None:
    left, right = (toys.causal().encode(text) for text in ("the cat ran", "the dog the cat ran"))
    ours = {left.token_texts[a]: right.token_texts[b] for a, b in align(left, right)}
    assert ours[" ran"] == " ran"
    assert align(left, right, "position")[-1][0] == align(left, right, "position")[-1][1]


def test_tokens_of_two_tokenizers_are_paired_by_their_texts() -> None:
    left, right = toys.causal().encode("the cat"), toys.masked().encode("the cat")
    assert [(left.token_texts[a].strip(), right.token_texts[b]) for a, b in align(left, right)] == [
        ("the", "the"),
        ("cat", "cat"),
    ]
    assert (0, 0) not in align(left, right), "the models have different start tokens"


def test_an_unknown_alignment_lists_the_known_ones() -> None:
    encoded = toys.causal().encode(TEXT)
    with pytest.raises(UnknownNameError, match="position, tokens, words"):
        align(encoded, encoded, "meaning")


def test_the_distance_is_that_of_its_definition() -> None:
    one, other = rows(2, 3, 5, 5), rows(2, 3, 5, 5, seed=1)
    found = head_distance(one, other, EVERY, EVERY)
    assert found.shape == (2, 3)
    wanted = [[np.mean([reference(*pair) for pair in zip(p, q, strict=True)]) for p, q in zip(*both, strict=True)]
              for both in zip(one.astype(float), other.astype(float), strict=True)]  # fmt: skip
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@given(st.integers(0, 2**31), st.integers(0, 2**31))
def test_the_distance_is_symmetric_and_from_0_to_1(seed: int, other: int) -> None:
    left, right = rows(5, 5, seed=seed), rows(5, 5, seed=other)
    there, back = head_distance(left, right, EVERY, EVERY), head_distance(right, left, EVERY, EVERY)
    assert 0 <= there <= 1 and there == pytest.approx(back, abs=1e-6)
    assert head_distance(left, left, EVERY, EVERY) == pytest.approx(0, abs=1e-6)


def test_keys_without_a_partner_are_tokens_that_the_other_lacks() -> None:
    """A key in only one text counts as a key of weight 0 in the other."""
    one, other = rows(4, 5), rows(4, 6, seed=1)
    pairs = ((0, 0), (1, 2), (4, 5))
    whole = [np.zeros((4, 8)), np.zeros((4, 8))]
    whole[0][:, :3], whole[0][:, 3:5] = one[:, [0, 1, 4]], one[:, [2, 3]]
    whole[1][:, :3], whole[1][:, 5:8] = other[:, [0, 2, 5]], other[:, [1, 3, 4]]
    queries = tuple((place, place) for place in range(4))
    every = tuple((place, place) for place in range(8))
    ours = head_distance(one, other, queries, pairs)
    np.testing.assert_allclose(ours, head_distance(whole[0], whole[1], queries, every), atol=1e-6)


def test_two_certain_predictions_have_distance_1() -> None:
    sure = np.eye(4)
    assert jensen_shannon_distance(sure[0], sure[1]) == 1
    assert jensen_shannon_distance(sure[0], sure[0]) == 0
    assert jensen_shannon_distance(sure[0], np.full(4, 0.25)) == pytest.approx(reference(sure[0], np.full(4, 0.25)))


def test_an_empty_row_has_distance_1_from_a_full_one_and_two_do_not_count() -> None:
    full, empty = rows(5, 5), np.zeros((5, 5), dtype=np.float32)
    assert head_distance(full, empty, EVERY, EVERY) == 1
    assert np.isnan(head_distance(empty, empty, EVERY, EVERY))
    assert np.isnan(head_distance(full, full, (), EVERY))
    half = full.copy()
    half[:2] = 0
    assert head_distance(half, half, EVERY, EVERY) == pytest.approx(0, abs=1e-6)


def test_heads_of_another_shape_get_a_sentence() -> None:
    with pytest.raises(EditError, match="different shape"):
        head_distance(rows(2, 5, 5), rows(3, 5, 5), EVERY, EVERY)


def test_a_head_switched_off_differs_most() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    one, other = run(model, tokenizer, TEXT), run(model, tokenizer, TEXT, ["decoder.1.self.weights[2]=set:0"])
    pairs = align(one.text, other.text)
    apart = head_distance(one.attention(), other.attention(), pairs, pairs)
    assert apart[1, 2] == 1
    assert np.delete(apart.ravel(), 6).max() == pytest.approx(0, abs=1e-4)
