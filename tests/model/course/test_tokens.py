"""Chapter 1: its screens compared with independent calculations."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from headlight.cancellation import Cancelled, cancellable
from headlight.checkpoints import Checkpoint
from headlight.course.tokens.learning_screens import partners_found
from headlight.course.tokens.model_vectors import (
    BATCH_SIZE,
    embedding_sum,
    nearest_tokens,
    text_vectors,
    word_ids,
    word_in_context,
)
from headlight.course.tokens.split_screens import learned_merges, look_up, merge_steps, small_text, split_all, train_on
from headlight.course.tokens.word_vectors import (
    METHODS,
    UNKNOWN,
    cbow_questions,
    character_ngrams,
    co_occurrences,
    count_loss,
    features_of,
    questions_of,
    skip_gram_pairs,
    train_on_numbers,
    train_word_vectors,
    words_of,
)
from headlight.errors import InputError
from tests.model import toys

WORDS = st.lists(st.sampled_from(["a", "b", "cat", "dog"]), min_size=1, max_size=12)


def test_every_tokenizer_spells_the_whole_sentence() -> None:
    sentence = "The cat sat on the lowest tower."
    for split in split_all(small_text(), sentence, 400):
        assert len(split.entries) == len(split.texts) == len(split.ids)
        if not split.unknown:
            assert "".join(split.texts).replace(" ", "") == sentence.replace(" ", "")
    counts = {split.kind: len(split.ids) for split in split_all(small_text(), sentence, 400)}
    assert counts["word"] <= counts["wordpiece"] <= counts["character"] == len(sentence)


@pytest.mark.parametrize("word", ["slowest", " slowest", " unhappily", " é", " 🦊", " zzz"])
def test_merges_end_where_the_tokenizer_ends(word: str) -> None:
    tokenizer = train_on(small_text(), "bpe", 500)
    steps = merge_steps(tokenizer, word)
    assert steps[-1].pieces == tokenizer.encode(word).token_texts
    assert len(steps[0].pieces) == len(word.encode())
    assert [step.rank for step in steps] == sorted({step.rank for step in steps})
    for before, after in pairwise(steps):
        assert len(after.pieces) < len(before.pieces)
        assert "".join(after.merged) in after.pieces


def test_the_first_merge_is_the_most_frequent_pair() -> None:
    text = "aaab aaab aaab"
    assert learned_merges(train_on(text, "bpe", 258))[0] == ("a", "a")


@pytest.mark.parametrize(("text", "word", "sentence"), [("", "a", "is empty"), ("x" * 5_001, "a", "5,001 characters")])
def test_a_text_that_no_tokenizer_is_trained_on(text: str, word: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        split_all(text, word, 400)


def test_the_case_of_the_notes() -> None:
    found = look_up("[1, 5, 2, 99, 3]\n10, 11, 12, 13, 14", 100, 16)
    assert found.output.shape == (2, 5, 16)
    for text, ids in enumerate(([1, 5, 2, 99, 3], [10, 11, 12, 13, 14])):
        for position, token_id in enumerate(ids):
            assert torch.equal(found.output[text, position], found.table[token_id])
    assert torch.equal(found.output, found.from_one_hot)
    assert torch.equal(found.table, look_up("1", 100, 16).table)
    assert not torch.equal(found.table, look_up("1", 100, 16, seed=1).table)


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ("1, 100", "no row 100: the table has 100, counted from 0"),
        ("-1", "no row -1"),
        ("1, two", "'two' is not an id"),
        ("1.5", "'1.5' is not an id"),
        ("1 2; 3", "2, 1 ids"),
        (" ; ", "0 lines"),
        (" ".join(["1"] * 25), "25 ids"),
    ],
)
def test_ids_that_pick_no_row(ids: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        look_up(ids, 100, 16)


@given(WORDS, st.integers(1, 4))
def test_pairs_are_all_words_within_the_window(words: list[str], window: int) -> None:
    expected = Counter(
        (words[i], words[j]) for i in range(len(words)) for j in range(len(words)) if 0 < abs(i - j) <= window
    )
    assert Counter(skip_gram_pairs(words, window)) == expected
    assert sum(len(question.context) for question in cbow_questions(words, window)) == expected.total()
    counts = co_occurrences(words, window)
    assert (counts.counts == counts.counts.T).all() and counts.counts.sum() == expected.total()
    first, last = counts.words[0], counts.words[-1]
    assert counts.counts[0, -1] == expected[first, last]


def test_the_ngrams_of_the_paper() -> None:
    # Bojanowski et al. 2017, section 3.2
    assert character_ngrams("where", 3, 3) == ("<wh", "whe", "her", "ere", "re>", "<where>")
    assert character_ngrams("a", 3, 6) == ("<a>",)
    with pytest.raises(InputError, match="smaller"):
        character_ngrams("where", 4, 3)
    with pytest.raises(InputError, match="no word"):
        words_of(" \n ")


def test_a_step_of_the_tiny_net_is_gradient_descent() -> None:
    words = words_of("The cat drinks milk. The dog drinks water.")
    run = train_word_vectors(words, context=2, dim=3, steps=1, learning_rate=0.5)
    before, after = run.frames
    assert before.loss == pytest.approx(np.log(len(run.words)), abs=0.5)  # untrained
    torch.testing.assert_close(after.embedding, before.embedding - 0.5 * before.gradient)
    ids = run.ids(["cat", "walrus"])
    assert ids[1] == UNKNOWN and not before.gradient[UNKNOWN].any()  # it does not occur in the text
    assert after.gradient[ids[0]].any()


def test_the_tiny_net_learns_the_same_from_the_same_seed() -> None:
    words = words_of(small_text())
    one, again, other = (train_word_vectors(words, steps=60, seed=seed) for seed in (0, 0, 1))
    assert one.frames[-1].loss < 0.7 * one.frames[0].loss
    assert torch.equal(one.frames[-1].embedding, again.frames[-1].embedding)
    assert not torch.equal(one.frames[-1].embedding, other.frames[-1].embedding)
    assert sum(share for _, share in one.predict(["the"], len(one.words))) == pytest.approx(1, abs=1e-4)


def test_each_method_asks_what_its_paper_says() -> None:
    words = ["a", "b", "c"]
    asked = {method: [(each.context, each.target) for each in questions_of(words, method, 1)] for method in METHODS}
    assert asked["next"] == [(("a",), "b"), (("b",), "c")]
    assert asked["cbow"] == [(("b",), "a"), (("a", "c"), "b"), (("b",), "c")]
    assert (
        asked["skip-gram"]
        == asked["fasttext"]
        == asked["glove"]
        == [(("a",), "b"), (("b",), "a"), (("b",), "c"), (("c",), "b")]
    )


@pytest.mark.parametrize("method", METHODS)
def test_partners_come_to_lie_together(method: str) -> None:
    words = words_of(small_text())
    run = train_word_vectors(words, context=2, dim=16, steps=300, method=method)
    chosen = run.ids(
        ["cat", "dog", "king", "queen", "tea", "coffee", "red", "blue", "monday", "tuesday", "slow", "fast"]
    )
    assert run.frames[-1].loss < 0.75 * run.frames[0].loss
    begins, ends = (partners_found(replace(run, frames=(frame,)), chosen) for frame in (run.frames[0], run.frames[-1]))
    assert ends >= 3 and ends > begins + 2 if method != "fasttext" else ends >= begins, "n-grams start close together"


def test_words_of_the_same_ngrams_begin_alike_and_counts_are_told_by_products() -> None:
    shares = features_of(("walk", "walks", "blue"))
    torch.testing.assert_close(shares.sum(1), torch.ones(3))
    assert float(shares[0] @ shares[1]) > 0 == float(shares[0] @ shares[2])
    counts = torch.tensor([[20.0, 5.0], [5.0, 0.0]])
    exact = count_loss(counts.clamp(min=1).log(), counts)
    off = count_loss(counts.clamp(min=1).log() + torch.tensor([[1.0, 0.0], [0.0, 9.0]]), counts)
    assert float(exact) == 0 and float(off) == pytest.approx(1 / (1 + 2 * 0.5**0.75))


def test_a_number_for_each_word_needs_a_larger_network() -> None:
    words = words_of(small_text())
    learned = train_word_vectors(words, context=2, dim=16, steps=200)
    small, large = (train_on_numbers(words, 2, hidden, 200, 0) for hidden in (16, 256))
    size = sum(each.numel() for each in learned.net.parameters())
    assert large.parameters > size > small.parameters == 16 * 3 + 17 * len(set(words))
    assert large.loss < small.loss and small.loss > learned.frames[-1].loss


def test_a_run_that_cannot_be_or_is_not_wanted() -> None:
    with pytest.raises(InputError, match="3 or more"):
        train_word_vectors(["one", "word"], context=2)
    with pytest.raises(InputError, match="Lower it"):
        train_word_vectors(["a", "b", "c", "a", "d"], context=1, steps=500, learning_rate=1e6)
    with cancellable(lambda: True), pytest.raises(Cancelled):
        train_word_vectors(["a", "b", "c"], context=1)


def checkpoint() -> Checkpoint:
    """A small decoder with sinusoidal positions."""
    return Checkpoint(toys.decoder(positional_encoding="sinusoidal"), toys.causal(), "")


def test_neighbours_are_the_largest_cosines() -> None:
    opened = checkpoint()
    (token_id,) = word_ids(opened, "cat")
    table = opened.model.embedding.weight
    cosines = functional.cosine_similarity(table, table[token_id][None]).tolist()
    found = nearest_tokens(opened, token_id, 5)
    others = sorted((value for index, value in enumerate(cosines) if index != token_id), reverse=True)
    assert [each.cosine for each in found] == pytest.approx(others[:5], abs=1e-6)
    assert token_id not in [each.id for each in found]
    with pytest.raises(InputError, match="none of these words"):
        word_ids(opened, "  ")


def test_the_first_layer_reads_the_sum() -> None:
    found = embedding_sum(checkpoint(), "the cat and the cat")
    np.testing.assert_allclose(found.embeddings + found.position_embeddings, found.first_input, atol=1e-6)
    first, second = (place for place, text in enumerate(found.text.token_texts) if text == " cat")
    assert (found.embeddings[first] == found.embeddings[second]).all()
    assert not np.allclose(found.first_input[first], found.first_input[second])
    assert not embedding_sum(checkpoint(), "the cat", "rope").position_embeddings.any()


def test_a_word_has_one_vector_before_any_layer_and_then_its_own() -> None:
    bag = Checkpoint(toys.decoder(positional_encoding="none"), toys.causal(), "")
    found = word_in_context(bag, "CAT", ("the cat sat", "a small cat ran away"))
    assert found.words == ("cat", "cat")
    assert found.cosines[0] == pytest.approx(1, abs=1e-6) and found.cosines[-1] < 0.999
    assert len(found.cosines) == bag.model.config.layers + 1
    same = word_in_context(bag, "cat", ("the cat sat", "the cat sat"))
    assert same.cosines == pytest.approx(1, abs=1e-6)
    with pytest.raises(InputError, match="does not contain the word 'dog'"):
        word_in_context(bag, "dog", ("the dog sat", "the cat sat"))


def test_a_sentence_is_the_mean_of_its_tokens() -> None:
    opened = Checkpoint(toys.encoder(), toys.masked(), "")
    texts = ["the cat", "the dog ran"] * BATCH_SIZE  # different lengths, more than one batch
    vectors = text_vectors(opened, texts)
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        ids = torch.tensor([toys.masked().encode(text).ids])
        with torch.inference_mode():
            expected = opened.model.encode_hidden(ids)[0, 1:-1].mean(0)  # without [CLS] and [SEP]
        np.testing.assert_allclose(vector, expected, atol=1e-5)
