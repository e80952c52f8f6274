"""Taggers from before the Transformer, against sums over all labellings."""

from itertools import pairwise, product

import pytest
import torch

from headlight.course.architectures.earlier_tools import (
    CHANGE,
    DICE,
    HELD_OUT,
    LENGTH,
    SYMBOLS,
    TAGGERS,
    TRAINING,
    likeliest_labels,
    sequences,
)


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
    share = float((TAGGERS[tagger](ids, labels, new) == right).float().mean())
    assert new.shape == (HELD_OUT, LENGTH) and least <= share <= most
