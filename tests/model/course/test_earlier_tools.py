"""Taggers from before the Transformer, compared with sums over all labellings."""

from itertools import pairwise, product
from time import process_time

import pytest
import torch

from headlight.course.architectures.earlier_tools import (
    CHANGE,
    DICE,
    EARLIER_TOOLS,
    EXAMPLES,
    HELD_OUT,
    LENGTH,
    SYMBOLS,
    TAGGERS,
    TRAINING,
    likeliest_labels,
    parse_examples,
    sequences,
)
from headlight.errors import InputError
from headlight.views.kinds import MatrixView, TableView
from tests.model.course.shown import compute, tensor, views


def test_the_likeliest_labels_are_those_with_the_largest_sum() -> None:
    generator = torch.Generator().manual_seed(1)
    tokens, pairs, begin = (torch.randn(*shape, generator=generator) for shape in ((5, 6, 2), (2, 2), (2,)))
    for row, labels in zip(tokens, likeliest_labels(tokens, pairs, begin), strict=True):

        def total(path: tuple[int, ...], row: torch.Tensor = row) -> float:
            following = sum(float(pairs[one, other]) for one, other in pairwise(path))
            return float(begin[path[0]]) + following + sum(float(row[at, each]) for at, each in enumerate(path))

        assert tuple(labels.tolist()) == max(product((0, 1), repeat=6), key=total)


def test_labels_are_those_that_the_tasks_ask_for() -> None:
    for task in ("first", "neighbour"):
        for row, labels in zip(*sequences(task, 20, 3), strict=True):
            text = "".join(SYMBOLS[each] for each in row)
            for at, label in enumerate(labels.tolist()):
                assert label == {"first": text[at] == text[0], "neighbour": at > 0 and text[at - 1] == "a"}[task]
    ids, labels = sequences("dice", 2_000, 3)
    shown = torch.bincount(ids[labels == 1], minlength=len(SYMBOLS)) / (labels == 1).sum()
    torch.testing.assert_close(shown, DICE[1], atol=0.02, rtol=0)
    assert float((labels[:, 1:] != labels[:, :-1]).float().mean()) == pytest.approx(CHANGE, abs=0.02)


@pytest.mark.parametrize(
    ("tagger", "task", "least", "most"),
    [
        ("linear SVM", "neighbour", 0.97, 1.0),
        ("linear SVM", "dice", 0.6, 0.78),
        ("hidden Markov model", "dice", 0.78, 0.95),
        ("CRF", "dice", 0.78, 0.95),
        ("CRF", "first", 0.0, 0.9),
        ("attention", "first", 0.95, 1.0),
    ],
)
def test_each_tool_does_what_it_can_see(tagger: str, task: str, least: float, most: float) -> None:
    torch.manual_seed(1)
    (ids, labels), (new, right) = sequences(task, TRAINING, 1), sequences(task, HELD_OUT, 2)
    share = float((TAGGERS[tagger](ids, labels, new, 240) == right).float().mean())
    assert new.shape == (HELD_OUT, LENGTH) and least <= share <= most


def test_chains_learn_the_learners_own_labels_within_seconds() -> None:
    begun = process_time()
    answer = compute(EARLIER_TOOLS, task="own")
    assert process_time() - begun < 5
    (table,), (chain, crf) = views(answer, TableView), views(answer, MatrixView)
    assert [row[1:] for row in table.rows] == [("D", "N", "M", "V", "D", "N")] * 2, "can and saw have two labels each"
    hmm = tensor(chain.values)
    torch.testing.assert_close(hmm.sum(1), torch.ones(4))
    after = chain.rows.index("D")
    assert hmm[after].argmax() == tensor(crf.values)[after].argmax() == chain.rows.index("N")
    counted = 1 + sum(line.count("/D") for line in EXAMPLES.splitlines())  # every D has an N after it
    assert float(hmm[after].max()) == pytest.approx(counted / (counted - 1 + 4))


def test_examples_that_are_no_labelled_words_get_a_sentence() -> None:
    for text, said in (("the cat", "“the” has no label"), ("a/X b/X", "2 to 8 different labels; .* have 1")):
        with pytest.raises(InputError, match=said):
            parse_examples(text)
