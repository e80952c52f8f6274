"""The shipped models of text tasks do what their cards claim, on hand-written sentences and on held-out rows."""

import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import sqrt
from random import Random

import numpy as np
import pytest

from headlight.checkpoints import Checkpoint, load
from headlight.data.bag_of_words import NaiveBayes
from headlight.data.examples import Example
from headlight.data.text_tasks import TEXT_TASKS, TRANSLATE
from headlight.evaluation.example_accuracy import link_agreement
from headlight.evaluation.held_out import aligned_examples, hand_written_examples
from headlight.evaluation.text_tasks import (
    SHORT_WORDS,
    Accuracy,
    MostFrequentLabels,
    Sample,
    accuracy,
    corpus_bleu,
    entity_score,
    group_references,
    label_answer,
    translate,
)
from headlight.paths import assets_dir

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

MODELS = assets_dir() / "models"
SENTENCES, ROWS, LABELED_ROWS, RESAMPLES, SEED = 100, 100, 300, 50, 20_261_122
CLASSIFIERS = {"sentiment": r"right \(([\d.]+)%", "entities": r"F1 ([\d.]+)%"}  # how a card states a score

BASELINES = {
    "sentiment": ("a bigram Naive Bayes", NaiveBayes),
    "entities": ("each word's most frequent label", MostFrequentLabels),
}


@lru_cache
def opened(name: str) -> Checkpoint:
    return load(MODELS / name)


def claimed(name: str, pattern: str) -> float:
    """The number in a card at the only group of the pattern."""
    found = re.search(pattern, opened(name).card)
    assert found, f"the card of {name} does not say {pattern}"
    return float(found[1])


def translated(examples: Sequence[Example], count: int, beams: int) -> list[Sample]:
    """`count` of the sentences, each with its translation."""
    references = group_references(examples)
    sources = Random(SEED).sample(sorted(references), min(count, len(references)))
    return [Sample(text, translate(opened("translate"), text, beams=beams), references[text]) for text in sources]


def bleu_with_error(samples: Sequence[Sample]) -> tuple[float, float]:
    """BLEU and its standard error by bootstrap resampling of the sentences (Koehn 2004)."""
    draw = Random(SEED)
    scores = [corpus_bleu(draw.choices(samples, k=len(samples))).score for _ in range(RESAMPLES)]
    return corpus_bleu(samples).score, float(np.std(scores))


@pytest.mark.full
def test_sentences_written_by_hand_are_translated_as_well_as_the_card_says() -> None:
    samples = translated(hand_written_examples("translate"), SENTENCES, beams=1)
    score, error = bleu_with_error(samples)
    stated = claimed("translate", r"hand-written sentences(?:.|\n)*?- greedy decoding: ([\d.]+) BLEU")
    assert abs(score - stated) <= 3 * error
    short = [sample for sample in samples if len(sample.text.split()) <= SHORT_WORDS]
    assert corpus_bleu(short).score >= 30


@pytest.mark.skipif("HEADLIGHT_DATA" not in os.environ, reason="needs the held-out texts")
def test_held_out_sentences_are_translated_as_well_as_the_card_says() -> None:
    score, error = bleu_with_error(translated(TRANSLATE.open().held_out, ROWS, beams=4))
    stated = claimed("translate", r"held-out examples(?:.|\n)*?- beam search with 4 beams: ([\d.]+) BLEU")
    assert abs(score - stated) <= 3 * error


def test_cross_attention_aligns_the_words_of_two_languages() -> None:
    examples = aligned_examples()
    assert len(examples) >= 50
    best, links = link_agreement(opened("translate"), examples).max(), sum(len(example.links) for example in examples)
    stated = claimed("translate", r"translates in ([\d.]+)% of the cases") / 100
    assert best >= 0.6
    assert abs(best - stated) <= 3 * sqrt(stated * (1 - stated) / links)


def label_score(name: str, examples: Sequence[Example], answers: Sequence[str], *, kinds: Sequence[str]) -> float:
    """The accuracy of text labels, or the F1 of names of some kinds."""
    scored = accuracy(examples, answers) if name == "sentiment" else entity_score(examples, answers, kinds)
    return scored.value if isinstance(scored, Accuracy) else scored.f1


def assert_labels_are_as_claimed(
    name: str, kind: str, examples: Sequence[Example], answer: Callable[[str], str], who: str = "the model"
) -> None:
    """The score, also of each kind of names, is within three standard errors (by resampling) of the card's."""
    draw, pairs = Random(SEED), [(example, answer(example.text)) for example in examples]
    kinds = [label for label in TEXT_TASKS[name].labels if label != "O"]
    parts = {who: kinds}
    if name == "entities" and who == "the model":
        parts |= {f"{who}, {label}": [label] for label in kinds}
    for part, counted in parts.items():
        scores = [
            label_score(name, *zip(*draw.choices(pairs, k=len(pairs)), strict=True), kinds=counted)
            for _ in range(RESAMPLES)
        ]
        stated = claimed(name, rf"{kind} of the task {name}:(?:.|\n)*?- {part}: .*?{CLASSIFIERS[name]}") / 100
        measured = label_score(name, *zip(*pairs, strict=True), kinds=counted)
        assert abs(measured - stated) <= 3 * float(np.std(scores)), part


def model_answer(name: str) -> Callable[[str], str]:
    return lambda text: label_answer(opened(name), text)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_sentences_written_by_hand_are_labelled_as_well_as_the_card_says(name: str) -> None:
    examples = hand_written_examples(name)
    assert len(examples) >= SENTENCES
    assert_labels_are_as_claimed(name, "hand-written sentences", examples, model_answer(name))


@pytest.mark.skipif("HEADLIGHT_DATA" not in os.environ, reason="needs the held-out texts")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_held_out_sentences_are_labelled_as_well_as_the_card_says(name: str) -> None:
    data = TEXT_TASKS[name].open()
    examples, (who, baseline) = data.held_out_examples(SEED, LABELED_ROWS), BASELINES[name]
    assert_labels_are_as_claimed(name, "held-out examples", examples, model_answer(name))
    assert_labels_are_as_claimed(name, "held-out examples", examples, baseline(data.training).answer, who)


def test_reviews_are_labelled_no_worse_than_by_counting_words() -> None:
    model, counting = (
        claimed("sentiment", rf"held-out examples of(?:.|\n)*?- {who}: .*?{CLASSIFIERS['sentiment']}")
        for who in ("the model", "a bigram Naive Bayes")
    )
    assert model >= counting


def test_names_are_found_better_than_by_the_most_frequent_label_of_each_word() -> None:
    model, counting = (
        claimed("entities", rf"held-out examples of(?:.|\n)*?- {who}: .*?{CLASSIFIERS['entities']}")
        for who in ("the model", "each word's most frequent label")
    )
    assert model > counting + 5
