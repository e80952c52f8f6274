"""What pretraining buys: labelled lines, the classifier on frozen vectors, and the shipped model's card."""

import pytest
import torch

from headlight import find_checkpoint, load
from headlight.checkpoints import Checkpoint
from headlight.course.language_modeling.pretraining import (
    DRAWS,
    LINES,
    PRETRAINED,
    RANDOM,
    LabelCurve,
    accuracy_by_count,
    classify,
    embed,
    fit,
    parse_lines,
    pretraining,
    reviews,
    untrained,
    variant_scores,
)
from headlight.data.examples import Example
from headlight.errors import InputError
from headlight.paths import assets_dir
from headlight.views.kinds import TableView
from headlight.views.rows import as_rows
from tests.model import toys


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    """A small untrained encoder."""
    return Checkpoint(toys.encoder(context_length=96), toys.masked(), "")


def test_a_line_is_a_sign_and_a_text() -> None:
    assert parse_lines("+good\n\n -  so bad \n+ fine\n- poor")[:2] == [
        Example("good", "positive"),
        Example("so bad", "negative"),
    ]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("+ good\ngood", "'good' does not"),
        ("+ good\n-", "'-' does not"),
        ("+ a\n+ b\n+ c\n+ d", "some with"),
        ("+ a\n- b\n+ c", "3 labelled lines"),
        ("\n".join(["+ a", "- b"] * 40), "80 labelled lines"),
    ],
)
def test_other_lines_get_a_sentence(lines: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_lines(lines)


def test_the_classifier_finds_the_direction_that_tells_labels_apart() -> None:
    generator = torch.Generator().manual_seed(1)
    vectors = torch.randn(40, 8, generator=generator)
    targets = vectors[:, 3].sign()
    classifier = fit(vectors, targets)
    assert int(classifier.weights.abs().argmax()) == 3
    unseen = torch.randn(200, 8, generator=generator)
    assert float((classifier.scores(unseen).sign() == unseen[:, 3].sign()).float().mean()) > 0.85


def test_random_weights_are_the_seed_s_and_leave_the_model_as_it_is(checkpoint: Checkpoint) -> None:
    before = checkpoint.model.embedding.weight.clone()
    first, again, other = (untrained(checkpoint, seed).model.embedding.weight for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert torch.equal(checkpoint.model.embedding.weight, before)


def test_each_start_answers_the_learner_s_sentence_and_the_reviews(checkpoint: Checkpoint) -> None:
    table = as_rows(pretraining(checkpoint, LINES, "a lovely film", 1))[0].views[0]
    assert isinstance(table, TableView) and len(table.rows) == 3
    examples = parse_lines(LINES)
    answers = classify(embed(checkpoint, examples, [*reviews(), "a lovely film"], 1)[PRETRAINED], examples)
    right = sum(map(str.__eq__, answers, reviews().values()))
    assert table.rows[0][1] == answers[-1] and f"{right} of {len(reviews())} right" in str(table.rows[0][2])


def curve_of(checkpoint: Checkpoint, examples: list[Example], seed: int) -> LabelCurve:
    return accuracy_by_count(embed(checkpoint, examples, [*reviews()], seed), examples, seed)


def test_each_draw_of_lines_is_the_same_for_both_starts_and_half_of_each_label(checkpoint: Checkpoint) -> None:
    examples = parse_lines(LINES)
    curve = curve_of(checkpoint, examples, 3)
    assert curve.counts == [2, 4, 8, 16] and {each.shape for each in curve.right.values()} == {(4, DRAWS)}
    same = curve_of(checkpoint, examples, 3)
    assert all(torch.equal(curve.right[name], same.right[name]) for name in (PRETRAINED, RANDOM))
    assert curve_of(checkpoint, parse_lines("+ good\n- bad\n- worse\n- worst"), 3).counts == [2]


@pytest.mark.full
def test_pretraining_helps_with_the_lines_that_a_learner_begins_with() -> None:
    curve = curve_of(load(find_checkpoint("stories-masked")), parse_lines(LINES), 1)
    gains = curve.right[PRETRAINED] - curve.right[RANDOM]
    assert float(gains[-1].mean()) > 0.02, "mean over 12 draws of 16 lines"


def test_the_shipped_table_is_read_from_the_card() -> None:
    card = (assets_dir() / "models" / "sentiment" / "README.md").read_text()
    scores = {line[0]: line[1] for line in variant_scores(card)}
    assert len(scores) >= 4 and all("right (" in score for score in scores.values())
    assert any("random weights" in what for what in scores)
