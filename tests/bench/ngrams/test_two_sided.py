"""The two-sided 5-gram, on texts small enough to calculate by hand."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.data.corpus import TokenizedText
from headlight.errors import DataError
from headlight.evaluation.language_modeling import MaskedBatch
from tests.bench.ngrams.two_sided import TwoSidedNgram, count_two_sided

START, END, MASK = 5, 6, 7  # of nine kinds of token, 0 to 4 and 8 are words
lines = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=5)


def text(*rows: list[int], weight: float = 1.0) -> TokenizedText:
    """A text in which each row is a document of one line."""
    sizes = np.array([len(row) for row in rows])
    starts = np.cumsum(sizes) - sizes
    ids = np.concatenate([np.array(row, dtype=np.int64) for row in rows])
    return TokenizedText("toy", weight, ids, starts, starts, 0)


def masked_batch(row: list[int], *masked: int) -> MaskedBatch:
    ids = np.array([[START, *row, END, -1]])
    targets = np.full(ids.shape, -1)
    for place in masked:
        targets[0, place + 1], ids[0, place + 1] = ids[0, place + 1], MASK
    return MaskedBatch(ids, targets)


def test_a_toy_text_matches_a_hand_calculation() -> None:
    """Every row is a b c but for one a d c; the edges are seen too.

    Whole context: b 3 times, d once; without anything seen exactly twice D = 1/2. So b keeps 2.5 of 4, d 0.5 of 4,
    and 1/4 goes to the shorter contexts, which say the same at each step down to one side; below it is the unigram.
    """
    model = count_two_sided([text([0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 3, 2])], 9)
    probability = model.token_scores(masked_batch([0, 1, 2], 1))[0]
    unigram = model.unigram.probabilities
    shares = np.zeros(9)
    shares[1], shares[3] = 2.5 / 4, 0.5 / 4
    expected = unigram
    for _ in range(5):  # one side near, one side whole, both near, three tokens, four tokens
        expected = shares + expected / 4
    assert probability == pytest.approx(expected, abs=1e-6)


@given(lines, lines)
def test_probabilities_sum_to_one(rows: list[list[int]], others: list[list[int]]) -> None:
    model = count_two_sided([text(*rows), text(*others, weight=2.0)], 9)
    for row in others:
        scores = model.token_scores(masked_batch(row, *range(0, len(row), 2)))
        assert scores.sum(-1) == pytest.approx(np.ones(len(scores)), abs=1e-5)
    assert model.unigram.probabilities.sum() == pytest.approx(1.0, abs=1e-5)


def test_both_sides_together_know_more_than_either() -> None:
    model = count_two_sided([text([0, 1, 0], [2, 3, 2], [0, 4, 2], [2, 4, 0])], 9)
    assert model.token_scores(masked_batch([0, 8, 0], 1)).argmax() == 1
    assert model.token_scores(masked_batch([2, 8, 2], 1)).argmax() == 3
    assert model.token_scores(masked_batch([0, 8, 2], 1)).argmax() == 4


def test_a_masked_neighbour_is_no_context() -> None:
    model = count_two_sided([text([0, 1, 2], [3, 4, 2])], 9)
    scores = model.token_scores(masked_batch([0, 1, 2], 0, 1))
    assert scores[1][1] == pytest.approx(scores[1][4])  # b and d are equally frequent before c, and a is masked


def test_a_text_with_more_epochs_weighs_more() -> None:
    model = count_two_sided([text([0, 1, 2]), text([0, 3, 2], weight=3.0)], 9)
    assert model.token_scores(masked_batch([0, 8, 2], 1)).argmax() == 3
    assert model.unigram.probabilities[3] > model.unigram.probabilities[1]


def test_saved_tables_load_equal(tmp_path: Path) -> None:
    model = count_two_sided([text([0, 1, 2], [3, 4, 2, 0])], 9)
    model.save(tmp_path)
    batch = masked_batch([0, 1, 2, 0], 1, 3)
    assert np.array_equal(TwoSidedNgram.load(tmp_path, 9).token_scores(batch), model.token_scores(batch))


def test_too_large_vocabularies_are_refused() -> None:
    with pytest.raises(DataError, match="too many"):
        count_two_sided([text([0, 1])], 100_000)
